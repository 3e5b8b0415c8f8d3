"""The emitter emits every op that it declares."""

from __future__ import annotations

import pytest

from tests.xla_core.codegen.llvm.kernels import array, emit, host_abi
from xla_core.codegen.llvm import KernelEmitter, emitter_capabilities
from xla_core.codegen.llvm.scalars.elemental import ELEMENTAL
from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo import OPS, ElementType, HloComputation, HloInstruction, parse_hlo

CAPABILITIES = emitter_capabilities()
ATTRIBUTES = {
    "compare": {"direction": "LT"},
    "reduce-precision": {"exponent_bits": 4, "mantissa_bits": 3},
}


def instruction(opcode: str, element_type: ElementType) -> HloInstruction | None:
    """The op on parameters of a type; None where HLO has no such op."""
    computation, arity = HloComputation("c"), OPS[opcode].arity
    assert isinstance(arity, int)
    shape = array(element_type, 3)
    operands = [computation.parameter(n, shape) for n in range(arity)]
    if OPS[opcode].predicate_operand is not None:
        operands[OPS[opcode].predicate_operand] = computation.parameter(arity, array(ElementType.PRED, 3))
    attributes = dict(ATTRIBUTES.get(opcode, {}))
    if opcode == "convert":
        attributes["shape"] = array(ElementType.F32, 3)
    try:
        return computation.add(opcode, *operands, **attributes)
    except InvalidArgumentError:
        return None


@pytest.mark.parametrize("opcode", sorted(set(ELEMENTAL) - {"map", "stochastic-convert"}))
def test_every_element_type_of_an_elementwise_op(opcode):
    emitted = 0
    for element_type in CAPABILITIES.ops[opcode]:
        made = instruction(opcode, element_type)
        if made is not None:
            assert CAPABILITIES.check(made)
            emit(made)
            emitted += 1
    assert emitted


def test_no_other_element_type():
    floor = instruction("floor", ElementType.F32)
    assert floor is not None
    assert ElementType.S32 not in CAPABILITIES.ops["floor"]
    assert ElementType.C64 not in CAPABILITIES.ops["floor"]


def test_what_a_table_cannot_say():
    computation = HloComputation("c")
    x = computation.parameter(0, array(ElementType.C64, 2, 4, 4))
    two = computation.add("fft", x, fft_type="FFT", fft_length=(4, 4))
    answer = CAPABILITIES.check(two)
    assert not answer
    assert "several dimensions" in str(answer)
    assert CAPABILITIES.check(computation.add("fft", x, fft_type="FFT", fft_length=(4,)))


def test_what_others_must_run():
    for opcode in ("custom-call", "all-reduce", "infeed", "cholesky", "rng"):
        assert opcode not in CAPABILITIES.ops


def test_what_runs_between_kernels_is_refused():
    text = """HloModule m

other { x = f32[4] parameter(0)  ROOT y = f32[4] negate(x) }
ENTRY e {
  x = f32[4] parameter(0)
  s = ((f32[4]), f32[4], u32[]) async-start(x), calls=other
  ROOT d = f32[4] async-done(s)
}
"""
    for made in parse_hlo(text).entry.instructions[1:]:
        with pytest.raises(UnimplementedError, match=f"makes no kernel of {made.opcode}"):
            KernelEmitter(host_abi()).emit(made)


_SORTED = "sorted = s32[4] sort(x), dimensions={0}, to_apply=less"


@pytest.mark.parametrize(
    ("inside", "shape", "root", "reason"),
    [
        ("y = s32[4] negate(x)", "s32[4]", "add(x, y)", None),
        ("y = s32[4] negate(x)", "s32[4]", "sort(x), dimensions={0}, to_apply=less", None),
        (_SORTED, "s32[4]", "reverse(sorted), dimensions={0}", "sorted is not its result"),
        (f"{_SORTED}\n y = s32[4] negate(x)", "(s32[4], s32[4])", "tuple(sorted, y)", "sorted is not its result"),
        (
            "y = s32[2] slice(x), slice={[0:2]}\n pair = (s32[4], s32[2]) tuple(x, y)",
            "((s32[4], s32[2]), s32[4])",
            "tuple(pair, x)",
            "the results of pair have different dimensions",
        ),
    ],
)
def test_fusions_that_one_kernel_computes(inside, shape, root, reason):
    module = parse_hlo(f"""HloModule m
less {{
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}}
inside {{
  x = s32[4] parameter(0)
  {inside}
  ROOT r = {shape} {root}
}}
ENTRY e {{
  x = s32[4] parameter(0)
  ROOT f = {shape} fusion(x), kind=kLoop, calls=inside
}}""")
    answer = CAPABILITIES.check(module.entry.root)
    assert bool(answer) is (reason is None)
    assert reason is None or reason in answer.reason
