"""MatmulThunk: the step of a program that calls cuBLASLt."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from xla_backend_gpu.cublas.matmul import Matmul
from xla_backend_gpu.work_stream import WorkStream
from xla_core.errors import InternalError
from xla_core.runtime import ThunkRun
from xla_core.schedule import LibraryCallThunk, Thunk


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class MatmulThunk(LibraryCallThunk):
    """Multiplies matrices by cuBLASLt. The attribute "matmul" is the `Matmul`.

    `results` are the result and the scratch memory, if there is any.
    """

    shares_streams: ClassVar[bool] = True

    @property
    def matmul(self) -> Matmul:
        found: Matmul = self.attributes["matmul"]
        return found


def _multiply(thunk: Any, run: ThunkRun) -> None:
    if not isinstance(run.stream, WorkStream):
        raise InternalError(f"{thunk.name} can run only on a stream of a GPU, not on a {type(run.stream).__name__}")
    memories = run.memories(thunk.operands) + run.memories(thunk.results)
    run.stream.multiply(thunk.matmul, memories, thunk.name)


HANDLERS: Mapping[type[Thunk], Any] = {MatmulThunk: _multiply}
"""What enqueues the backend's own thunks."""
