"""What each member of the contract that answers may say: its type, and what must hold of it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xla_conformance.answers.subject import BYTES, Subject
from xla_core.backend import (
    Compiler,
    DeviceFeatures,
    ExecutableMemoryStats,
    LiteralQueue,
    NativeEntry,
    TransferManager,
)
from xla_core.backend.executable import CompilationReport
from xla_core.errors import XlaError
from xla_core.hlo import HloModule, Shape
from xla_core.target import DeviceDescription, TargetConfig

Holds = Mapping[str, Callable[[Subject, Any], bool]]
"""Sentences that must be true of an answer."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """How a member is asked, and what may be said.

    Attributes:
        read: asks it.
        kind: the types of its answers.
        holds: what is true of each answer.
        is_same: whether two answers are equal, in any state; else they are only of the type, and true.
    """

    read: Callable[[Subject], Any]
    kind: type | tuple[type, ...]
    holds: Holds = dataclasses.field(default_factory=dict)
    is_same: bool = True


_NOT_NEGATIVE: Holds = {"It is not negative.": lambda _, value: math.isfinite(value) and value >= 0}
_NOT_EMPTY: Holds = {"It is not empty.": lambda _, value: len(value) > 0}


def _size(s: Subject, shapes: Sequence[Shape]) -> int:
    return sum(s.compiler.shape_size_bytes(shape) for shape in shapes)


def _elements_fit(s: Subject, sizes: Sequence[int]) -> bool:
    """Whether each array has its elements' bytes at least, and not many times as many."""
    least = [-(-shape.num_elements * shape.element_type.bit_width // 8) for shape in s.shapes]
    return all(low <= size <= 64 * low + 65536 for low, size in zip(least, sizes, strict=True))


def _are_mine(s: Subject, arrays: Sequence[np.ndarray]) -> bool:
    return all(np.array_equal(got, own) and got.dtype == own.dtype for got, own in zip(arrays, s.arrays(), strict=True))


def _bytes_of(s: Subject) -> list[np.ndarray]:
    """The arrays of a subject in the device's format."""
    shapes = [s.manager.device_shape(shape) for shape in s.shapes]
    return [np.asarray(s.manager.to_device(a, shape)) for a, shape in zip(s.arrays(), shapes, strict=True)]


def _back(s: Subject) -> list[np.ndarray]:
    data = [d.reshape(-1).view(np.uint8) for d in _bytes_of(s)]
    return [s.manager.from_device(d, s.manager.device_shape(shape)) for d, shape in zip(data, s.shapes, strict=True)]


_PLATFORM: Mapping[str, Answer] = {
    "name": Answer(lambda s: s.platform.name, str, _NOT_EMPTY),
    "device_count_flag": Answer(lambda s: s.platform.device_count_flag, str),
    "exclusive": Answer(lambda s: s.platform.exclusive, bool),
    "visible_device_count": Answer(
        lambda s: s.platform.visible_device_count(),
        int,
        {"As many devices are visible as a client has.": lambda s, count: count == len(s.client.devices)},
    ),
    "compiler": Answer(lambda s: s.platform.compiler, Compiler),
    "transfer_manager": Answer(lambda s: s.platform.transfer_manager, TransferManager),
    "executor": Answer(
        lambda s: [s.platform.executor(d.local_ordinal) for d in s.client.devices],
        list,
        {"Each device has one of its own.": lambda s, executors: len({id(e) for e in executors}) == len(executors)},
    ),
}
_COMPILER: Mapping[str, Answer] = {
    "host_fallback": Answer(lambda s: s.compiler.host_fallback, bool),
    "target_config": Answer(
        lambda s: s.compiler.target_config,
        TargetConfig,
        {
            "Its device is described as the executor does, or isn't known.": lambda s, target: (
                target.device.name == "unknown" or target.device.simulated == s.executor.description.simulated
            ),
        },
    ),
    "hlo_stages": Answer(lambda s: sorted(s.compiler.hlo_stages(s.options)), list),
    "shape_size_bytes": Answer(
        lambda s: [s.compiler.shape_size_bytes(shape) for shape in s.shapes],
        list,
        {
            "Each array has the bytes of its elements.": _elements_fit,
            "They are the target's.": lambda s, sizes: (
                sizes == [s.compiler.target_config.shape_size_bytes(shape) for shape in s.shapes]
            ),
        },
    ),
    "fingerprint": Answer(lambda s: s.compiler.fingerprint(), str),
}
_EXECUTABLE: Mapping[str, Answer] = {
    "target_config": Answer(
        lambda s: s.executable.target_config,
        TargetConfig,
        {"It is the compiler's.": lambda s, target: target == s.compiler.target_config},
    ),
    "module": Answer(lambda s: s.executable.module, HloModule),
    "report": Answer(
        lambda s: dataclasses.asdict(s.executable.report),
        dict,
        {"It is a CompilationReport.": lambda s, _: isinstance(s.executable.report, CompilationReport)},
    ),
    "parameter_shapes": Answer(lambda s: s.executable.parameter_shapes, tuple, _NOT_EMPTY),
    "result_shapes": Answer(lambda s: s.executable.result_shapes, tuple, _NOT_EMPTY),
    "native_entry": Answer(lambda s: s.executable.native_entry(), (NativeEntry, type(None)), is_same=False),
    "serialize": Answer(lambda s: s.executable.serialize(), bytes, _NOT_EMPTY, is_same=False),
    "fingerprint": Answer(lambda s: s.executable.fingerprint(), str, _NOT_EMPTY),
    "cost_analysis": Answer(
        lambda s: s.executable.cost_analysis(),
        Mapping,
        {
            "Its names are texts, and its numbers are not negative.": lambda _, costs: all(
                isinstance(name, str) and math.isfinite(value) and value >= 0 for name, value in costs.items()
            ),
            "It has flops and bytes.": lambda _, costs: {"flops", "transcendentals", "bytes accessed"} <= set(costs),
        },
    ),
    "placement": Answer(lambda s: s.executable.placement(), Sequence),
    "memory_stats": Answer(
        lambda s: s.executable.memory_stats(),
        ExecutableMemoryStats,
        {
            "Its figures are integers and not negative.": lambda _, stats: all(
                isinstance(n, int) and n >= 0 for n in dataclasses.asdict(stats).values()
            ),
            "Arguments and results have the sizes of their shapes.": lambda s, stats: (
                (stats.argument_bytes, stats.output_bytes)
                == (_size(s, s.executable.parameter_shapes), _size(s, s.executable.result_shapes))
            ),
            "It has the temporaries of the report at least.": lambda s, stats: (
                stats.temp_bytes >= s.executable.report.temp_bytes
            ),
        },
    ),
    "artifacts": Answer(
        lambda s: s.executable.artifacts(),
        Mapping,
        {"It has the optimized module.": lambda s, found: found.get("hlo") == s.executable.as_text()},
    ),
    "as_text": Answer(
        lambda s: s.executable.as_text(),
        str,
        {"It is the module's text.": lambda s, text: text == s.executable.module.to_text()},
    ),
}
_MANAGER: Mapping[str, Answer] = {
    "target_config": Answer(
        lambda s: s.manager.target_config,
        TargetConfig,
        {"It is the compiler's.": lambda s, target: target == s.compiler.target_config},
    ),
    "device_shape": Answer(
        lambda s: [s.manager.device_shape(shape) for shape in s.shapes],
        list,
        {
            "Each shape is the same, with a layout.": lambda s, shapes: all(
                got.layout is not None and got.without_layout() == own
                for got, own in zip(shapes, s.shapes, strict=True)
            ),
        },
    ),
    "byte_size": Answer(
        lambda s: [s.manager.byte_size(shape) for shape in s.shapes],
        list,
        {
            "They are the compiler's sizes.": lambda s, sizes: (
                sizes == [s.compiler.shape_size_bytes(shape) for shape in s.shapes]
            )
        },
    ),
    "to_device": Answer(
        lambda s: [d.tobytes() for d in _bytes_of(s)],
        list,
        {
            "Each array has the bytes of its shape on the device.": lambda s, data: (
                [len(d) for d in data] == [s.manager.byte_size(shape) for shape in s.shapes]
            )
        },
    ),
    "from_device": Answer(_back, list, {"What goes to the device comes back.": _are_mine}, is_same=False),
    "infeed": Answer(
        lambda s: s.manager.infeed(0),
        LiteralQueue,
        {"It isn't the outfeed.": lambda s, queue: queue is not s.manager.outfeed(0)},
    ),
    "outfeed": Answer(lambda s: s.manager.outfeed(0), LiteralQueue),
}
_QUEUE: Mapping[str, Answer] = {"name": Answer(lambda s: s.manager.infeed(0).name, str, _NOT_EMPTY)}


def _addresses(s: Subject) -> list[int | None]:
    memories = [s.memory, s.other_memory]
    if s.executor.features.memory_slices:
        memories.append(s.memory.slice(64, 128))
    return [s.executor.address(memory) for memory in memories]


def _are_apart(s: Subject, addresses: Sequence[int | None]) -> bool:
    """Whether two blocks are apart, and a slice is at its offset."""
    first, second, *slices = addresses
    if first is None or second is None:
        return addresses == [None] * len(addresses)
    return abs(first - second) >= BYTES and all(part == first + 64 for part in slices)


def _views(s: Subject) -> list[tuple[int, bool, str] | None]:
    found = [s.executor.host_view(memory) for memory in (s.memory, s.other_memory)]
    return [None if view is None else (view.nbytes, view.readonly, view.format) for view in found]


_EXECUTOR: Mapping[str, Answer] = {
    "features": Answer(lambda s: s.executor.features, DeviceFeatures),
    "ordinal": Answer(
        lambda s: [s.platform.executor(d.local_ordinal).ordinal for d in s.client.devices],
        list,
        {"Ordinals count from 0.": lambda _, ordinals: ordinals == list(range(len(ordinals)))},
    ),
    "device_name": Answer(
        lambda s: s.executor.device_name,
        str,
        {"It is the platform's name and the ordinal.": lambda s, name: name == f"{s.platform.name}:0"},
    ),
    "description": Answer(lambda s: s.executor.description, DeviceDescription),
    "host_view": Answer(
        _views,
        list,
        {
            "A view has all bytes of the memory, and may be written to.": lambda s, views: all(
                view is None or (view[0] >= BYTES and not view[1]) for view in views
            ),
            "There is one if the device declares `host_addressable`, and none else.": lambda s, views: all(
                (view is not None) == s.executor.features.host_addressable for view in views
            ),
        },
    ),
    "address": Answer(_addresses, list, {"Blocks of memory are apart, and a slice is at its offset.": _are_apart}),
    "dlpack_device_type": Answer(
        lambda s: s.executor.dlpack_device_type,
        int,
        {
            "It is 0 where there are no addresses, and only there.": lambda s, kind: (
                (kind == 0) == (s.executor.address(s.memory) is None)
            )
        },
    ),
}
_DESCRIPTION_HOLDS: Mapping[str, tuple[type | tuple[type, ...], Holds]] = {
    "name": (str, _NOT_EMPTY),
    "vendor": (str, {}),
    "memory_bytes": (int, {"It has memory, or 0 says that it isn't known.": lambda _, size: size == 0 or size > BYTES}),
    "memory_bandwidth": ((int, float), _NOT_NEGATIVE),
    "core_count": (int, {"It has a core.": lambda _, count: count >= 1}),
    "clock_hz": ((int, float), _NOT_NEGATIVE),
    "vector_bytes": (int, _NOT_NEGATIVE),
    "lanes": (int, {"It has a lane.": lambda _, count: count >= 1}),
    "caches": (tuple, {}),
    "scratch_bytes": (int, _NOT_NEGATIVE),
    "peak_flops": (
        Mapping,
        {"Its numbers are not negative.": lambda _, peaks: all(math.isfinite(n) and n >= 0 for n in peaks.values())},
    ),
    "simulated": (bool, {}),
    "attributes": (
        Mapping,
        {"They are texts.": lambda _, found: all(isinstance(t, str) for item in found.items() for t in item)},
    ),
}


def _field(of: Callable[[Subject], Any], name: str) -> Callable[[Subject], Any]:
    return lambda s: getattr(of(s), name)


_DESCRIPTION = {
    name: Answer(_field(lambda s: s.executor.description, name), kind, holds)
    for name, (kind, holds) in _DESCRIPTION_HOLDS.items()
}
_FEATURES = {
    field.name: Answer(_field(lambda s: s.executor.features, field.name), bool)
    for field in dataclasses.fields(DeviceFeatures)
}
_REPORT = {
    field.name: Answer(
        _field(lambda s: s.executable.report, field.name),
        dict if "dict" in str(field.type) else (int, float),
        {} if "dict" in str(field.type) else _NOT_NEGATIVE,
    )
    for field in dataclasses.fields(CompilationReport)
}
_STATS = {
    name: Answer(_field(lambda s: s.executable.memory_stats(), name), int, _NOT_NEGATIVE)
    for name in (*(field.name for field in dataclasses.fields(ExecutableMemoryStats)), "peak_bytes")
}
_STREAM: Mapping[str, Answer] = {
    "name": Answer(lambda s: s.stream.name, str),
    "error": Answer(
        lambda s: s.stream.error,
        (XlaError, type(None)),
        {"A stream that works has none.": lambda _, error: error is None},
    ),
}
_EVENT: Mapping[str, Answer] = {
    "ready": Answer(
        lambda s: s.event.ready, bool, {"An event that was never recorded is ready.": lambda _, ready: ready}
    ),
    "error": Answer(
        lambda s: s.event.error,
        (XlaError, type(None)),
        {"An event that was never recorded has none.": lambda _, error: error is None},
    ),
}
_MEMORY: Mapping[str, Answer] = {
    "handle": Answer(lambda s: s.memory.handle, object),
    "size": Answer(lambda s: s.memory.size, int, {"It is the size that was asked for.": lambda _, n: n >= BYTES}),
    "offset": Answer(lambda s: s.memory.offset, int, {"A whole allocation begins at 0.": lambda _, at: at == 0}),
    "memory_space": Answer(lambda s: s.memory.memory_space, int, {"It is the default.": lambda _, n: n == 0}),
    "base": Answer(lambda s: s.memory.base, object, {"A whole allocation has no base.": lambda _, b: b is None}),
    "slice": Answer(
        lambda s: [(p.size, p.offset, p.base is s.memory) for p in (s.memory.slice(64, 128).slice(8, 16),)],
        list,
        {"It has its size and offset, and keeps its allocation.": lambda _, found: found == [(16, 72, True)]},
    ),
}

ANSWERS: Mapping[str, Mapping[str, Answer]] = {
    "Platform": _PLATFORM,
    "Compiler": _COMPILER,
    "Executable": _EXECUTABLE,
    "CompilationReport": _REPORT,
    "ExecutableMemoryStats": _STATS,
    "TransferManager": _MANAGER,
    "LiteralQueue": _QUEUE,
    "StreamExecutor": _EXECUTOR,
    "DeviceFeatures": _FEATURES,
    "DeviceDescription": _DESCRIPTION,
    "Stream": _STREAM,
    "Event": _EVENT,
    "DeviceMemory": _MEMORY,
}
"""The answers of each class's members."""
