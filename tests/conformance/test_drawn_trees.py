"""Trees of ops are drawn: valid, exact, of lone values, with what passes look for."""

from __future__ import annotations

from xla_conformance.programs.drawn import drawn_trees

from xla_core.hlo import ElementType, HloInstruction, Opcode, verify

_TREES = drawn_trees(0, 0, 4100)
_O = Opcode


def test_programs_are_valid_and_exact() -> None:
    for tree in _TREES[:300]:
        verify(tree.module())
        expected = tree.expected(tree.arguments(0))
        assert all(e.wide is None and e.any_sign is None for e in expected)


def test_only_arguments_have_several_users() -> None:
    for tree in _TREES[:300]:
        assert all(i.user_count <= 1 or i.opcode is _O.PARAMETER for i in tree.module().entry.instructions)


def _are(values: list[HloInstruction], opcode: Opcode) -> bool:
    return all(value.opcode is opcode for value in values)


def _number(value: HloInstruction) -> object:
    constant = value.operand(0) if value.opcode is _O.BROADCAST else value
    return constant.literal.array.item() if constant.opcode is _O.CONSTANT and not constant.shape.rank else None


def test_trees_have_what_passes_look_for() -> None:
    instructions = [i for tree in _TREES for i in tree.module().entry.instructions]
    pairs = {(i.opcode, o.opcode) for i in instructions for o in i.operands}
    assert len(pairs) > 1000
    converted = [i.operands for i in instructions if i.opcode is _O.COMPARE and _are(i.operands, _O.CONVERT)]
    assert any(x.operand(0).shape != y.operand(0).shape for x, y in converted)
    shifted = [i for i in instructions if i.opcode is _O.SHIFT_RIGHT_LOGICAL and i.operand(0).opcode is _O.SHIFT_LEFT]
    assert any(_number(i.operand(1)) == _number(i.operand(0).operand(1)) is not None for i in shifted)
    cut = [i.operand(0) for i in instructions if i.opcode is _O.SLICE]
    assert any(i.opcode is _O.ADD and i.operand(1).opcode is _O.BROADCAST for i in cut)


def test_trees_depend_on_the_seed_and_their_number_alone() -> None:
    texts = [[tree.text for tree in drawn_trees(seed, 0, 9)] for seed in (3, 3, 4)]
    assert texts[0] == texts[1] != texts[2]
    assert [tree.text for tree in drawn_trees(3, 4, 5)] == texts[0][-len(drawn_trees(3, 4, 5)) :]


def test_values_have_types_that_the_device_holds() -> None:
    held = {ElementType.F32, ElementType.S32, ElementType.PRED}
    kinds = {i.shape.element_type for t in drawn_trees(0, 0, 200, held) for i in t.module().entry.instructions}
    assert kinds == held
