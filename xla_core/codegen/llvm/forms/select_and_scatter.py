"""select-and-scatter: each source element is combined with the element that its window selects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from xla_core.codegen.llvm.elements.data_movement import parts
from xla_core.codegen.llvm.elements.fused import FusedIrEmitter, call_computation
from xla_core.codegen.llvm.elements.reduce_window import WindowForm
from xla_core.codegen.llvm.elements.reductions import unflatten
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, Plan
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index import Digit, Index, merge_digits
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.opcode import Opcode


def _matches(body: KernelBody) -> bool:
    return body.root.opcode == Opcode.SELECT_AND_SCATTER


def _outer(form: WindowForm) -> int:
    """Returns how many leading dimensions have windows of one element. Their indices are units of work."""
    count = 0
    while count < len(form.dims) and form.is_trivial(count):
        count += 1
    return count


def _plan(body: KernelBody) -> Plan:
    form = WindowForm(body.root)
    return Plan(math.prod(form.dims[: _outer(form)]) if math.prod(form.dims) else 0)


def _emit(body: KernelBody, frame: KernelFrame, context: EmissionContext, fused: FusedIrEmitter) -> None:
    root, b = body.root, context.builder
    operand, source, init = root.operands
    form = WindowForm(root)
    (result,) = body.results
    if not math.prod(form.dims):
        return
    outer = _outer(form)
    select, scatter = root.attribute("select"), root.attribute("scatter")
    type_ = scatter.parameters[0].shape.element_type
    first = fused.elemental.convert(fused.value(init, Index.scalar()), init.shape.element_type, type_)
    loop, _ = context.open_loop(frame.begin, frame.end, frame.step, name="unit")
    unit = Digit(loop.index, math.prod(form.dims[:outer]), b.level)
    rest = form.dims[outer:]
    source_rest = source.shape.dimensions[outer:]

    def initialize(digits: list[Digit]) -> None:
        result.store(b, Index(form.dims, [unit, *digits]), first)

    context.each_point("initialize", math.prod(rest), initialize, name="initialize")

    def each(digits: list[Digit]) -> None:
        place = Index(source.shape.dimensions, [unit, *digits])
        outputs = [place.component(b, d) for d in range(len(form.dims))]

        def over(places: list[Digit], inside: Value, carried: list[Value]) -> list[Value]:
            """`carried` are the registers of the selected element, its position, and whether there is one."""
            dimension = len(places)
            if dimension == len(form.dims):
                return context.choose(inside, lambda: consider(places, carried), lambda: carried)
            if form.is_trivial(dimension):
                return over([*places, outputs[dimension]], inside, carried)

            def step(taps: list[Digit], values: list[Value]) -> Sequence[Value]:
                found, fits = form.position(fused, dimension, outputs[dimension], merge_digits(b, taps))
                return over([*places, found], b.and_(inside, fits), values)

            size = form.window[dimension].size
            return context.nest(("window", dimension), size, step, carried, name="window")

        def consider(places: list[Digit], carried: list[Value]) -> list[Value]:
            index = Index(form.dims, places)
            value = parts(fused.value(operand, index))
            *best, position, any_ = carried
            both = [*unflatten(best, [operand.shape.element_type]), *unflatten(value, [operand.shape.element_type])]
            (keeps,) = call_computation(context, select, both)
            take = b.not_(b.and_(any_, cast(Value, keeps)))
            chosen = [b.select(take, new, old) for new, old in zip(value, best, strict=True)]
            return [*chosen, b.select(take, index.linear(b), position), b.bool_(True)]

        # Any element may stand here: none is selected yet.
        blank = parts(fused.value(operand, Index(form.dims, [Digit(b.int_(0), math.prod(form.dims), 0)])))
        *_, position, any_ = over([], b.bool_(True), [*blank, b.int_(0), b.bool_(False)])

        def update() -> None:
            old = result.load_linear(b, position)
            added = fused.value(source, place)
            arguments = [
                fused.elemental.convert(old, result.shape.element_type, type_),
                fused.elemental.convert(added, source.shape.element_type, type_),
            ]
            (new,) = call_computation(context, scatter, arguments)
            result.store_linear(b, position, fused.elemental.convert(new, type_, result.shape.element_type))

        context.when(any_, update)

    if math.prod(source_rest):
        context.each_point("source", math.prod(source_rest), each, name="source")
    context.close_loop(loop)


SELECT_AND_SCATTER = KernelForm(_matches, _plan, _emit, (Opcode.SELECT_AND_SCATTER,))
