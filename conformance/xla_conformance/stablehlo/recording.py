"""Records the values that instruments look at while a program runs, also inside its control flow.

A custom call passes the values to the host, so they are those that the backend computed, once for each execution. Each
call takes a number and returns it increased; that keeps the calls in the program's order.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from xla_core.hlo import EvaluationContext, HloInstruction, register_custom_call
from xla_core.stablehlo import Op, TensorType, Value

ORDER = TensorType((), "i32")
"""The type of the number that chains the calls."""

_TARGET = "xla_conformance.record"


class Event(NamedTuple):
    """One execution of an op, with the values of its operands."""

    op: Op
    arrays: Sequence[np.ndarray]


class Recording:
    """The events of one test, by stage. A parallel run is a stage between those of the ops around it."""

    def __init__(self) -> None:
        self.stage = 0
        self._sites: list[tuple[int, Op]] = []
        self._made: list[tuple[int, Event]] = []
        self._number = next(_numbers)
        _open[self._number] = self

    def site(self, op: Op) -> int:
        """A number for a place in the program and its stage, for `record`."""
        self._sites.append((self.stage, op))
        return len(self._sites) - 1

    def record(self, site: int, arrays: Sequence[np.ndarray]) -> None:
        stage, op = self._sites[site]
        self._made.append((stage, Event(op, arrays)))

    def call(self, op: Op, order: Value) -> Op:
        """The custom call that records `op`; its result is the order after it."""
        attributes = {
            "call_target_name": _TARGET,
            "has_side_effect": True,
            "backend_config": f"{self._number}:{self.site(op)}",
        }
        return Op("stablehlo.custom_call", [order, *op.operands], [ORDER], attributes, location=op.location)

    def events(self) -> list[Event]:
        """The events in the order in which they arrived."""
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
