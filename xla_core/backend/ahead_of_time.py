"""AheadOfTimeOptions: what a program is compiled for when it is compiled to files."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from xla_core.checked_model import CheckedModel


class AheadOfTimeOptions(CheckedModel):
    """The options of `Compiler.ahead_of_time_files`. The compiler chooses the values of fields that are left out.

    Attributes:
        name: the prefix of the files' names and of the symbols in them: an identifier of C.
        emit: "object" for machine code, "c" for a C file that any C compiler takes.
        triple: the target triple of the code, such as "riscv64-linux-gnu".
        cpu: the code generator's name of the processor.
        features: the processor's features, with a sign each, such as "+v,-c".
        vector_length: the width of the vector registers in bits, for targets whose code may depend on it.
        float_abi: how C passes floating-point numbers on the target: in "hard" or "soft" registers.
        relocation_model: "pic" for code that is linked at any address, "static" for code at a fixed one.
        optimize_for_size: prefer small code to fast code.
        threads: the number of threads among which kernels may be divided.
    """

    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    emit: Literal["object", "c"] = "object"
    triple: str = ""
    cpu: str = ""
    features: str = ""
    vector_length: int | None = Field(default=None, ge=32, le=65536)
    float_abi: Literal["hard", "soft"] | None = None
    relocation_model: Literal["pic", "static"] = "pic"
    optimize_for_size: bool = False
    threads: int = Field(default=1, ge=1, le=1024)
