"""Executions of a case in its context, which check what every execution promises.

It leaves its arguments as they are, and gives the same results again, whatever ran before.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Literal as OneOf

import numpy as np

from xla_conformance.bench import ExecutableBench
from xla_conformance.bits import require_bits
from xla_conformance.failures import Failure
from xla_conformance.ops.contexts import Placed
from xla_core import Buffer, Client, CompileOptions, LoadedExecutable
from xla_core.hlo import HloModule

Before = OneOf["same", "other", "alike", "given"]
_SMALL = 1 << 12  # elements of a program's arguments


def device_number(name: str) -> int:
    """Returns the device that the case of a name runs on, if there are two: for one of three the second."""
    return int(zlib.crc32(name.encode()) % 3 == 0)


def device_for(client: Client, name: str) -> int:
    """Returns the device that the case of a name runs on."""
    return device_number(name) if len(client.devices) > 1 else 0


def run(
    client: Client,
    executions: Sequence[Placed],
    *,
    device: int = 0,
    deterministic: bool = True,
    before: Before = "same",
    times: int = 0,
    between: Callable[[int], object] = lambda number: None,
) -> list[list[np.ndarray]]:
    """Compiles a placed module, executes it several times for each execution, and returns the results.

    The last execution is by the contract alone, without the core's runtime: it finds writes of a kernel behind its
    results.

    Args:
        executions: the module with its arguments, for one execution after the other (`Placed.with_each`).
        device: the place of the device among the client's.
        deterministic: whether two executions with the same arguments must give the same bits.
        before: the arguments of an earlier execution: the same ones, the same elements at other places of each array,
            or arrays that differ only after their beginning. A kernel that keeps data of its first launch is wrong in
            the second one. "given": there is none, as the executions differ.
        times: how many executions there are with the `same` arguments, which are at two places by turns; 0 for as many
            as are cheap, at one place.
        between: is called before each of these with its number, from 0 on.

    Raises:
        Failure: an argument changed, an execution with the same arguments as another gave other results, or one wrote
            behind its memory.
    """
    module, context = executions[0].module, executions[0].context
    options = CompileOptions(
        optimization_level=context.level,
        use_entry_layouts=context.layouts == "mixed",
        donate=(),
        device_assignment=((device,),) if device else None,
    )
    executable = client.compile(module, options)
    if before == "given":
        results = [_run_once(client, executable, placed, device) for placed in executions]
    elif before == "same" or _has_promises(module):
        results = [
            _run_again(client, executable, placed, device, deterministic, times, between) for placed in executions
        ]
    else:
        results = [_run_after(client, executable, placed, device, before) for placed in executions]
    with ExecutableBench(executable.executable, executable.devices[0]) as bench:
        by_contract = list(zip(executions, results, strict=True))
        for placed, first in by_contract[-1:] if before == "given" else by_contract:
            _run_by_contract(bench, placed, first if deterministic else None)
    return results


def before_for(name: str) -> Before:
    """Returns the kind of arguments with which the case of a name is executed first; mostly other ones."""
    turns: tuple[Before, ...] = ("same", "other", "alike", "other")
    return turns[(zlib.crc32(name.encode()) >> 8) % len(turns)]


def _has_promises(module: HloModule) -> bool:
    """Whether an instruction has an attribute that promises properties of its operands' values, which other values may
    lack.
    """
    promises = ("indices_are_sorted", "unique_indices")
    return any(i.attributes.get(name) for c in module.computations for i in c.instructions for name in promises)


def _run_again(
    client: Client,
    executable: LoadedExecutable,
    placed: Placed,
    device: int,
    deterministic: bool,
    times: int,
    between: Callable[[int], object],
) -> list[np.ndarray]:
    places = [[client.buffer_from_host(a, device) for a in placed.arguments] for _ in range(2 if times else 1)]
    made = []
    for number in range(times or (1 if _is_large(placed) else 4)):
        between(number)
        made.append([np.array(r) for r in executable.execute(places[number % len(places)])])
    first, *others = made
    for buffers in places:
        _require_kept(buffers, placed)
    for results in others if deterministic else ():
        _require_same(results, first, placed)
    return first


def _is_large(placed: Placed) -> bool:
    """Whether executions take more time than comparing their results."""
    return sum(a.size for a in placed.arguments) > _SMALL


def _run_after(
    client: Client, executable: LoadedExecutable, placed: Placed, device: int, before: Before
) -> list[np.ndarray]:
    """Executes a module with other arguments, whose memory it frees, and then with its own."""
    buffers = [client.buffer_from_host(a, device) for a in moved_arguments(placed, int(before == "alike"))]
    for buffer in [*executable.execute(buffers), *buffers]:
        buffer.block_until_ready()
        buffer.delete()
    return _run_once(client, executable, placed, device)


def _run_once(client: Client, executable: LoadedExecutable, placed: Placed, device: int) -> list[np.ndarray]:
    buffers = [client.buffer_from_host(a, device) for a in placed.arguments]
    results = [np.array(r) for r in executable.execute(buffers)]
    _require_kept(buffers, placed)
    return results


def moved_arguments(placed: Placed, kept: int = 0) -> list[np.ndarray]:
    """Returns the arguments with their elements at other places, but for the first `kept` ones of each.

    They stay where they are if an instruction promises something of them.
    """
    if _has_promises(placed.module):
        return placed.arguments
    return [_moved(array, kept) for array in placed.arguments]


def _moved(array: np.ndarray, kept: int) -> np.ndarray:
    """Returns the array with each element in the next one's place, but for the first `kept` ones. Scalars stay."""
    flat = array.reshape(-1)
    return np.concatenate([flat[:kept], np.roll(flat[kept:], 1)]).reshape(array.shape)


def _run_by_contract(bench: ExecutableBench, placed: Placed, first: Sequence[np.ndarray] | None) -> None:
    """Executes a module on memory whose end has a pattern. The results must be the `first` ones, if there are any."""
    results = bench.results_of(placed.arguments)
    if bench.stream.error is not None:
        raise bench.stream.error
    if not bench.allocator.canaries_live():
        raise Failure(
            "A kernel writes only to its results, but bytes behind a block of memory changed.",
            promise="executable.arguments-kept",
            module=placed.module,
            arguments=placed.arguments,
        )
    if first is not None:
        _require_same(results, first, placed)


def _require_same(results: Sequence[np.ndarray], first: Sequence[np.ndarray], placed: Placed) -> None:
    require_bits(
        "A second execution with the same arguments gives the same results.",
        results,
        first,
        module=placed.module,
        arguments=placed.arguments,
        promise="executable.equal-runs",
    )


def _require_kept(buffers: Sequence[Buffer], placed: Placed) -> None:
    require_bits(
        "An execution leaves its arguments as they are.",
        [np.array(b) for b in buffers],
        placed.arguments,
        module=placed.module,
        arguments=placed.arguments,
        promise="executable.arguments-kept",
    )
