"""`interpreter.run_parallel`: runs a program on each device at the same time."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_core.hlo import Environment, HloModule, evaluate_parallel
from xla_core.stablehlo import FunctionType, Module, TensorType, lower, parse_text


@dataclasses.dataclass(frozen=True)
class ParallelPrograms:
    """The function that each device runs, and its arguments.

    Device i is replica i // partitions and partition i % partitions. `infeed` has the values of the infeed in order,
    each a list of arrays.
    """

    module: Module
    names: list[str]
    arguments: list[list[np.ndarray]]
    partitions: int = 1
    infeed: list[list[np.ndarray]] = dataclasses.field(default_factory=list)


Type = Any
"""A type of the op tree."""

ParallelRun = Callable[[ParallelPrograms], "Sequence[Sequence[np.ndarray]]"]
"""Runs the programs and returns the results of each device."""


def evaluate_programs(programs: ParallelPrograms) -> Sequence[Sequence[np.ndarray]]:
    """Runs the programs on the reference evaluator."""
    modules = {name: lower(programs.module, name) for name in dict.fromkeys(programs.names)}
    feed = collections.deque(tuple(value) for value in programs.infeed)
    return evaluate_parallel(
        [modules[name].entry for name in programs.names],
        programs.arguments,
        num_partitions=programs.partitions,
        environments=[Environment(infeed=feed) for _ in programs.names],
    )


@dataclasses.dataclass(frozen=True)
class OneProgram:
    """One program for all devices, each with its own arguments."""

    module: HloModule
    arguments: list[list[np.ndarray]]
    _results: list[slice]

    def results(self, rows: Sequence[Sequence[np.ndarray]]) -> list[Sequence[np.ndarray]]:
        """Selects from each device's results those of its own program."""
        return [row[part] for row, part in zip(rows, self._results, strict=True)]


def one_program(programs: ParallelPrograms) -> OneProgram:
    """Makes one program for all devices, because an executable has one program.

    If devices run different programs, it branches on the device's number. Then each device takes the arguments of all
    programs, with zeros for the programs of others, and returns the results of all.
    """
    names = list(dict.fromkeys(programs.names))
    if len(names) == 1:
        return OneProgram(lower(programs.module, names[0]), programs.arguments, [slice(None)] * len(programs.names))
    order = [names.index(name) for name in programs.names]
    signatures = [programs.module.functions[name].attributes["function_type"] for name in names]
    branching = parse_text(_branching(names, signatures, order, programs.partitions)).functions["branching"]
    functions = {**programs.module.functions, "branching": branching}
    hlo = lower(dataclasses.replace(programs.module, functions=functions), "branching")
    inputs, outputs = ([0, *np.cumsum([len(_tensors(t)) for t in types])] for types in _columns(signatures))
    arguments = []
    for k, row in zip(order, programs.arguments, strict=True):
        padded = [np.zeros(s.dimensions, s.dtype) for s in hlo.parameter_shapes]
        padded[inputs[k] : inputs[k + 1]] = row
        arguments.append(padded)
    return OneProgram(hlo, arguments, [slice(outputs[k], outputs[k + 1]) for k in order])


def _branching(names: list[str], signatures: list[FunctionType], order: list[int], partitions: int) -> str:
    """Returns the text of a function that calls function `order[i]` on device i."""
    inputs, outputs = ([t for types in column for t in _tensors(types)] for column in _columns(signatures))
    results, returned = ", ".join(map(str, outputs)), f": {', '.join(map(str, outputs))}" if outputs else ""
    arguments = [f"%arg{i}" for i in range(len(inputs))]
    given = iter(arguments)
    branches = []
    for k, (name, signature) in enumerate(zip(names, signatures, strict=True)):
        operands = [next(given) if isinstance(t, TensorType) else "%token" for t in signature.inputs]
        call = f"func.call @{name}({', '.join(operands)}) : {signature}"
        lines = [
            "%token = stablehlo.create_token : !stablehlo.token",
            f"%made:{len(signature.results)} = {call}" if signature.results else call,
        ]
        values = []
        for j, other in enumerate(signatures):
            for i, type in enumerate(other.results):
                if not isinstance(type, TensorType):
                    continue
                if j == k:
                    values.append(f"%made#{i}")
                else:
                    values.append(f"%none{j}_{i}")
                    zeros = TensorType(type.shape, "i32")
                    lines.append(f"%zeros{j}_{i} = stablehlo.constant dense<0> : {zeros}")
                    lines.append(f"{values[-1]} = stablehlo.convert %zeros{j}_{i} : ({zeros}) -> {type}")
        lines.append(f"stablehlo.return {', '.join(values)} {returned}")
        branches.append("{\n" + "\n".join(lines) + "\n}")
    declared = [f"func.func private @{name}{type}" for name, type in zip(names, signatures, strict=True)]
    parameters = ", ".join(f"{name}: {type}" for name, type in zip(arguments, inputs, strict=True))
    chosen = ", ".join(f"%chosen#{i}" for i in range(len(outputs)))
    count = len(order)
    newline = "\n"
    return f"""{newline.join(declared)}
func.func @branching({parameters}) -> ({results}) {{
  %replica = stablehlo.replica_id : tensor<ui32>
  %partition = stablehlo.partition_id : tensor<ui32>
  %partitions = stablehlo.constant dense<{partitions}> : tensor<ui32>
  %first = stablehlo.multiply %replica, %partitions : tensor<ui32>
  %device = stablehlo.add %first, %partition : tensor<ui32>
  %order = stablehlo.constant dense<{order}> : tensor<{count}xi32>
  %slice = stablehlo.dynamic_slice %order, %device, sizes = [1] : (tensor<{count}xi32>, tensor<ui32>) -> tensor<1xi32>
  %branch = stablehlo.reshape %slice : (tensor<1xi32>) -> tensor<i32>
  {f"%chosen:{len(outputs)} = " if outputs else ""}"stablehlo.case"(%branch) ({", ".join(branches)}) :
    (tensor<i32>) -> ({results})
  return {chosen} {returned}
}}"""


def _columns(signatures: list[FunctionType]) -> tuple[list[tuple[Type, ...]], list[tuple[Type, ...]]]:
    return [s.inputs for s in signatures], [s.results for s in signatures]


def _tensors(types: Sequence[Type]) -> list[TensorType]:
    """Returns the tensor types, without tokens, which don't leave the branches."""
    return [t for t in types if isinstance(t, TensorType)]
