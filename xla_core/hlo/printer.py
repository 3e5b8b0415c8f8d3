"""Prints HLO text as XLA does. (XLA: xla/hlo/ir/hlo_module.cc, hlo_computation.cc, hlo_instruction.cc: Print.)"""

from __future__ import annotations

import dataclasses

from xla_core.hlo import op_table
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.module import HloModule
from xla_core.hlo.op_table import AttributeKind
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.text.attribute_text import ATTRIBUTE_TEXT
from xla_core.hlo.text.header import header_to_text, metadata_to_text
from xla_core.hlo.text.literals import literal_to_text
from xla_core.hlo.text.shapes import join_indexed, shape_to_text

__all__ = ["PrintOptions", "computation_to_text", "instruction_to_text", "module_to_text"]


@dataclasses.dataclass(frozen=True, slots=True)
class PrintOptions:
    """What the printer leaves out. Text without its large constants can't be parsed again."""

    percent: bool = True
    layouts: bool = True
    metadata: bool = True
    backend_config: bool = True
    elide_constants_over: int | None = None  # in elements

    @property
    def sign(self) -> str:
        return "%" if self.percent else ""


_DEFAULT = PrintOptions()


def instruction_to_text(instruction: HloInstruction, options: PrintOptions = _DEFAULT) -> str:
    """Prints one line without ROOT: `%add.3 = f32[2,3]{1,0} add(%p0, %p1), metadata={...}`."""
    parts = [
        f"{options.sign}{instruction.name} = {shape_to_text(instruction.shape, layouts=options.layouts)} "
        f"{instruction.opcode}({_operands_to_text(instruction, options)})"
    ]
    parts += attributes_to_text(instruction, options)
    return ", ".join(parts)


def _operands_to_text(instruction: HloInstruction, options: PrintOptions) -> str:
    if instruction.opcode == Opcode.CONSTANT and "literal" in instruction.attributes:
        return literal_to_text(instruction.literal, elide_over=options.elide_constants_over)
    for name, attribute in instruction.op.attributes.items():
        if attribute.kind is AttributeKind.OPERAND_TEXT and name in instruction.attributes:
            return str(instruction.attributes[name])
    return join_indexed([options.sign + operand.name for operand in instruction.operands])


def attributes_to_text(instruction: HloInstruction, options: PrintOptions = _DEFAULT) -> list[str]:
    """Prints `key=value` for each attribute that differs from its default or is always shown, in XLA's order."""
    texts: list[str] = []
    values, sign = instruction.attributes, options.sign
    for name, attribute in instruction.op.attributes.items():
        if attribute.kind in (AttributeKind.LITERAL, AttributeKind.OPERAND_TEXT):
            continue
        value = values.get(name, None if attribute.default is op_table.REQUIRED else attribute.default)
        if value is None or (value == attribute.default and not attribute.shown):
            continue
        texts.append(f"{name}={ATTRIBUTE_TEXT[attribute.kind].to_text(value, sign)}")
    for name in ("sharding", "frontend_attributes"):
        if values.get(name):
            texts.append(f"{name}={_common(name, values[name])}")
    if instruction.control_predecessors:
        names = ", ".join(sign + p.name for p in instruction.control_predecessors)
        texts.append(f"control-predecessors={{{names}}}")
    if options.metadata and (metadata := metadata_to_text(instruction.metadata)):
        texts.append(metadata)
    if options.backend_config and values.get("backend_config"):
        texts.append(f"backend_config={_common('backend_config', values['backend_config'])}")
    return texts


def _common(name: str, value: object) -> str:
    return ATTRIBUTE_TEXT[op_table.COMMON_ATTRIBUTES[name].kind].to_text(value, "")


def computation_to_text(computation: HloComputation, options: PrintOptions = _DEFAULT) -> str:
    """Prints `%name (p0: f32[2]) -> f32[2] {...}`, with ENTRY before the entry and no newline at the end."""
    parameters = ", ".join(f"{p.name}: {shape_to_text(p.shape, layouts=False)}" for p in computation.parameters)
    result = shape_to_text(computation.root.shape, layouts=False)
    lines = [
        f"{'ENTRY ' if computation.is_entry else ''}{options.sign}{computation.name} ({parameters}) -> {result} {{"
    ]
    root = computation.root
    for instruction in _order(computation):
        lines.append(f"  {'ROOT ' if instruction is root else ''}{instruction_to_text(instruction, options)}")
    lines.append("}")
    return "\n".join(lines)


def _order(computation: HloComputation) -> list[HloInstruction]:
    module = computation.module
    if module is not None and module.schedule is not None and computation in module.schedule:
        return module.schedule[computation]
    return computation.post_order()


def module_to_text(module: HloModule, options: PrintOptions = _DEFAULT) -> str:
    """Prints the whole module, callees before callers, with a newline at the end."""
    parts = [header_to_text(module)]
    parts += [computation_to_text(computation, options) for computation in _callees_first(module)]
    return "\n\n".join(parts) + "\n\n"


def _callees_first(module: HloModule) -> list[HloComputation]:
    """Returns every computation, unreachable ones included, with the entry last."""
    order: dict[HloComputation, None] = {}
    for start in sorted(module.computations, key=lambda c: c is module.entry):
        stack = [(start, False)]
        while stack:
            computation, left = stack.pop()
            if left:
                order[computation] = None
            elif computation not in order:
                stack.append((computation, True))
                stack += [(c, False) for c in reversed(list(computation.called_computations())) if c not in order]
    return list(order)
