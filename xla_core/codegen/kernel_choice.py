"""KernelChoice: the part of an instruction's `backend_config` that plans its kernel."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from xla_core.checked_model import CheckedModel
from xla_core.errors import InvalidArgumentError
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.backend_config import read_backend_config
from xla_core.hlo.table.opcode import Opcode
from xla_core.target import ParallelModel

KEY = "kernel_plan"
"""The entry of `backend_config`, as in `backend_config={"kernel_plan":{"form":"row teams","threads":256}}`."""

_HARD_LIMITS = {"threads": "threads", "vector_bytes": "vector_bytes", "shared_bytes": "most_shared_bytes"}
"""The figures of a choice -> the figures of the target that they must not exceed."""


class KernelChoice(CheckedModel):
    """Replaces figures of the target's `ParallelModel` while one kernel is planned.

    A form decides its sizes from the model, so a smaller or larger figure gives another plan that computes the same.

    Attributes:
        form: the name of the form that writes the kernel; by default the first that has a plan.
        units, threads, registers, vector_bytes, resident_threads: see `ParallelModel`; None keeps the target's.
        shared_bytes: the most memory that the threads of a block share, whether or not its launch must ask for it.
    """

    form: str = ""
    units: int | None = Field(default=None, ge=1)
    threads: int | None = Field(default=None, ge=1)
    registers: int | None = Field(default=None, ge=1)
    vector_bytes: int | None = Field(default=None, ge=1)
    shared_bytes: int | None = Field(default=None, ge=0)
    resident_threads: int | None = Field(default=None, ge=0)

    @classmethod
    def of(cls, instruction: HloInstruction) -> KernelChoice:
        """Returns the choice in an instruction's `backend_config`, or an empty one, which leaves the plan to the rule.

        The `backend_config` of a custom call has no choice, and other entries are ignored.

        Raises:
            InvalidArgumentError: the entry has an unknown field or a wrong value; the error names the instruction.
        """
        found = _config(instruction).get(KEY)
        if found is None:
            return cls()
        try:
            if not isinstance(found, Mapping):
                raise InvalidArgumentError(f"{KEY} is {found!r}, not a dictionary")
            return cls(**found)
        except InvalidArgumentError as error:
            raise _refused(instruction, error.message, error.hint) from error

    def applied(self, model: ParallelModel, instruction: HloInstruction) -> ParallelModel:
        """Returns the target's model with the figures of this choice.

        Raises:
            InvalidArgumentError: a figure exceeds what the target has.
        """
        targets = {name: _HARD_LIMITS.get(name, name) for name in self.figures}
        figures = {name: value for name, value in self.figures.items() if value != getattr(model, targets[name])}
        for name, limit in _HARD_LIMITS.items():
            if figures.get(name, 0) > getattr(model, limit):
                message = f"{KEY} asks for {name}={figures[name]}, but the target has {getattr(model, limit)}"
                raise _refused(instruction, message, "choose no more than the target has")
        if figures.get("threads", model.lanes) % model.lanes:
            message = f"{KEY} asks for threads={figures['threads']}, which is no multiple of the {model.lanes} lanes"
            raise _refused(instruction, message, f"choose a multiple of {model.lanes}")
        if "shared_bytes" in figures:
            figures["launch_shared_bytes"] = min(figures["shared_bytes"], model.launch_shared_bytes)
            figures["shared_bytes"] = min(figures["shared_bytes"], model.shared_bytes)
        return model.model_copy(update=figures) if figures else model

    @property
    def figures(self) -> dict[str, int]:
        """The figures that replace the target's."""
        return {name: value for name, value in self if name != "form" and value is not None}

    def record(self, instruction: HloInstruction) -> None:
        """Writes the choice to the instruction's `backend_config`, and keeps the other entries."""
        config = {key: value for key, value in _config(instruction).items() if key != KEY}
        chosen = self.model_dump(exclude_defaults=True)
        if chosen:
            config[KEY] = chosen
        instruction.attributes["backend_config"] = json.dumps(config, separators=(",", ":")) if config else ""


def _config(instruction: HloInstruction) -> dict[str, Any]:
    text = instruction.attribute("backend_config")
    if not text or instruction.opcode == Opcode.CUSTOM_CALL:
        return {}
    return read_backend_config(text) or {}


def _refused(instruction: HloInstruction, message: str, hint: str | None) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{instruction.name}: {message}", op=instruction.opcode, location=instruction.location, hint=hint
    )
