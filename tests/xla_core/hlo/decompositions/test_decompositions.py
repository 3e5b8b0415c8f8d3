"""Each decomposition replaces its op, and the reference evaluator's result stays the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from xla_core.elementary import FUNCTIONS
from xla_core.hlo.decompositions.dot_variants import decompose_ragged_dot
from xla_core.hlo.decompositions.elementary import decompose_elementary
from xla_core.hlo.decompositions.elementwise import decompose_mulhi, decompose_stochastic_convert
from xla_core.hlo.decompositions.loops import counted_loop
from xla_core.hlo.decompositions.scan import decompose_scan
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.table.op_table import OPS
from xla_core.hlo.verifier import verify

Decompose = Callable[[HloInstruction, Builder], HloInstruction | None]


def decomposed(text: str, decompose: Decompose) -> HloModule:
    """The program with its root decomposed."""
    module = parse_hlo(text)
    root = module.entry.root
    builder = Builder(module.entry)
    builder.metadata = root.metadata
    new = decompose(root, builder)
    assert new is not None
    module.entry.set_root(new)
    module.entry.remove(root)
    verify(module)
    assert not any(i.opcode == root.opcode for c in module.computations for i in c.instructions)
    assert all(i.metadata == root.metadata for i in builder.added)
    return module


def agree(text: str, decompose: Decompose, *arrays: np.ndarray) -> None:
    found = evaluate(decomposed(text, decompose), *arrays)
    for a, b in zip(found, evaluate(parse_hlo(text), *arrays), strict=True):
        np.testing.assert_array_equal(a, b)


def entry(*lines: str, helper: str = "") -> str:
    return "\n".join(["HloModule m", helper, "ENTRY e {", *lines, "}\n"])


@pytest.mark.parametrize("kind", ["s8", "u8"])
def test_the_high_half_of_every_product_of_bytes(kind: str) -> None:
    x, y = (v.reshape(-1).astype(np.dtype("i1" if kind == "s8" else "u1")) for v in np.mgrid[:256, :256])
    n = f"{kind}[65536]"
    agree(entry(f"x = {n} parameter(0)", f"y = {n} parameter(1)", f"ROOT z = {n} mulhi(x, y)"), decompose_mulhi, x, y)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("sign", ["s", "u"])
def test_the_high_half_of_a_wide_product(sign: str, bits: int) -> None:
    words = np.random.default_rng(0).integers(0, 2**bits, (2, 1000), np.dtype(f"u{bits // 8}"))
    words[0, :4], words[1, :4] = 2 ** (bits - 1), [5, 2 ** (bits - 1), 2**bits - 1, 0]
    x, y = words.view(np.dtype(f"{'i' if sign == 's' else 'u'}{bits // 8}"))
    n = f"{sign}{bits}[1000]"
    agree(entry(f"x = {n} parameter(0)", f"y = {n} parameter(1)", f"ROOT z = {n} mulhi(x, y)"), decompose_mulhi, x, y)


@pytest.mark.parametrize(
    ("kind", "random", "result"), [("f32", "u32", "s8"), ("f64", "u64", "s32"), ("f16", "u16", "s8")]
)
def test_stochastic_conversion(kind: str, random: str, result: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-100, 100, 1000).astype(np.dtype(f"f{int(kind[1:]) // 8}"))
    x[:3] = [0, 1, -1]
    words = rng.integers(0, 2 ** int(random[1:]), 1000, np.dtype(f"u{int(random[1:]) // 8}"))
    text = entry(
        f"x = {kind}[1000] parameter(0)",
        f"r = {random}[1000] parameter(1)",
        f"ROOT z = {result}[1000] stochastic-convert(x, r)",
    )
    agree(text, decompose_stochastic_convert, x, words)


@pytest.mark.parametrize("reverse", ["false", "true"])
@pytest.mark.parametrize("length", [0, 1, 5])
def test_scan(length: int, reverse: str) -> None:
    helper = """step { x = s32[3] parameter(0)
      c = s32[3] parameter(1)
      d = s32[3] add(x, c)
      ROOT t = (s32[3], s32[3]) tuple(d, d) }"""
    text = entry(
        f"x = s32[{length},3] parameter(0)",
        "c = s32[3] parameter(1)",
        f"ROOT r = (s32[{length},3], s32[3]) scan(x, c), dimensions={{0}}, is_reverse={reverse}, num_carries=1, to_apply=step",
        helper=helper,
    )
    agree(text, decompose_scan, np.arange(3 * length, dtype=np.int32).reshape(length, 3), np.arange(3, dtype=np.int32))


@pytest.mark.parametrize("reverse", ["false", "true"])
def test_scans_that_combine_elements_are_reduce_windows(reverse: str) -> None:
    helper = """step { x = s32[] parameter(0)
      y = s32[] parameter(1)
      c = s32[] parameter(2)
      e = s32[] parameter(3)
      d = s32[] add(c, y)
      f = s32[] multiply(x, e)
      ROOT t = (s32[], s32[], s32[], s32[]) tuple(f, d, d, f) }"""
    text = entry(
        "x = s32[7] parameter(0)",
        "y = s32[7] parameter(1)",
        "c = s32[] constant(3)",
        "e = s32[] constant(-2)",
        "ROOT r = (s32[7], s32[7], s32[], s32[]) scan(x, y, c, e), "
        f"dimensions={{0}}, is_reverse={reverse}, num_carries=2, to_apply=step",
        helper=helper,
    )
    opcodes = [i.opcode for i in decomposed(text, decompose_scan).entry.instructions]
    assert (opcodes.count("reduce-window"), opcodes.count("while")) == (2, 0)
    agree(text, decompose_scan, np.arange(7, dtype=np.int32) + 1, np.arange(7, dtype=np.int32) * 3)


@pytest.mark.parametrize("step", ["subtract(c, x)", "add(c, c)", "add(x, c)"])
def test_other_scans_are_loops(step: str) -> None:
    """A sum of floats depends on the order, unless the program says that it doesn't matter."""
    helper = f"""step {{ x = f32[] parameter(0)
      c = f32[] parameter(1)
      d = f32[] {step}
      ROOT t = (f32[], f32[]) tuple(d, d) }}"""
    line = "ROOT r = (f32[7], f32[]) scan(x, c), dimensions={0}, num_carries=1, to_apply=step"
    text = entry("x = f32[7] parameter(0)", "c = f32[] constant(3)", line, helper=helper)
    assert any(i.opcode == "while" for i in decomposed(text, decompose_scan).entry.instructions)
    agree(text, decompose_scan, np.arange(7, dtype=np.float32))
    text = text.replace("num_carries=1", "is_associative=true, num_carries=1")
    is_sum = step.startswith("add(x")
    assert is_sum != any(i.opcode == "while" for i in decomposed(text, decompose_scan).entry.instructions)


