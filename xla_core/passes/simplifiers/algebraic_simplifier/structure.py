"""Rules for tuples, tokens and annotations, and for ops that can be done before a broadcast."""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.custom_calls import ANNOTATIONS, PLACEMENTS, PORTABLE_LINEAR_ALGEBRA
from xla_core.hlo.ops.top_k_calls import approx_top_k_dimension, top_k_attributes
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.passes.patterns import POINTWISE
from xla_core.passes.simplifiers.algebraic_simplifier.rule_table import rule
from xla_core.passes.simplifiers.tuple_simplifier import forwarded_element, forwarded_tuple


@rule(Opcode.GET_TUPLE_ELEMENT)
def element_of_tuple(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """get-tuple-element(tuple(x, y)), index=1 -> y"""
    return forwarded_element(i)


@rule(Opcode.TUPLE)
def tuple_of_elements(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """tuple(get-tuple-element(x, 0), get-tuple-element(x, 1)) -> x"""
    return forwarded_tuple(i)


@rule(Opcode.AFTER_ALL)
def after_one(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """after-all(x) -> x; of a token twice -> once"""
    if len(i.operands) == 1:
        return i.operands[0]
    distinct = list(dict.fromkeys(i.operands))
    return b.add(Opcode.AFTER_ALL, *distinct) if len(distinct) < len(i.operands) else None


@rule(Opcode.CUSTOM_CALL)
def annotation_of_one_device(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """A sharding of one partition -> the operand"""
    module = b.computation.module
    if i.attribute("custom_call_target") not in ANNOTATIONS or module is None or module.num_partitions != 1:
        return None
    return i.operands[0] if i.operands[0].shape.compatible(i.shape) else None


@rule(Opcode.CUSTOM_CALL)
def placement(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """A placement in memory -> the operand, as a program keeps its arrays in the device's memory"""
    return i.operands[0] if i.attribute("custom_call_target") in PLACEMENTS else None


@rule(Opcode.CUSTOM_CALL)
def call_of_top_k(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """custom-call(x) to XLA's TopK -> topk(x)"""
    if i.attribute("custom_call_target") != "TopK":
        return None
    return b.add(Opcode.TOPK, i.operands[0], **top_k_attributes(i.shape))


@rule(Opcode.CUSTOM_CALL)
def call_of_linear_algebra(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """custom-call(x) to XLA's Qr, Eigh, ... -> custom-call(x) to the routine of LAPACK"""
    if i.attribute("custom_call_target") not in PORTABLE_LINEAR_ALGEBRA:
        return None
    from xla_core.lapack import lapack_call  # deferred, because few programs have such a call

    found = lapack_call(i)
    if found is None:
        return None
    target, config, results = found
    shape = Shape.tuple(results) if len(results) > 1 else results[0]
    attributes = {"custom_call_target": target, "api_version": "API_VERSION_TYPED_FFI", "backend_config": config}
    made = b.add(Opcode.CUSTOM_CALL, *i.operands, shape=shape, **attributes)
    return b.tuple(b.elements(made)[: len(i.shape.tuple_shapes)]) if i.shape.is_tuple else made


@rule(Opcode.CUSTOM_CALL)
def call_of_approx_top_k(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """custom-call(x, y, ...) to XLA's ApproxTopK -> slices of sort(x, y): exactly the first elements"""
    if i.attribute("custom_call_target") != "ApproxTopK":
        return None
    operands, axis = i.operands[: len(i.operands) // 2], approx_top_k_dimension(i)
    (comparator,) = i.called_computations
    made = b.add(Opcode.SORT, *operands, dimensions=(axis,), to_apply=comparator, is_stable=True)
    kept = (i.shape.tuple_shapes or (i.shape,))[0].dimensions[axis]
    results = [b.slice_in_dim(part, axis, 0, kept) for part in (b.elements(made) or [made])]
    return b.tuple(results) if i.shape.is_tuple else results[0]


@rule(*POINTWISE)
def operate_before_broadcast(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """op(broadcast(x), broadcast(y)) -> broadcast(op(x, y)), for elementwise op and x, y of the same dimensions"""
    for operand in i.operands:
        if operand.opcode != Opcode.BROADCAST:
            return None
    if not i.operands or not i.is_elementwise or i.control_predecessors:
        return None
    lead = max(i.operands, key=lambda o: o.operands[0].shape.rank)
    source = lead.operands[0].shape
    dimensions = lead.attribute("dimensions")
    for operand in i.operands:
        if operand.shape.dimensions != i.shape.dimensions:
            return None
        own = operand.operands[0].shape
        if own.rank and (own.dimensions != source.dimensions or operand.attribute("dimensions") != dimensions):
            return None
    if source.num_elements >= i.shape.num_elements:
        return None
    small = [b.broadcast(o.operands[0], source.dimensions, tuple(range(o.operands[0].shape.rank))) for o in i.operands]
    result = b.clone(i, small, shape=i.shape.with_dimensions(source.dimensions))
    return b.broadcast(result, i.shape.dimensions, dimensions)
