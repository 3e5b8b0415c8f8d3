"""FfiCallSite: one custom call of a program, which calls a handler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.ffi.attributes import make_attributes
from xla_core.ffi.call_frame import CallFrame
from xla_core.ffi.objects import States, take_error, wait_for_future
from xla_core.ffi.structures import Stage
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.backend_config import read_typed_attributes

_OF_A_CALL = (Stage.PREPARE, Stage.INITIALIZE, Stage.EXECUTE)


class FfiCallSite:
    """One custom call of a loaded program. Threads may run it at the same time.

    Args:
        stages: the functions of the handler by stage.
        instruction: the custom call.

    Raises:
        InvalidArgumentError: an attribute has no form in XLA's FFI.
        XlaError: the handler's function for the stage instantiate failed.
    """

    def __init__(self, stages: Mapping[Stage, Any], instruction: HloInstruction) -> None:
        self._stages, self._instruction = stages, instruction
        self._target = instruction.attribute("custom_call_target")
        self._states = States()
        self._keep: list[Any] = []
        self._operands = [leaf for operand in instruction.operands for leaf in operand.shape.leaves()]
        self._results = list(instruction.shape.leaves())
        self._attributes = self._make_attributes()
        self._frames: list[CallFrame] = []  # those that no call is using
        if Stage.INSTANTIATE in stages:
            frame = CallFrame((), (), self._attributes, self._states)
            self._call(frame, Stage.INSTANTIATE)

    def run(self, operands: Sequence[int], results: Sequence[int], *, device_ordinal: int = 0, run_id: int = 0) -> None:
        """Calls the handler and waits for its end.

        Args:
            operands, results: the addresses of the arrays in the host's memory, with the layouts of the custom call.
            device_ordinal: the number of the device that runs the program.
            run_id: the number of the execution, which devices that run it together share.

        Raises:
            XlaError: the handler's error, with the location of the custom call.
        """
        frame = self._frames.pop() if self._frames else self._new_frame()
        try:
            frame.begin(operands, results, device_ordinal, run_id)
            for stage in _OF_A_CALL:
                if stage in self._stages:
                    self._call(frame, stage)
        finally:
            frame.context.memory.clear()
            self._frames.append(frame)

    def run_on_arrays(self, operands: Sequence[np.ndarray], results: Sequence[np.ndarray], **options: int) -> None:
        """Calls the handler with numpy arrays, which must have the layouts of the custom call."""
        self.run([array.ctypes.data for array in operands], [array.ctypes.data for array in results], **options)

    def _new_frame(self) -> CallFrame:
        return CallFrame(self._operands, self._results, self._attributes, self._states)

    def _call(self, frame: CallFrame, stage: Stage) -> None:
        error_pointer, future = frame.call(self._stages[stage], stage)
        error = take_error(error_pointer) or wait_for_future(future)
        if error is not None:
            error.message = f"custom call {self._target!r} failed: {error.message}"
            error.op, error.location = self._instruction.opcode, self._instruction.location
            raise error

    def _make_attributes(self) -> Any:
        call = self._instruction
        text = call.attribute("backend_config") or ""
        values = read_typed_attributes(text)
        try:
            if values is None:
                raise InvalidArgumentError(
                    f"backend_config is not a dictionary of attributes that XLA's FFI can pass: {text[:200]}",
                    hint="a handler needs api_version = 4 and a dictionary, as jax.ffi.ffi_call writes",
                )
            return make_attributes(values, self._keep)
        except InvalidArgumentError as error:
            error.op, error.location = call.opcode, call.location
            raise