def test_ragged_dot() -> None:
    text = entry(
        "x = s32[5,4] parameter(0)",
        "y = s32[3,4,2] parameter(1)",
        "n = s32[3] parameter(2)",
        "ROOT r = s32[5,2] ragged-dot(x, y, n), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
    )
    x, y = np.arange(20, dtype=np.int32).reshape(5, 4), np.arange(24, dtype=np.int32).reshape(3, 4, 2) - 7
    agree(text, decompose_ragged_dot, x, y, np.array([2, 0, 3], np.int32))


@pytest.mark.parametrize("opcode", [name for name in FUNCTIONS if OPS[name].arity == 1])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_elementary_functions(opcode: str, kind: str) -> None:
    """Where they are smooth; how exact they are is measured elsewhere."""
    first = 1.25 if opcode == "acosh" else 0.25
    x = np.linspace(first, first + 0.5, 101, dtype=np.dtype(f"f{int(kind[1:]) // 8}"))
    text = entry(f"x = {kind}[101] parameter(0)", f"ROOT y = {kind}[101] {opcode}(x)")
    (found,) = evaluate(decomposed(text, decompose_elementary), x)
    (right,) = evaluate(parse_hlo(text), x)
    np.testing.assert_allclose(found, right, rtol=8 * np.finfo(x.dtype).eps)


def test_integers_have_no_formula() -> None:
    module = parse_hlo(entry("x = s32[2] parameter(0)", "ROOT y = s32[2] negate(x)"))
    builder = Builder(module.entry)
    assert decompose_elementary(module.entry.root, builder) is None
    assert builder.added == []


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_counted_loop_changes_some_values_and_keeps_others(count: int) -> None:
    def powers(root: HloInstruction, b: Builder) -> HloInstruction:
        def body(
            b: Builder, turn: HloInstruction, values: list[HloInstruction], fixed: list[HloInstruction]
        ) -> list[HloInstruction]:
            total, turns = values
            return [b.add("multiply", total, fixed[0]), b.add("add", turns, turn)]

        x = root.operand(0)
        total, turns = counted_loop(root, b, count, [b.constant(1, x.shape), b.constant(0, x.shape)], [x], body)
        return b.add("add", total, turns)

    module = decomposed(entry("x = s32[] parameter(0)", "ROOT y = s32[] negate(x)"), powers)
    (found,) = evaluate(module, np.int32(3))
    assert found == 3**count + sum(range(count))


def test_what_was_added_is_undone_but_for_what_is_used() -> None:
    module = parse_hlo(entry("x = s32[2] parameter(0)", "ROOT y = s32[2] negate(x)"))
    builder, x = Builder(module.entry), module.entry.parameters[0]
    before = len(module.entry.instructions)
    kept = builder.add("add", x, x)
    first = len(builder.added)
    builder.add("multiply", builder.add("abs", kept), x)
    builder.undo(first)
    assert [i.opcode for i in builder.added] == ["add"]
    builder.undo()
    assert len(module.entry.instructions) == before
