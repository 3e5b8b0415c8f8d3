"""Element generators of the ops that move data. Each maps an index of the result to indices of the operands."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xla_core.codegen.llvm.elements.fused import FusedIrEmitter, constant_element, generator
from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import register_type, type_bits
from xla_core.codegen.llvm.loops.index import Digit, Index, is_within, merge_digits, offset_digit, scaled_digit
from xla_core.codegen.llvm.loops.ir_array import Complex, ElementValue, as_register
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode


def parts(value: ElementValue) -> list[Value]:
    """Returns the registers of an element: one, or two for a complex one."""
    return list(value) if isinstance(value, Complex) else [value]


def whole(values: Sequence[Value]) -> ElementValue:
    """Makes an element of the registers that `parts` returns."""
    return Complex(values[0], values[1]) if len(values) == 2 else values[0]


@generator(Opcode.CONSTANT)
def _constant(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    return constant_element(f.context, instruction.literal, lambda: index.linear(f.b))


@generator(Opcode.BROADCAST)
def _broadcast(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    operand = instruction.operand(0)
    target = instruction.attribute("dimensions")
    if not operand.shape.dimensions or operand.shape.num_elements == 1:
        return f.value(operand, Index(operand.shape.dimensions, ()))
    # Neighbouring dimensions that are all dropped, or all kept and neighbours in the operand, stay one group of digits.
    place = {d: position for position, d in enumerate(target)}

    def joins(first: int, d: int) -> bool:
        return place[d] == place.get(d - 1, -2) + 1 if d in place else first not in place

    groups = {run[0]: group for run, group in index.runs(f.b, joins)}
    return f.value(operand, Index(operand.shape.dimensions, [digit for d in target for digit in groups.get(d, ())]))


@generator(Opcode.RESHAPE, Opcode.BITCAST)
def _reshape(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    operand = instruction.operand(0)
    return f.value(operand, index.reshaped(operand.shape.dimensions))


@generator(Opcode.TRANSPOSE)
def _transpose(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    operand = instruction.operand(0)
    permutation = instruction.attribute("dimensions")  # output dimension i is operand dimension permutation[i]
    return f.value(operand, transposed(f.b, index, permutation, operand.shape.dimensions))


def transposed(b: IrBuilder, index: Index, permutation: Sequence[int], operand_dims: Sequence[int]) -> Index:
    """Returns the operand's index of a transpose. Dimensions that stay neighbours stay one group of digits."""
    runs: list[list[int]] = []  # runs of output dimensions that are neighbours in the operand too
    for place, dimension in enumerate(permutation):
        if operand_dims[dimension] == 1:
            continue
        last = permutation[runs[-1][-1]] if runs else None
        between = last is not None and all(operand_dims[d] == 1 for d in range(last + 1, dimension))
        if last is not None and last < dimension and between:
            runs[-1].append(place)
        else:
            runs.append([place])
    extents = [math.prod(operand_dims[permutation[p]] for p in run) for run in runs]
    groups = index.regroup(b, extents)
    order = sorted(range(len(runs)), key=lambda r: permutation[runs[r][0]])
    return Index(operand_dims, [digit for r in order for digit in groups[r]])


