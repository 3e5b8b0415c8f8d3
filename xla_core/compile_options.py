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
        num_replicas, num_partitions: the counts of devices; None takes the program's own.
        device_assignment: device ids, one row for each replica, one column for each partition; None takes the first
            devices.
        donate: numbers of the parameters whose arguments are donated, in place of the program's own; None keeps the
            program's choice, () donates nothing.
        static_arguments: numbers of the parameters whose values are integers known at compile time. Sizes may depend on
            them, and each value needs a compilation of its own.
        max_specializations: how many specializations of a program with dynamic shapes stay compiled. Beyond that, the
            least
            recently called one is dropped.
        fallback: "host" runs ops that the device can't run on the host, if the backend can do that
            (`Compiler.host_fallback`); "none" makes such ops an error.
        precision: "default" uses each instruction's own precision; "fast" allows reassociation and approximate
            functions.
        optimization_level: 0 runs only required passes, 1 adds cheap passes, 2 runs everything.
        use_entry_layouts: whether the layouts of the program's entry are binding; otherwise the compiler chooses.
        dump_to: a directory for dumps; None leaves dumping to the flags.
        keep_artifacts: keep intermediate results of the compiler (LLVM IR, assembly, ...) for `Executable.artifacts`.
        backend: the backend's own options, an instance of its `BackendSpec.options` or a mapping for it.
        name: the program's name in dumps and profiles; "" takes the module's name.
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
