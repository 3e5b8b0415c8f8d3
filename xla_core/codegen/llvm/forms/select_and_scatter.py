"""select-and-scatter: combines each source element with the element that its window selects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from xla_core.analysis.indexing import Index, IndexExpr, delinearized, linearized, windowed
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter, call_computation
from xla_core.codegen.llvm.elements.registers import parts, unflatten
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.ir_array import ElementValue
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode


def _matches(body: KernelBody) -> bool:
    return body.root.opcode == Opcode.SELECT_AND_SCATTER


def _outer(instruction: HloInstruction) -> int:
    """Returns how many leading dimensions have windows of one element. Their indices are units of work."""
    count = 0
    for dimension in instruction.attribute("window"):
        if not dimension.is_trivial:
            break
        count += 1
    return count


def _plan(body: KernelBody) -> KernelPlan:
    dims = body.root.operand(0).shape.dimensions
    return KernelPlan(math.prod(dims[: _outer(body.root)]) if math.prod(dims) else 0)


def _emit(body: KernelBody, plan: KernelPlan, frame: KernelFrame, context: EmissionContext) -> None:
    root, b, indices = body.root, context.builder, IndexValues(context)
    emitter = ElementEmitter(context, body.bindings, indices, plan.loops)
    operand, source, init = root.operands
    dims, outer = operand.shape.dimensions, _outer(root)
    if not math.prod(dims):
        return
    (result,) = body.results
    type_ = root.attribute("scatter").parameters[0].shape.element_type
    first = emitter.elemental.convert(emitter.scalar(init), init.shape.element_type, type_)
    loop, _ = context.open_loop(frame.begin, frame.end, frame.step, name="unit")
    unit = delinearized(indices.new("unit", math.prod(dims[:outer]), loop.index), dims[:outer])

    def initialize(position: Value) -> None:
        rest = delinearized(indices.new("rest", math.prod(dims[outer:]), position), dims[outer:])
        emitter.store(result, (*unit, *rest), first)

    context.each(b.int_(0), b.int_(math.prod(dims[outer:])), initialize, name="initialize")
    sizes = source.shape.dimensions[outer:]
    variables = [indices.unbound(f"source{d}", n) for d, n in enumerate(sizes)]

    def scatter() -> None:
        place = (*unit, *(IndexExpr.of(v) for v in variables))
        position, any_ = selected_element(emitter, root, place)

        def update() -> None:
            old = result.load(b, position)
            arguments = [
                emitter.elemental.convert(old, result.shape.element_type, type_),
                emitter.elemental.convert(emitter.value(source, place), source.shape.element_type, type_),
            ]
            (new,) = call_computation(context, root.attribute("scatter"), arguments)
            result.store(b, position, emitter.elemental.convert(new, type_, result.shape.element_type))

        context.when(any_, update)

    if math.prod(sizes):
        indices.each_point(variables, scatter, name="source")
    context.close_loop(loop)


def selected_element(emitter: ElementEmitter, root: HloInstruction, place: Index) -> tuple[Value, Value]:
    """Returns (the position of the element that the window at `place` selects, whether the window has one).

    Positions are row-major, whatever the operand's layout.
    """
    context, b, indices = emitter.context, emitter.b, emitter.indices
    operand, select = root.operand(0), root.attribute("select")
    dims, element_type = operand.shape.dimensions, operand.shape.element_type
    access, _ = windowed(root, place, root.attribute("window"), dims)

    def consider(carried: list[Value]) -> list[Value]:
        """`carried` are the registers of the selected element, its position, and whether there is one."""
        value: ElementValue = emitter.value(operand, access.index)
        *best, position, any_ = carried
        both = [*unflatten(best, [element_type]), value]
        (keeps,) = call_computation(context, select, both)
        take = b.not_(b.and_(any_, cast(Value, keeps)))
        chosen = [b.select(take, new, old) for new, old in zip(parts(value), best, strict=True)]
        return [*chosen, b.select(take, indices.value(linearized(access.index, dims)), position), b.bool_(True)]

    def over(bound: int, carried: list[Value]) -> list[Value]:
        if bound == len(access.variables):
            inside = indices.holds(access.conditions)
            return context.choose(inside, lambda: consider(carried), lambda: carried)
        variable = access.variables[bound]

        def step(value: Value, values: list[Value]) -> Sequence[Value]:
            indices.bind(variable, value)
            return over(bound + 1, values)

        return context.loop(b.int_(0), b.int_(variable.extent), step, carried, name="window")

    # Any element may stand here: none is selected yet.
    blank = parts(emitter.value(operand, tuple(IndexExpr.of(0) for _ in dims)))
    *_, position, any_ = over(0, [*blank, b.int_(0), b.bool_(False)])
    return position, any_


SELECT_AND_SCATTER = KernelForm("select-and-scatter", _matches, _plan, _emit, (Opcode.SELECT_AND_SCATTER,))
