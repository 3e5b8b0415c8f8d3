"""Builds programs of single instructions, and runs them on a device without any further optimization."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xla_core import Client, CompileOptions, LoadedExecutable
from xla_core.hlo import HloComputation, HloInstruction, HloModule, Opcode, Shape
from xla_core.passes import scheduling_pipeline

__all__ = ["OptimizedCompiler", "module_of", "tuple_of"]


def module_of(instruction: HloInstruction, name: str = "") -> HloModule:
    """Makes a module that computes one instruction.

    The leaves of the operands are parameters and the leaves of the result are results, with the layouts that they have
    in the instruction's own module.
    """
    module = HloModule(name or instruction.name)
    entry = HloComputation("main")
    parameters = iter(
        [
            entry.parameter(number, leaf)
            for number, leaf in enumerate(leaf for o in instruction.operands for leaf in o.shape.leaves())
        ]
    )
    operands = [_join(entry, operand.shape, parameters) for operand in instruction.operands]
    copy = entry.add_instruction(instruction.clone(operands))
    results = list(_split(entry, copy))
    entry.set_root(results[0] if len(results) == 1 else tuple_of(entry, results))
    _adopt(module, entry, {})
    module.add_computation(entry, entry=True)
    module.entry_layouts_fixed = True
    return module


def _join(entry: HloComputation, shape: Shape, leaves: Iterator[HloInstruction]) -> HloInstruction:
    if not shape.is_tuple:
        return next(leaves)
    return tuple_of(entry, [_join(entry, part, leaves) for part in shape.tuple_shapes])


def tuple_of(computation: HloComputation, parts: Sequence[HloInstruction]) -> HloInstruction:
    """Adds a tuple of values in the layouts that they have."""
    return computation.add(Opcode.TUPLE, *parts, shape=Shape.tuple([part.shape for part in parts]))


def _split(entry: HloComputation, value: HloInstruction) -> Iterator[HloInstruction]:
    if not value.shape.is_tuple:
        yield value
        return
    for index, part in enumerate(value.shape.tuple_shapes):
        yield from _split(entry, entry.add(Opcode.GET_TUPLE_ELEMENT, value, shape=part, index=index))


def _adopt(module: HloModule, computation: HloComputation, copies: dict[HloComputation, HloComputation]) -> None:
    """Copies the computations that instructions call into the module, callees first."""
    for instruction in computation.instructions:
        for callee in instruction.called_computations:
            if callee not in copies:
                copies[callee] = callee.clone()
                _adopt(module, copies[callee], copies)
                module.add_computation(copies[callee])
            instruction.replace_called_computation(callee, copies[callee])


class OptimizedCompiler:
    """Compiles optimized modules for the first device of a client by `run_backend`, after scheduling alone."""

    def __init__(self, client: Client, options: CompileOptions) -> None:
        self._client, self._options = client, options

    def compile(self, module: HloModule) -> LoadedExecutable:
        """Compiles an optimized module, which it takes over."""
        compiler = self._client.platform.compiler
        scheduling_pipeline(compiler.target_config).run(module)
        executor = self._client.platform.executor(0)
        return self._client.load(compiler.run_backend(module, self._options, executor))
