"""CompileOptions: the options of one compilation."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator

from xla_core.checked_model import CheckedModel


class BackendOptions(CheckedModel):
    """The base class of a backend's own options, named in `BackendSpec.options`. Unknown names are errors."""

    @classmethod
    def _beside(cls) -> type[BaseModel]:
        """`xla run --set` accepts the fields of both models"""
        return CompileOptions


class CompileOptions(CheckedModel):
    """Options of one compilation. Apart from `backend`, they are the same for every backend.

    Attributes:
        num_replicas, num_partitions: None takes the program's own numbers.
        device_assignment: device ids, a row for each replica, a column for each partition; None takes the first ones.
        donate: numbers of the parameters whose arguments are donated; None takes the program's own choice.
        static_arguments: numbers of integer parameters whose values are compiled into the program, so that sizes can
            depend on them. Each new value is compiled anew.
        max_specializations: how many compilations of a program with dynamic shapes are kept. The least recently called
            one is dropped first.
        fallback: "host" runs unsupported instructions on the host if the backend can (`Compiler.host_fallback`); with
            "none" they are an error.
        precision: "default" is each instruction's own; "fast" allows reassociation and approximate functions.
        optimization_level: 0 runs only the passes that a program needs, 1 also cheap ones, 2 all.
        use_entry_layouts: keeps the layouts of the program's entry. Otherwise the compiler chooses them.
        dump_to: a directory for dumps; None takes the one in XLA_FLAGS.
        keep_artifacts: keeps the intermediate forms (LLVM IR, assembly, ...) for `Executable.artifacts`.
        backend: the backend's own options: an instance of its `BackendSpec.options`, or a mapping.
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
