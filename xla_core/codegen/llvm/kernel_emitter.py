"""KernelEmitter: one fusion, or one unfused instruction, becomes one kernel: a function, or several in order."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from xla_core.codegen.llvm.forms.kernel_form import EmittedKernel, KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.ir.debug_locations import add_debug_locations
from xla_core.codegen.llvm.ir.module import IrModule
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.ir_array import IrArray
from xla_core.codegen.llvm.planner import Planner
from xla_core.codegen.llvm.target_abi import KernelFrame, KernelParameter, TargetAbi
from xla_core.errors import UnimplementedError
from xla_core.hlo.ir.fused import fused_parameters
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape

_NO_KERNELS = frozenset({Trait.ASYNC, Trait.COLLECTIVE, Trait.CONTROL_FLOW, Trait.HOST_TRANSFER})
"""Traits of ops that an executable runs between kernels."""


class KernelEmitter:
    """Emits kernels for one target into one module.

    Args:
        abi: the target.
        module: where the functions go; a new one, with the target's triple, by default.
        planner: decides how each kernel is written.
        debug_locations: whether the code says which instruction of a fusion it computes; see `instruction_at_line`.
    """

    def __init__(
        self,
        abi: TargetAbi,
        module: IrModule | None = None,
        planner: Planner | None = None,
        *,
        debug_locations: bool = False,
    ) -> None:
        self.abi = abi
        self.debug_locations = debug_locations
        self.planner = planner or Planner()
        self.module = module or IrModule("kernels", triple=abi.triple, data_layout=abi.data_layout)

    def emit(
        self,
        instruction: HloInstruction,
        name: str | None = None,
        *,
        aliasing: Collection[tuple[int, int]] = (),
        undivided: bool = False,
    ) -> EmittedKernel:
        """Emits a fusion or a single instruction.

        Args:
            instruction: its operands and its result are buffers; layouts are those of the shapes.
            name: of the function, by default the instruction's; `IrModule.symbol` makes it safe and unique.
            aliasing: pairs (leaf of the result, leaf of the operands) that are one buffer. Leaves are counted as in
                EmittedKernel.parameters, results and operands each from 0. An element of such an operand is read no
                later than the same element of the result is written. No other buffer may overlap a result.
            undivided: whether every call works on all units, on a target without grids. The loops over them then have
                constant bounds, and LLVM writes no loops for iterations that don't exist.

        Raises:
            UnimplementedError: an opcode, type or layout that has no emission, with the instruction's location.
        """
        _check_is_kernel(instruction)
        parameters = _parameters(instruction, aliasing)
        body = KernelBody(self.abi, instruction, aliasing)
        form, plan = self.planner.choose(body)
        first, *later = [
            self._phase(
                self.module.symbol(name or instruction.name),
                body,
                parameters,
                form,
                phase,
                plan.scratch_bytes,
                undivided=undivided,
            )
            for phase in (plan, *plan.later)
        ]
        return dataclasses.replace(first, plan=f"{form.name}: {plan}", later=tuple(later))

    def _phase(
        self,
        name: str,
        body: KernelBody,
        parameters: tuple[KernelParameter, ...],
        form: KernelForm[Any],
        plan: KernelPlan,
        scratch_bytes: int,
        *,
        undivided: bool,
    ) -> EmittedKernel:
        """Emits the function of one phase."""
        scratch = Shape.array(ElementType.U8, (scratch_bytes,))
        taken = [*parameters, *([KernelParameter("scratch", scratch, is_result=True)] if scratch_bytes else [])]
        frame = self.abi.begin_kernel(self.module, name, taken, plan.count, threads=plan.threads)
        if undivided:
            frame.begin, frame.end = frame.builder.int_(0), frame.builder.int_(plan.count)
        body.scratch = frame.buffers[-1] if scratch_bytes else None
        arrays = self._arrays(name, frame, parameters)
        body.results = [a for a, p in zip(arrays, parameters, strict=True) if p.is_result]
        operands = [a for a, p in zip(arrays, parameters, strict=True) if not p.is_result]
        body.bindings = _bindings(body.instruction, operands)
        frame.builder.fast_math = self.abi.fast_math
        if self.debug_locations and body.instruction.opcode == Opcode.FUSION:
            add_debug_locations(frame.builder, body.instruction)
        form.emit(body, plan, frame, EmissionContext(frame.builder, self.abi))
        self.abi.end_kernel(frame)
        return EmittedKernel(
            name,
            parameters,
            plan.count,
            plan.grain,
            plan.threads,
            scratch_bytes=scratch_bytes,
            resources=frame.resources,
        )

    def _arrays(self, name: str, frame: KernelFrame, parameters: Sequence[KernelParameter]) -> list[IrArray]:
        """Returns the buffers, with metadata on aliasing: each result has an alias scope of its own."""
        module = self.module
        domain = module.metadata(f'!{{$self, !"{name}"}}', distinct=True)
        invariant = f", !invariant.load {module.metadata('!{}')}" if self.abi.invariant_loads else ""

        def scope(label: str) -> str:
            return module.metadata(f'!{{$self, {domain}, !"{label}"}}', distinct=True)

        scopes = {p: scope(f"result{p}") for p, parameter in enumerate(parameters) if parameter.is_result}
        first = len(parameters) - len(scopes)
        arrays = []
        for position, parameter in enumerate(parameters):
            if parameter.is_result:
                own = {position}
            else:
                own = {first + alias for alias in parameter.aliases}
            others = [s for p, s in scopes.items() if p not in own]
            facts = ""
            if self.abi.is_inlined:
                own, others = {position}, []
            elif own:
                facts += f", !alias.scope {module.metadata('!{' + ', '.join(scopes[p] for p in sorted(own)) + '}')}"
            if others:
                facts += f", !noalias {module.metadata('!{' + ', '.join(others) + '}')}"
            load_facts = facts + (invariant if not own else "")
            # Operand and result in one buffer get the same pointer, so that LLVM sees the order of loads and stores.
            donor = next((i for i, p in enumerate(parameters) if position - first in p.aliases), position)
            buffer = frame.buffers[donor if parameter.is_result else position]
            arrays.append(IrArray(buffer, parameter.shape, load_metadata=load_facts, store_metadata=facts))
        return arrays


def _check_is_kernel(instruction: HloInstruction) -> None:
    if not _NO_KERNELS.isdisjoint(instruction.op.traits):
        raise UnimplementedError(
            f"the LLVM emitter makes no kernel of {instruction.opcode}",
            op=instruction.opcode,
            location=instruction.location,
            hint="leave it out of the target's capabilities, or run it as a thunk of its own",
        )


def _parameters(instruction: HloInstruction, aliasing: Collection[tuple[int, int]]) -> tuple[KernelParameter, ...]:
    operands = [s for o in instruction.operands for s in o.shape.array_leaves()]
    results = instruction.shape.array_leaves()
    parameters = [
        KernelParameter(f"operand{i}", s, aliases=tuple(r for r, o in aliasing if o == i))
        for i, s in enumerate(operands)
    ]
    parameters += [KernelParameter(f"result{i}", s, is_result=True) for i, s in enumerate(results)]
    return tuple(parameters)


def _bindings(
    instruction: HloInstruction, operands: Sequence[IrArray]
) -> Mapping[HloInstruction, IrArray | list[IrArray]]:
    """Returns the arrays of the parameters of a fusion, or of the operands of a single instruction."""
    bindings: dict[HloInstruction, IrArray | list[IrArray]] = {}
    first = 0
    for target, operand in zip(fused_parameters(instruction), instruction.operands, strict=True):
        count = len(operand.shape.array_leaves())
        arrays = list(operands[first : first + count])
        first += count
        bindings[target] = list(arrays) if operand.shape.is_tuple else arrays[0]
    return bindings
