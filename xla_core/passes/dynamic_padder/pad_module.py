"""Implements `DynamicPadder` for modules with dynamic shapes."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.analysis.control_flow import control_flow_callees
from xla_core.errors import UnimplementedError
from xla_core.hlo.evaluation.dynamic_results import set_dynamic_results
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule, InputOutputAlias
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.dynamic_padder.control_flow import pad_conditional, pad_while
from xla_core.passes.dynamic_padder.handlers import HANDLERS, elementwise
from xla_core.passes.dynamic_padder.padded import Padded, Value
from xla_core.passes.simplifiers.call_inliner import CallInliner
from xla_core.passes.simplifiers.hlo_dce import HloDce


def pad_module(module: HloModule) -> None:
    """See `DynamicPadder`."""
    CallInliner().run(module)
    entry = module.entry
    for parameter in entry.parameters:
        if parameter.shape.is_dynamic:
            raise UnimplementedError(
                f"parameter {parameter.name} is {parameter.shape.without_layout()}",
                hint="Client.compile makes it static, for each size that it is called with",
            )
    root = _walk(entry, entry.post_order(), {})
    if entry.root.shape.is_dynamic or not isinstance(root, HloInstruction):
        _return(module, root)
    HloDce().run(module)


def _walk(computation: HloComputation, order: Sequence[HloInstruction], padded: dict[HloInstruction, Value]) -> Value:
    """Pads all instructions with dynamic shapes; `padded` holds known padded values. Returns the padded root."""
    builder = Builder(computation)
    for instruction in order:
        operands = [padded.get(o, o) for o in instruction.operands]
        is_padded = any(isinstance(o, (Padded, tuple)) for o in operands)
        if instruction in padded or not (is_padded or instruction.shape.is_dynamic or _runs_dynamic(instruction)):
            continue
        builder.metadata = instruction.metadata
        made = _padded(instruction, operands, builder)
        if isinstance(made, HloInstruction) and not instruction.shape.is_dynamic:
            computation.replace_with(instruction, made)
        else:
            padded[instruction] = made
    return padded.get(computation.root, computation.root)


def _runs_dynamic(instruction: HloInstruction) -> bool:
    return any(
        i.shape.is_dynamic or _runs_dynamic(i) for c in control_flow_callees(instruction) for i in c.instructions
    )


def _padded(instruction: HloInstruction, operands: list[Value], builder: Builder) -> Value:
    opcode = instruction.opcode
    made: Value | None = None
    if opcode == Opcode.TUPLE:
        leaves = [Padded.of(o) if isinstance(o, HloInstruction) else o for o in operands]
        made = tuple(leaf for leaf in leaves if isinstance(leaf, Padded))
        made = made if len(made) == len(leaves) else None
    elif opcode == Opcode.GET_TUPLE_ELEMENT and isinstance(operands[0], tuple):
        made = operands[0][int(instruction.attribute("index"))]
    elif opcode == Opcode.WHILE:
        made = pad_while(builder, instruction, operands[0], _walk)
    elif opcode == Opcode.CONDITIONAL:
        made = pad_conditional(builder, instruction, operands, _walk)
    elif not any(isinstance(o, tuple) for o in operands):
        handler = HANDLERS.get(opcode) or (elementwise if instruction.is_elementwise else None)
        arrays = [Padded.of(o) if isinstance(o, HloInstruction) else o for o in operands if not isinstance(o, tuple)]
        made = handler(builder, instruction, arrays) if handler is not None else None
    if made is None:
        raise UnimplementedError(
            f"{opcode} of {_shapes(instruction)} has no form on arrays of fixed size",
            op=opcode,
            location=instruction.location,
            hint="make the sizes of arguments dynamic instead: the program is compiled for those of each call",
        )
    return made.plain if isinstance(made, Padded) else made


def _shapes(instruction: HloInstruction) -> str:
    return ", ".join(str(o.shape.without_layout()) for o in instruction.operands)


def _return(module: HloModule, root: Value) -> None:
    """Makes the padded root the result of the module, followed by its sizes."""
    entry = module.entry
    was_tuple = isinstance(root, tuple)
    leaves = root if isinstance(root, tuple) else (Padded.of(root) if isinstance(root, HloInstruction) else root,)
    results = [leaf.value for leaf in leaves]
    sizes: dict[int, dict[int, int]] = {}
    for number, leaf in enumerate(leaves):
        for dimension, size in leaf.sizes.items():
            sizes.setdefault(number, {})[dimension] = len(results)
            results.append(size)
    entry.set_root(entry.add(Opcode.TUPLE, *results))
    set_dynamic_results(module, len(leaves), sizes)
    aliases = []
    for alias in module.input_output_aliases:
        index = alias.output_index if was_tuple else (0,)
        if leaves[index[0]].sizes:  # the caller slices the padded array, so the result has another buffer
            module.buffer_donors.append((alias.parameter_number, alias.parameter_index))
        else:
            aliases.append(InputOutputAlias(index, alias.parameter_number, alias.parameter_index, alias.must_alias))
    module.input_output_aliases = aliases
