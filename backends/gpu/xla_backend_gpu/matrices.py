"""Products of matrices by tensor cores: the shapes of mma.sync, by processor, and their code."""

from __future__ import annotations

from collections.abc import Sequence

from xla_backend_gpu.group_products import GROUP_PROCESSOR, group_shapes
from xla_backend_gpu.processors import processor_number
from xla_core.codegen.llvm import IrBuilder, Value
from xla_core.hlo import ElementType
from xla_core.target import Fragment, LanePlace, MatrixShape


def _shape(
    rows: int,
    terms: int,
    operand: ElementType,
    accumulator: ElementType,
    *,
    mantissa_bits: int | None = None,
    rounds_sums: bool = False,
) -> MatrixShape:
    """A shape of PTX's manual. The lanes of a group of four hold the terms of a line."""
    each = max(1, 4 // operand.byte_width)  # elements in a register
    blocks, halves = terms // (4 * each), rows // 8
    line, term = LanePlace(4, 8), LanePlace(1, 4, each)
    return MatrixShape(
        rows,
        8,
        terms,
        operand,
        accumulator,
        Fragment(line, term, tuple((8 * h, 4 * each * n) for n in range(blocks) for h in range(halves)), each),
        Fragment(line, term, tuple((0, 4 * each * n) for n in range(blocks)), each),
        Fragment(line, LanePlace(1, 4, 2), tuple((8 * h, n) for h in range(halves) for n in range(2))),
        mantissa_bits,
        rounds_sums,
    )


_TF32_BITS = 10  # of the mantissa

_F8 = (ElementType.F8E4M3FN, ElementType.F8E5M2)

_SHAPES = (
    *((89, _shape(16, 32, operand, ElementType.F32, rounds_sums=True)) for operand in _F8),
    (75, _shape(16, 8, ElementType.F16, ElementType.F32)),
    (80, _shape(16, 16, ElementType.F16, ElementType.F32)),
    (80, _shape(16, 16, ElementType.BF16, ElementType.F32)),
    (80, _shape(16, 32, ElementType.S8, ElementType.S32)),
    (80, _shape(8, 4, ElementType.F64, ElementType.F64)),
    (80, _shape(16, 8, ElementType.F32, ElementType.F32, mantissa_bits=_TF32_BITS)),
)
"""The least processor that has each shape. Among shapes of equal types, the last one that a processor has is used.

Floats of 8 bits come first, because shapes of f16 could have their values too. Of their sums, processors before sm_100
keep fewer bits than f32 has.
"""

_NAMES = {
    ElementType.F16: ("f16", "f"),
    ElementType.BF16: ("bf16", "f"),
    ElementType.F32: ("f32", "f"),
    ElementType.F64: ("f64", "d"),
    ElementType.F8E4M3FN: ("e4m3", "r"),
    ElementType.F8E5M2: ("e5m2", "r"),
    ElementType.S8: ("s8", "r"),
    ElementType.S32: ("s32", "r"),
}
"""PTX's name of a type, and the constraint of inline assembly for a register of it."""


def matrix_shapes(processor: str) -> tuple[MatrixShape, ...]:
    """Returns the shapes that a processor's tensor cores multiply.

    There is one of registers for each operand and accumulator type. Those of warpgroups come before.
    """
    number = processor_number(processor)
    found = {(shape.operand, shape.accumulator): shape for least, shape in _SHAPES if least <= number}
    groups = group_shapes(found.values()) if processor == GROUP_PROCESSOR else ()
    return (*groups, *found.values())


def needed_features(processor: str, shape: MatrixShape) -> set[str]:
    """Returns the features with which LLVM writes a PTX that has a shape; none if it does so by itself."""
    return {"+ptx84"} if shape.operand in _F8 and processor_number(processor) < 100 else set()


def type_names(shape: MatrixShape) -> tuple[str, str]:
    """Returns PTX's names of the types of a shape's operands and total."""
    operand = "tf32" if shape.mantissa_bits == _TF32_BITS else _NAMES[shape.operand][0]
    return operand, _NAMES[shape.accumulator][0]


def multiply_accumulate(
    builder: IrBuilder,
    shape: MatrixShape,
    left: Sequence[Value],
    right: Sequence[Value],
    total: Sequence[Value],
) -> list[Value]:
    """Emits mma.sync. LLVM has intrinsics of it, whose types differ from shape to shape; the text does not."""
    operand, of_total = type_names(shape)
    if operand == "tf32":  # its operands are words
        left, right = ([builder.bitcast(x, "i32") for x in side] for side in (left, right))
    numbers = iter(range(len(left) + len(right) + 2 * len(total)))
    groups = [
        "{" + ", ".join(f"${next(numbers)}" for _ in registers) + "}" for registers in (total, left, right, total)
    ]
    mnemonic = f"mma.sync.aligned.m{shape.rows}n{shape.columns}k{shape.terms}.row.col"
    text = f"{mnemonic}.{of_total}.{operand}.{operand}.{of_total} {', '.join(groups)};"
    kept = _NAMES[shape.accumulator][1]
    given = "r" if left[0].type == "i32" else _NAMES[shape.operand][1]
    constraints = [f"={kept}"] * len(total) + [given] * (len(left) + len(right)) + [kept] * len(total)
    type_ = "{" + ", ".join(value.type for value in total) + "}"
    arguments = ", ".join(map(str, (*left, *right, *total)))
    result = builder.emit(type_, f'call {type_} asm "{text}", "{",".join(constraints)}"({arguments}) convergent')
    return [builder.emit(value.type, f"extractvalue {result}, {n}") for n, value in enumerate(total)]


def load_matrices(builder: IrBuilder, row: Value, count: int, *, transposed: bool) -> list[Value]:
    """Emits ldmatrix."""
    name = f"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x{count}{'.trans' if transposed else ''}.b16.p3"
    result = builder.call(name, "i32" if count == 1 else f"{{{', '.join(['i32'] * count)}}}", [row])
    if count == 1:
        return [result]
    return [builder.emit("i32", f"extractvalue {result}, {n}") for n in range(count)]
