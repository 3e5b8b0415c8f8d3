"""What a program hands to the host while it runs: operands of the ops that look at values inside its control flow.

A custom call hands them over, so they are what the backend computed, as often as it ran there. The calls are chained by
a number that each increases: they keep the order of the program through whatever the compiler makes of it.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from xla_core.hlo import EvaluationContext, HloInstruction, register_custom_call
from xla_core.stablehlo import Op, TensorType, Value

__all__ = ["ORDER", "Event", "Recording"]

ORDER = TensorType((), "i32")
"""The type of the number that chains the calls."""

_TARGET = "xla_conformance.record"


class Event(NamedTuple):
    """An op ran, on these values of its operands."""

    op: Op
    arrays: Sequence[np.ndarray]


class Recording:
    """Events of the runs of one test, by stage: a run in parallel is a stage between those of what stands around it."""

    def __init__(self) -> None:
        self.stage = 0
        self._sites: list[tuple[int, Op]] = []
        self._made: list[tuple[int, Event]] = []
        self._number = next(_numbers)
        _open[self._number] = self

    def site(self, op: Op) -> int:
        """A place in the program, in the stage that it is in, for `record`."""
        self._sites.append((self.stage, op))
        return len(self._sites) - 1

    def record(self, site: int, arrays: Sequence[np.ndarray]) -> None:
        stage, op = self._sites[site]
        self._made.append((stage, Event(op, arrays)))

    def call(self, op: Op, order: Value) -> Op:
        """The custom call that records `op` when it runs; its result is the order after it."""
        attributes = {
            "call_target_name": _TARGET,
            "has_side_effect": True,
            "backend_config": f"{self._number}:{self.site(op)}",
        }
        return Op("stablehlo.custom_call", [order, *op.operands], [ORDER], attributes, location=op.location)

    def events(self) -> list[Event]:
        """In the order that they happened; those of several devices in the order that they came."""
        return [event for _, event in sorted(self._made, key=lambda made: made[0])]


_numbers = itertools.count()
_open: weakref.WeakValueDictionary[int, Recording] = weakref.WeakValueDictionary()


@register_custom_call(_TARGET)
def _record(context: EvaluationContext, instruction: HloInstruction, values: list[Any]) -> np.ndarray:
    number, site = map(int, str(instruction.attribute("backend_config")).split(":"))
    order, *operands = values
    recording = _open.get(number)
    if recording is not None:
        recording.record(site, [np.array(value) for value in operands])
    return np.asarray(order + np.int32(1), np.int32)
