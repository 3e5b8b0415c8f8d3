"""Prints HLO text as XLA does. (XLA: xla/hlo/ir/hlo_module.cc, hlo_computation.cc, hlo_instruction.cc: Print.)"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from xla_core.hlo.ir.call_graph import callees_first
from xla_core.hlo.table import op_table
from xla_core.hlo.table.attributes import OpMetadata
from xla_core.hlo.table.op_table import AttributeKind
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.text.attribute_text import ATTRIBUTE_TEXT
from xla_core.hlo.text.literals import literal_to_text
from xla_core.hlo.text.shapes import index_to_text, join_indexed, shape_to_text
from xla_core.hlo.text.strings import quote

if TYPE_CHECKING:  # modules, computations and instructions print themselves
    from xla_core.hlo.ir.computation import HloComputation
    from xla_core.hlo.ir.instruction import HloInstruction
    from xla_core.hlo.ir.module import HloModule


@dataclasses.dataclass(frozen=True, slots=True)
class PrintOptions:
    """Which parts of a module the printer prints. Text without its large constants can't be parsed again."""

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
    if options.metadata and (metadata := _metadata_to_text(instruction.metadata)):
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
    order: dict[HloComputation, None] = {}  # unreachable computations included, the entry last
    for start in sorted(module.computations, key=lambda c: c is module.entry):
        order.update(dict.fromkeys(callees_first(start, order)))
    parts = [_header_to_text(module), *(computation_to_text(computation, options) for computation in order)]
    return "\n\n".join(parts) + "\n\n"


def _header_to_text(module: HloModule) -> str:
    """Prints the module's first line, without a newline."""
    fields = [f"HloModule {module.name}"]
    if module.schedule is not None:
        fields.append("is_scheduled=true")
    if module.input_output_aliases:
        aliases = ", ".join(
            f"{index_to_text(a.output_index)}: ({a.parameter_number}, {index_to_text(a.parameter_index)}, "
            f"{'must' if a.must_alias else 'may'}-alias)"
            for a in module.input_output_aliases
        )
        fields.append(f"input_output_alias={{ {aliases} }}")
    if module.buffer_donors:
        donors = ", ".join(f"({number}, {index_to_text(index)})" for number, index in module.buffer_donors)
        fields.append(f"buffer_donor={{ {donors} }}")
    listed = join_indexed([shape_to_text(s) for s in module.parameter_shapes])
    fields.append(f"entry_computation_layout={{({listed})->{shape_to_text(module.result_shape)}}}")
    if module.num_replicas != 1:
        fields.append(f"replica_count={module.num_replicas}")
    if module.num_partitions != 1:
        fields.append(f"num_partitions={module.num_partitions}")
    if module.frontend_attributes:
        pairs = tuple(sorted(module.frontend_attributes.items()))
        fields.append("frontend_attributes=" + ATTRIBUTE_TEXT[AttributeKind.DICT].to_text(pairs, ""))
    return ", ".join(fields)


def _metadata_to_text(metadata: OpMetadata) -> str:
    """Prints `metadata={...}`, or nothing where there is no metadata."""
    texts = ("op_type", metadata.op_type), ("op_name", metadata.op_name), ("source_file", metadata.source_file)
    numbers = ("source_line", metadata.source_line), ("source_column", metadata.source_column)
    fields = [f"{key}={quote(text)}" for key, text in texts if text]
    fields += [f"{key}={number}" for key, number in numbers if number]
    return f"metadata={{{' '.join(fields)}}}" if fields else ""
