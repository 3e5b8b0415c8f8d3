"""StableHLO programs that JAX wrote, with inputs and JAX's results: oracles that need no JAX.

`PROGRAMS` lists them. Each is a committed text (`text/NAME.mlir`), inputs from a seed, and the outputs that JAX's CPU
compiler computed (`expected/NAME.npz`). `python -m tests.programs.export` writes all of it anew from `sources/`.

    @pytest.mark.parametrize("program", PROGRAMS, ids=str)
    def test_runs(program: Program) -> None:
        program.check(xla.evaluate(xla.parse(program.text), *program.inputs()))
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .arrays import Array, ArraySpec

__all__ = ["PROGRAMS", "Array", "ArraySpec", "Program", "check_arrays"]

DIRECTORY = Path(__file__).parent


@dataclasses.dataclass(frozen=True)
class Program:
    """One exported program.

    `kind` is the file of `sources/` that defines it. `rtol` and `atol` are for floating-point results against JAX's;
    integer and boolean results must be equal.
    """

    name: str
    kind: str
    arguments: tuple[ArraySpec, ...]
    result_types: tuple[str, ...]
    rtol: float
    atol: float

    def __str__(self) -> str:
        return self.name

    @property
    def path(self) -> Path:
        """The .mlir file."""
        return DIRECTORY / "text" / f"{self.name}.mlir"

    @property
    def text(self) -> str:
        """The StableHLO text as JAX printed it, locations included."""
        return self.path.read_text(encoding="utf-8")

    def inputs(self) -> list[Array]:
        """One array for each parameter of `main`."""
        return [spec.make(f"{self.name}/{index}") for index, spec in enumerate(self.arguments)]

    def expected(self) -> list[Array]:
        """The results that JAX computed from `inputs()`: one array for each result of `main`."""
        with np.load(DIRECTORY / "expected" / f"{self.name}.npz") as stored:
            # numpy files know no bfloat16: such arrays are stored as unsigned integers of the same width.
            return [stored[f"r{i}"].view(np.dtype(name)) for i, name in enumerate(self.result_types)]

    def check(self, outputs: Sequence[object]) -> None:
        """Asserts that `outputs` (anything `np.asarray` takes) equal `expected()` in dtype, shape and value."""
        check_arrays(self.name, outputs, self.expected(), self.rtol, self.atol)


def check_arrays(name: str, outputs: Sequence[object], expected: Sequence[Array], rtol: float, atol: float) -> None:
    """Asserts that `outputs` equal `expected` in number, dtype, shape and value; `rtol` and `atol` are for floats."""
    assert len(outputs) == len(expected), f"{name}: {len(outputs)} results, expected {len(expected)}"
    for index, (output, want) in enumerate(zip(outputs, expected, strict=True)):
        got = np.asarray(output)
        label = f"{name}, result {index}"
        assert got.dtype == want.dtype, f"{label}: dtype {got.dtype}, expected {want.dtype}"
        assert got.shape == want.shape, f"{label}: shape {got.shape}, expected {want.shape}"
        if want.dtype.kind in "biu":
            np.testing.assert_array_equal(got, want, err_msg=label)
        else:
            wide = np.complex128 if want.dtype.kind == "c" else np.float64
            np.testing.assert_allclose(got.astype(wide), want.astype(wide), rtol=rtol, atol=atol, err_msg=label)


def _load() -> list[Program]:
    manifest = json.loads((DIRECTORY / "manifest.json").read_text(encoding="utf-8"))
    programs = []
    for name, entry in manifest["programs"].items():
        arguments = tuple(ArraySpec(tuple(shape), *rest) for shape, *rest in entry["arguments"])
        programs.append(Program(name, entry["kind"], arguments, tuple(entry["results"]), entry["rtol"], entry["atol"]))
    return programs


PROGRAMS: list[Program] = _load()