@generator(Opcode.REVERSE)
def _reverse(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    operand = instruction.operand(0)
    dims, reversed_dims = operand.shape.dimensions, set(instruction.attribute("dimensions"))
    digits: list[Digit] = []
    # To reverse neighbouring dimensions is to reverse their linear index.
    for run, group in index.runs(f.b, lambda first, d: (d in reversed_dims) == (first in reversed_dims)):
        if run[0] not in reversed_dims:
            digits.extend(group)
            continue
        extent = math.prod(dims[d] for d in run)
        digits.append(scaled_digit(f.b, merge_digits(f.b, group), -1, extent - 1, extent))
    return f.value(operand, Index(dims, digits))


@generator(Opcode.SLICE)
def _slice(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    operand = instruction.operand(0)
    ranges = instruction.attribute("slice")
    starts = [r.start for r in ranges]
    strides = [r.stride if n > 1 else 1 for r, n in zip(ranges, instruction.shape.dimensions, strict=True)]
    return f.value(operand, sliced(f.b, index, operand.shape.dimensions, starts, strides))


def sliced(
    b: IrBuilder, index: Index, operand_dims: Sequence[int], starts: Sequence[int], strides: Sequence[int]
) -> Index:
    """Returns the operand's index, start + stride * i. A whole dimension stays in one group with the one before it."""
    dims = index.dimensions
    whole_ones = [n == m for n, m in zip(dims, operand_dims, strict=True)]
    digits: list[Digit] = []
    for run, group in index.runs(b, lambda first, d: whole_ones[d] and strides[first] == 1):
        first = run[0]
        if whole_ones[first]:
            digits.extend(group)
            continue
        inner = math.prod(dims[d] for d in run[1:])
        digit = merge_digits(b, group)
        extent = operand_dims[first] * inner
        if strides[first] == 1:
            digits.append(offset_digit(b, digit, b.int_(starts[first]), extent, inner))
            continue
        digits.append(scaled_digit(b, digit, strides[first], starts[first], extent))
    return Index(operand_dims, digits)


@generator(Opcode.IOTA)
def _iota(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    digit = index.component(f.b, instruction.attribute("iota_dimension"))
    if digit.extent <= 1 << 31:  # 32-bit integers have wider vectors and cheaper conversions to floats
        with f.b.at_level(digit.level):
            narrow = f.b.cast("trunc", digit.value, "i32")
        return f.elemental.convert(narrow, ElementType.S32, instruction.shape.element_type)
    return f.elemental.convert(digit.value, ElementType.S64, instruction.shape.element_type)


@generator(Opcode.CONCATENATE)
def _concatenate(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    """Finds the operand that holds the index by a binary search."""
    (dimension,) = instruction.attribute("dimensions")
    dims = instruction.shape.dimensions
    operands = [o for o in instruction.operands if o.shape.dimensions[dimension]]
    limits = [0]
    for operand in operands:
        limits.append(limits[-1] + operand.shape.dimensions[dimension])
    inner = math.prod(dims[dimension + 1 :])
    # The dimensions after the joined one stay together with it: an operand is a range of their linear index.
    outer_group, group = index.regroup(f.b, (math.prod(dims[:dimension]), dims[dimension] * inner))
    digit = merge_digits(f.b, group)

    def piece(low: int, high: int) -> ElementValue:
        if high - low == 1:
            operand = operands[low]
            extent = operand.shape.dimensions[dimension] * inner
            place = offset_digit(f.b, digit, f.b.int_(-limits[low]), extent, inner)
            return f.value(operand, Index(operand.shape.dimensions, (*outer_group, place)))
        middle = (low + high) // 2
        with f.context.hoisted(digit.level):
            condition = is_within(f.b, digit, limits[middle] * inner)
        return choose_element(f, condition, lambda: piece(low, middle), lambda: piece(middle, high))

    return piece(0, len(operands))


@generator(Opcode.PAD)
def _pad(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    operand, padding_value = instruction.operands
    config = instruction.attribute("padding")
    dims, operand_dims = instruction.shape.dimensions, operand.shape.dimensions
    outside = f.value(padding_value, Index.scalar())
    if not operand.shape.num_elements:
        return outside
    untouched = [not (edge.low or edge.high or edge.interior) for edge in config]
    inside = f.b.bool_(True)
    digits: list[Digit] = []
    b = f.b
    for run, group in index.runs(b, lambda first, d: untouched[d] and not config[first].interior):
        edge, inner = config[run[0]], math.prod(dims[d] for d in run[1:])
        extent = operand_dims[run[0]] * inner
        digit = merge_digits(b, group)
        if edge.low == edge.high == edge.interior == 0:
            digits.extend(group)
            continue
        moved = offset_digit(b, digit, b.int_(-edge.low), extent, inner)
        here = b.bool_(True)
        with f.context.hoisted(digit.level):
            if edge.interior:
                step = b.int_(edge.interior + 1)
                here = b.icmp("eq", b.urem(moved.value, step), b.int_(0))
                moved = Digit(b.udiv(moved.value, step), extent, b.level)
            if edge.low > 0 or edge.high > 0 or edge.interior:
                here = b.and_(here, is_within(b, moved, extent))
        inside = b.and_(inside, here)
        digits.append(moved)
    return choose_element(f, inside, lambda: f.value(operand, Index(operand_dims, digits)), lambda: outside)


def choose_element(
    f: FusedIrEmitter, condition: Value, then: Callable[[], ElementValue], otherwise: Callable[[], ElementValue]
) -> ElementValue:
    """Returns one of two elements. Only the one that is chosen is computed."""
    return whole(f.context.choose(condition, lambda: parts(then()), lambda: parts(otherwise())))


@generator(Opcode.BITCAST_CONVERT)
def _bitcast_convert(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> ElementValue:
    operand = instruction.operand(0)
    source, target = operand.shape.element_type, instruction.shape.element_type
    have, want = source.bit_width, target.bit_width
    b = f.b
    if have == want:
        return from_bits(b, to_bits(b, f.value(operand, index), source), target)
    if have > want:  # a new last dimension: parts of an element, least significant first
        count = have // want
        outer, low = index.regroup(b, (operand.shape.num_elements, count))
        bits = to_bits(b, f.value(operand, Index(operand.shape.dimensions, outer)), source)
        part = merge_digits(b, low).value
        shift = b.resize(b.mul(part, b.int_(want)), bits.type, signed=False)
        return from_bits(b, b.binary("lshr", bits, shift), target)
    count = want // have
    total = b.int_(0, f"i{max(want, 8)}")
    for part_number in range(count):
        last = Digit(b.int_(part_number), count, 0)
        piece = to_bits(b, f.value(operand, Index(operand.shape.dimensions, (*index.digits, last))), source)
        total = b.or_(total, b.shl(b.cast("zext", piece, total.type), part_number * have))
    return from_bits(b, total, target)


def to_bits(b: IrBuilder, value: ElementValue, element_type: ElementType) -> Value:
    """Returns an element's bits as an integer of at least a byte. A complex element's real part is lowest."""
    if isinstance(value, Complex):
        half = element_type.component
        low, high = to_bits(b, value.real, half), to_bits(b, value.imag, half)
        wide = f"i{element_type.bit_width}"
        return b.or_(b.cast("zext", low, wide), b.shl(b.cast("zext", high, wide), half.bit_width))
    return b.wrap(b.bitcast(value, f"i{type_bits(value.type)}"), element_type.bit_width, signed=False)


def from_bits(b: IrBuilder, bits: Value, element_type: ElementType) -> ElementValue:
    """Returns the element whose bits are the lowest bits of an integer."""
    if element_type.is_complex:
        high = b.lshr(bits, element_type.component.bit_width)
        real, imag = (from_bits(b, part, element_type.component) for part in (bits, high))
        assert isinstance(real, Value)
        assert isinstance(imag, Value)
        return Complex(real, imag)
    type_ = register_type(element_type)
    bits = b.resize(bits, f"i{type_bits(type_)}", signed=False)
    return b.bitcast(as_register(b, bits, element_type), type_)


@generator(Opcode.GET_TUPLE_ELEMENT)
def _get_tuple_element(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> list[ElementValue]:
    operand = instruction.operand(0)
    values = f.values(operand, index)
    first = sum(len(list(s.leaves())) for s in operand.shape.tuple_shapes[: instruction.tuple_index])
    return values[first : first + len(list(instruction.shape.leaves()))]


@generator(Opcode.TUPLE, Opcode.OPT_BARRIER)
def _tuple(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> list[ElementValue]:
    return [value for operand in instruction.operands for value in f.values(operand, index)]
