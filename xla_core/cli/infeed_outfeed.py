"""Transfers values to a program's infeed and from its outfeed, for `xla run`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xla_core.cli import programs
from xla_core.errors import CancelledError, InvalidArgumentError

if TYPE_CHECKING:
    import numpy as np

    import xla_core as xla
    from xla_core.hlo import HloInstruction, HloModule

_HINT = "pass each value: `xla run --infeed VALUE.npy` (.npz for a tuple); in Python client.transfer_to_infeed"


def has_infeed(program: bytes) -> bool:
    """Whether a program may have infeed ops. Both text and bytecode contain the names of their ops."""
    return b"infeed" in program


def load_infeed(module: HloModule, paths: Sequence[Path]) -> list[Any]:
    """Reads one value of each file: an array from a .npy, a tuple of arrays from a .npz.

    Raises:
        InvalidArgumentError: there are fewer values than the program always reads, or more than it can read.
    """
    from xla_core.hlo.table.opcode import Opcode

    ops = [i for c in module.post_order() for i in c.post_order() if i.opcode == Opcode.INFEED]
    at_least = _always(module) if paths else ops  # without any value, ops that may not run count too
    if len(paths) < len(at_least):
        op, has = at_least[len(paths)], _count(len(paths))
        raise InvalidArgumentError(
            f"the program reads {op.shape.tuple_shapes[0].without_layout()} from its infeed, which was given {has}",
            op="infeed",
            location=op.location,
            hint=_HINT,
        )
    if len(paths) > len(ops) and len(at_least) == len(ops):
        raise InvalidArgumentError(f"--infeed gives {_count(len(paths))}, but the program reads {len(ops)}")
    values_given: list[Any] = []
    for number, path in enumerate(paths):
        leaves = list(ops[min(number, len(ops) - 1)].shape.tuple_shapes[0].leaves())
        arrays = programs.load_arrays([path])  # the op that reads a value checks its shape
        for place, (array, leaf) in enumerate(zip(arrays, leaves, strict=False)):
            if array.dtype.kind == "V" and array.dtype.itemsize == leaf.dtype.itemsize:
                arrays[place] = array.view(leaf.dtype)  # .npy files don't store the types of ml_dtypes
        values_given.append(tuple(arrays) if path.suffix == ".npz" else arrays[0])
    return values_given


def _count(values: int) -> str:
    return "1 value" if values == 1 else f"{values or 'no'} values"


def _always(module: HloModule) -> list[HloInstruction]:
    """The infeed ops that run exactly once: those of the entry computation, in order."""
    from xla_core.hlo.table.opcode import Opcode

    return [i for i in module.entry.post_order() if i.opcode == Opcode.INFEED]


def transfer_to_infeed(executable: xla.LoadedExecutable, values: Sequence[Any]) -> None:
    """Transfers the values to each device and closes the infeeds, so that reading another value fails."""
    for device in executable.devices:
        for value in values:
            device.transfer_to_infeed(value)
        device.platform.transfer_manager.infeed(device.local_ordinal).close()


def infeed_exhausted(count: int, error: CancelledError) -> InvalidArgumentError:
    """The error of a program that read more than `count` values."""
    return InvalidArgumentError(
        f"the program reads more than the {count} values that its infeed was given",
        op="infeed",
        location=error.location,
        hint=_HINT,
    )


def read_outfeed(executable: xla.LoadedExecutable) -> list[dict[str, np.ndarray]]:
    """The values that each device wrote, by name: value n is "n", the elements of a tuple are "n.0", "n.1" and on."""
    rows = []
    for device in executable.devices:
        queue = device.platform.transfer_manager.outfeed(device.local_ordinal)
        rows.append(named_arrays([device.transfer_from_outfeed() for _ in range(len(queue))]))
    return rows


def named_arrays(values: Sequence[Any]) -> dict[str, np.ndarray]:
    """The arrays of the values, with the names that `read_outfeed` describes."""

    def leaves(name: str, value: Any) -> Iterator[tuple[str, np.ndarray]]:
        if not isinstance(value, tuple):
            yield name, value
            return
        for number, element in enumerate(value):
            yield from leaves(f"{name}.{number}", element)

    return dict(leaf for number, value in enumerate(values) for leaf in leaves(str(number), value))
