"""Products of matrices in shared memory by four warps together: the shapes of wgmma, and their code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xla_core.codegen.llvm import IrBuilder, SharedMatrix, Value
from xla_core.hlo import ElementType
from xla_core.target import Fragment, LanePlace, MatrixShape

GROUP_PROCESSOR = "sm_90a"
"""The only processor that has these products."""

_ROWS = 64
_COLUMNS = (256, 128, 64)  # of the shapes in use, out of the multiples of 8 up to 256
_LANES = 128
_TERM_BYTES = 32
_WIDTHS = {128: 1, 64: 2}  # the numbers of the swizzling modes
_TRANSPOSED = (ElementType.F16, ElementType.BF16)  # the types of matrices whose lines may be neighbours
_ADDRESS_MASK = 0x3FFFF


def group_shapes(shapes: Iterable[MatrixShape]) -> tuple[MatrixShape, ...]:
    """Returns the shapes of warpgroups with the types of shapes of warps."""
    return tuple(
        _shape(columns, shape) for shape in shapes if shape.operand is not ElementType.F64 for columns in _COLUMNS
    )


def _shape(columns: int, of_warps: MatrixShape) -> MatrixShape:
    operand = of_warps.operand
    total = Fragment(
        LanePlace(4, 8, beyond=16),
        LanePlace(1, 4, 2),
        tuple((8 * h, 8 * part + n) for part in range(columns // 8) for h in range(2) for n in range(2)),
    )
    return MatrixShape(
        _ROWS,
        columns,
        _TERM_BYTES // operand.byte_width,
        operand,
        of_warps.accumulator,
        None,
        None,
        total,
        of_warps.mantissa_bits,
        of_warps.rounds_sums,
        lanes=_LANES,
        shared_widths=tuple(_WIDTHS),
        turns=operand in _TRANSPOSED,
    )


def multiply_shared_matrices(
    builder: IrBuilder,
    shape: MatrixShape,
    types: tuple[str, str],
    left: SharedMatrix,
    right: SharedMatrix,
    steps: int,
    total: Sequence[Value],
) -> list[Value]:
    """Emits wgmma for some steps. `types` are PTX's names of the operands' and the total's types.

    It is one piece of text, because nothing else may use the registers from the fence until `await_shared_products`.
    """
    operand, of_total = types
    count = len(total)
    registers = "{" + ", ".join(f"${n}" for n in range(count)) + "}"
    options = ", 1" if of_total == "s32" else ", 1, 1, 1"
    if shape.turns:
        options += "".join(f", {int(not matrix.along_terms)}" for matrix in (left, right))
    mnemonic = f"wgmma.mma_async.sync.aligned.m{shape.rows}n{shape.columns}k{shape.terms}"
    mnemonic += f".{of_total}.{operand}.{operand}"
    pairs = [2 * count + 2 * n for n in range(steps)]
    products = [f"{mnemonic} {registers}, ${first}, ${first + 1}{options};" for first in pairs]
    text = "\\0A\\09".join(
        [
            "wgmma.fence.sync.aligned;",
            *products,
            "wgmma.commit_group.sync.aligned;",
        ]
    )
    firsts = [_descriptor(builder, matrix) for matrix in (left, right)]
    descriptors = [
        builder.add(first, builder.int_(n * matrix.step >> 4))
        for n in range(steps)
        for first, matrix in zip(firsts, (left, right), strict=True)
    ]
    return _updated(builder, text, total, descriptors)


def await_shared_products(builder: IrBuilder, total: Sequence[Value]) -> list[Value]:
    """Emits the wait for the products, which then have written the registers."""
    return _updated(builder, "wgmma.wait_group.sync.aligned 0;", total)


def _updated(builder: IrBuilder, text: str, total: Sequence[Value], descriptors: Sequence[Value] = ()) -> list[Value]:
    """Emits text that reads and writes the registers of a total; returns these."""
    kept = ["r" if value.type == "i32" else "f" for value in total]
    own = [*(f"={letter}" for letter in kept), *map(str, range(len(total)))]
    constraints = ",".join([*own, *["l"] * len(descriptors), "~{memory}"])
    type_ = "{" + ", ".join(value.type for value in total) + "}"
    arguments = ", ".join(map(str, (*total, *descriptors)))
    result = builder.emit(type_, f'call {type_} asm sideeffect "{text}", "{constraints}"({arguments}) convergent')
    return [builder.emit(value.type, f"extractvalue {result}, {n}") for n, value in enumerate(total)]


def show_shared_matrices(builder: IrBuilder) -> None:
    """Emits the fence between stores of threads and reads of wgmma."""
    builder.line('call void asm sideeffect "fence.proxy.async;", "~{memory}"()')


def _descriptor(builder: IrBuilder, matrix: SharedMatrix) -> Value:
    """Returns the descriptor of a matrix. Eight rows of terms, or of lines, are followed by the next eight rows."""
    address = builder.cast("ptrtoint", matrix.start, "i64")
    start = builder.lshr(builder.binary("and", address, builder.int_(_ADDRESS_MASK)), 4)
    leading = 1 if matrix.along_terms else matrix.block >> 4  # a product has no more terms than a row has
    rest = leading << 16 | 8 * matrix.width >> 4 << 32 | _WIDTHS[matrix.width] << 62
    return builder.or_(start, builder.int_(rest - (1 << 64) if rest >> 63 else rest))
