"""CompileOptions: the options of one compilation."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator

from xla_core.checked_model import CheckedModel

__all__ = ["BackendOptions", "CompileOptions"]


class BackendOptions(CheckedModel):
    """The base class of a backend's own options, named in `BackendSpec.options`. Unknown names are errors."""

    @classmethod
    def _beside(cls) -> type[BaseModel]:
        """`xla run --set` accepts the fields of both models"""
        return CompileOptions


class CompileOptions(CheckedModel):
    """Options of one compilation. Apart from `backend`, they are the same for every backend.

    Attributes:
        num_replicas, num_partitions: None takes what the program says.
        device_assignment: device ids, one row a replica, one column a partition; None takes the first ones.
        donate: parameter numbers whose arguments are donated in place of what the program says; None leaves it to the
            program, () donates nothing.
        static_arguments: parameter numbers whose values, integers, are known when the program is compiled: sizes may
            follow from them, and each value is one more compilation.
        max_specializations: how many signatures of a program with dynamic shapes stay compiled; then the least recently
            called one is dropped.
        fallback: "host" runs what the device can't do on the host, with a backend that can (`Compiler.host_fallback`);
            "none" makes that an error.
        precision: "default" leaves it to each instruction's own precision; "fast" allows reassociation and approximate
            functions.
        optimization_level: 0 only what is needed to run, 1 cheap passes, 2 everything.
        use_entry_layouts: the layouts of the program's entry are binding; otherwise the compiler chooses.
        dump_to: a directory for dumps; None leaves it to the flags.
        keep_artifacts: keep what the compiler makes on the way (LLVM IR, assembly, ...) for `Executable.artifacts`.
        backend: the backend's own options, an instance of its `BackendSpec.options` or a mapping for it.
        name: the program's name in dumps and profiles; "" takes the module's.
    """

    num_replicas: int | None = Field(default=None, ge=1)
    num_partitions: int | None = Field(default=None, ge=1)
    device_assignment: tuple[tuple[int, ...], ...] | None = None
    donate: tuple[int, ...] | None = None
    static_arguments: tuple[int, ...] = ()
    max_specializations: int = Field(default=64, ge=1)
    fallback: Literal["none", "host"] = "none"
    precision: Literal["default", "fast"] = "default"
    optimization_level: int = Field(default=2, ge=0, le=2)
    use_entry_layouts: bool = False
    dump_to: str | None = None
    keep_artifacts: bool = False
    backend: Any = Field(default_factory=dict)
    name: str = ""

    @model_validator(mode="after")
    def _assignment_is_a_grid(self) -> CompileOptions:
        rows = self.device_assignment
        if rows is not None and len({len(row) for row in rows}) != 1:
            raise ValueError("device_assignment must have one row a replica, all of the same length")
        return self
