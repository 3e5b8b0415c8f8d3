"""Decompositions of elementwise arithmetic in every type that an op takes: the same bits as before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.xla_core.passes.legalization.devices import PRIMITIVES
from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import OPS
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.hlo.verifier import verify
from xla_core.passes.legalization import legalize, unsupported_instructions
from xla_core.target import Capabilities

T = ElementType
EXACT = (
    "abs", "and", "ceil", "clamp", "compare", "count-leading-zeros", "floor", "imag", "is-finite", "maximum", "minimum",
    "mulhi", "negate", "not", "or", "popcnt", "real", "reduce-precision", "remainder", "round-nearest-afz",
    "round-nearest-even", "shift-right-arithmetic", "sign", "subtract", "xor",
)  # fmt: skip
"""Ops whose decompositions round no differently."""

ATTRIBUTES: dict[str, dict[str, Any]] = {
    "compare": {"direction": "EQ"},
    "reduce-precision": {"exponent_bits": 4, "mantissa_bits": 2},
}
WITHOUT_RULE = {
    *(("compare", t) for t in T if not t.is_complex),  # primitive
    *(("and", t) for t in T if t is not T.PRED),
    *((n, T.F8E8M0FNU) for n in ("negate", "subtract")),  # no number has a negative
    *((n, t) for n in ("real", "imag") for t in (T.C64, T.C128)),  # a device that holds pairs has them
}


def program(opcode: str, kind: T, count: int) -> HloModule | None:
    """The op on arrays of a type; None where it doesn't take that."""
    module = HloModule("m")
    entry = module.add_computation(HloComputation("e"), entry=True)
    arity = OPS[opcode].arity
    operands = [entry.parameter(n, Shape.array(kind, [count])) for n in range(arity if isinstance(arity, int) else 1)]
    try:
        entry.set_root(entry.add(opcode, *operands, **ATTRIBUTES.get(opcode, {})))
        verify(module)
    except InvalidArgumentError:
        return None
    return module


def values(kind: T) -> np.ndarray:
    """All values of a narrow type; of a wide one the ends, what is near zero and one, and some between."""
    dtype, width = kind.dtype, kind.bit_width
    if kind is T.PRED:
        return np.array([False, True])
    if kind.is_complex:
        part = np.array([0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan], kind.component.dtype)
        x, y = (a.ravel() for a in np.meshgrid(part, part))
        return np.stack([x, y], -1).view(dtype).ravel()
    if kind.is_integral:
        low = -(1 << width - 1) if kind.is_signed else 0
        high = low + (1 << width) - 1
        if width <= 8:
            return np.arange(low, high + 1).astype(dtype)
        near = [low, low + 1, high, high - 1, high // 2, low // 2, high // 3, 100, 12345 % high]
        return np.array([*near, *range(max(low, -9), 40), width - 1, width, width + 1], dtype)
    if width <= 8:
        return np.arange(1 << width, dtype=np.uint8).view(dtype)
    special = [0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 0.1, 1e-6, 0.49999997, 7.3, 20.5, 88.0, 3e4, 2.0**23 + 1, 1e30, np.inf]
    least = [np.finfo(np.float64).tiny, 2.0**-1074, 2.0**-149, 2.0**-24]
    with np.errstate(all="ignore"):
        positive = np.array([*special, *least, np.nan]).astype(dtype)
    return np.concatenate([positive, -positive])


def arguments(opcode: str, kind: T) -> list[np.ndarray]:
    arity, x = OPS[opcode].arity, values(kind)
    if arity == 3:
        x = x[:: max(1, len(x) // 24)]
    made = [a.ravel() for a in np.meshgrid(*[x] * (arity if isinstance(arity, int) else 1))]
    if opcode == "remainder" and kind in (T.F4E2M1FN, T.F6E2M3FN, T.F6E3M2FN):  # without the NaN of a division by zero
        made = [a[made[1] != 0] for a in made]
    return made


def same(found: np.ndarray, expected: np.ndarray) -> None:
    """To the sign of zeros; NaNs are alike."""
    assert found.dtype == expected.dtype
    if found.dtype.kind == "c":
        for part in ("real", "imag"):
            same(getattr(found, part), getattr(expected, part))
        return
    different = (found != expected) & ~((found != found) & (expected != expected))
    assert not different.any(), (int(different.argmax()), found[different][:5], expected[different][:5])
    if ElementType.from_numpy(found.dtype).is_floating:
        zero = expected == 0
        np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))


def lacking(opcode: str, kind: T) -> Capabilities:
    """A device without one op; where that is of complex numbers, it has it of their parts."""
    made = Capabilities.all_of(without=[opcode])
    return made.with_ops([opcode], [kind.component, T.PRED]) if kind.is_complex else made


INTEGER = [t for t in T if t.is_integral or t is T.PRED]
ROUNDED = {(n, t) for n in ("abs", "sign") for t in (T.C64, T.C128)}  # compared to within their bounds elsewhere
CASES = [(n, t) for n in EXACT for t in T if t.is_array and (n, t) not in ROUNDED and program(n, t, 4) is not None]


def keeps_meaning(opcode: str, kind: T, capabilities: Capabilities) -> None:
    operands = arguments(opcode, kind)
    module, legal = (program(opcode, kind, len(operands[0])) for _ in range(2))
    assert module is not None
    assert legal is not None
    legalize(legal, capabilities.check)
    verify(legal)
    assert not unsupported_instructions(legal, capabilities.check)
    with np.errstate(all="ignore"):
        (expected,), (found,) = evaluate(module, *operands), evaluate(legal, *operands)
    same(found, expected)


@pytest.mark.parametrize(("opcode", "kind"), [c for c in CASES if c not in WITHOUT_RULE])
def test_a_rule_keeps_every_bit(opcode: str, kind: T) -> None:
    keeps_meaning(opcode, kind, lacking(opcode, kind))


@pytest.mark.parametrize("kind", INTEGER)
def test_powers_of_integers_keep_every_bit(kind: T) -> None:
    keeps_meaning("power", kind, Capabilities.all_of(opcodes=PRIMITIVES))


@pytest.mark.parametrize(
    ("opcode", "kind"),
    [
        (name, t)
        for name, op in OPS.items()
        for t in (*INTEGER, T.F4E2M1FN, T.F8E4M3FN, T.F8E5M2)
        if op.is_elementwise and name not in (*EXACT, *PRIMITIVES, "zeta", "polygamma")
        if op.arity in (1, 2) and program(name, t, 4) is not None
    ],
)
def test_a_rule_leads_on_from_every_elementwise_op(opcode: str, kind: T) -> None:
    module, capabilities = program(opcode, kind, 4), Capabilities.all_of(opcodes=PRIMITIVES)
    assert module is not None
    legalize(module, capabilities.check)
    verify(module)
    assert not unsupported_instructions(module, capabilities.check)


@pytest.mark.parametrize(("opcode", "kind"), sorted(WITHOUT_RULE & set(CASES), key=str))
def test_where_there_is_no_rule_the_op_is_refused(opcode: str, kind: T) -> None:
    module = program(opcode, kind, 4)
    assert module is not None
    with pytest.raises(UnimplementedError, match=opcode):
        legalize(module, lacking(opcode, kind).check)


@pytest.mark.parametrize(("opcode", "kind"), [c for c in CASES if c not in WITHOUT_RULE and not c[1].is_complex])
def test_all_rules_down_to_the_primitive_ops_keep_every_bit(opcode: str, kind: T) -> None:
    keeps_meaning(opcode, kind, Capabilities.all_of(opcodes=PRIMITIVES))
