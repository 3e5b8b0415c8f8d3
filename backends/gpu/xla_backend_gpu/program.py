"""GpuProgram: a compiled program as data, which serialized executables contain."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from xla_backend_gpu.chips import chip_named
from xla_backend_gpu.processors import check_processor
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import HloInstruction, HloModule

Processor = Annotated[str, AfterValidator(check_processor)]

ChipName = Annotated[str, AfterValidator(lambda name: chip_named(name).name)]

Engine = Literal["fast", "checked"]
"""How an emulated device runs kernels: as native code, or thread by thread with checks of every access."""

Products = Literal["auto", "own", "library", "measured"]
"""What multiplies matrices; see `GpuOptions.products`."""

_STRICT = ConfigDict(frozen=True, extra="forbid", strict=True, ser_json_bytes="base64", val_json_bytes="base64")


class Launch(BaseModel):
    """A launch of an instruction's kernel: the kernel's name in the PTX, the grid, the size of scratch memory, and the
    shared memory of a block beyond what the kernel declares.
    """

    model_config = _STRICT

    kernel: str = Field(pattern=r"^[A-Za-z_$][\w$]*$")
    blocks: int = Field(ge=1, le=2**31 - 1)
    threads: int = Field(ge=1, le=1024)
    scratch_bytes: int = Field(default=0, ge=0)
    shared_bytes: int = Field(default=0, ge=0)


class GpuProgram(BaseModel):
    """The kernels of a program, and its optimized module, which has the schedule.

    Attributes:
        processor: the oldest processor that the PTX runs on.
        ptx: one module of PTX.
        cubin: the machine code of the PTX for the processor, or b"". A GPU of that processor loads it as it is.
        launches: the launches of each instruction that has a kernel, in order, by `place_of`. The host runs the others.
        engine: how an emulated device runs the kernels.
        graphs: whether a GPU runs the program as a graph if it can.
        hlo: the optimized module as HLO text; "" before the program is serialized, because constants are long.
    """

    model_config = _STRICT

    processor: Processor
    ptx: str
    cubin: bytes = b""
    launches: dict[str, tuple[Launch, ...]]
    engine: Engine = "fast"
    graphs: bool = True
    hlo: str = ""

    def to_bytes(self, module: HloModule) -> bytes:
        """Serializes the program with its optimized module."""
        return self.model_copy(update={"hlo": module.to_text()}).model_dump_json().encode()

    @staticmethod
    def from_bytes(data: bytes) -> GpuProgram:
        """Parses the bytes that `to_bytes` returned.

        Raises:
            InvalidArgumentError: the data is damaged.
        """
        try:
            return GpuProgram.model_validate_json(data)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise InvalidArgumentError(f"the serialized GPU program is damaged: {where}: {first['msg']}") from error


def place_of(instruction: HloInstruction) -> str:
    """Returns a unique name of an instruction in its module. HLO's names have no spaces."""
    return f"{instruction.name} in {instruction.parent.name if instruction.parent is not None else ''}"
