"""Runs serialized executables in a process other than the one that compiled them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from xla_conformance.child_process import Enter, run_in_stages
from xla_conformance.clients import SettingsClient
from xla_conformance.family_program import FamilyProgram
from xla_conformance.patience import FACTOR
from xla_conformance.programs.family import FAMILY, SHARDED, siblings
from xla_core import LoadedExecutable, XlaError

_SECONDS = 25.0 * FACTOR
"""How long opening the device, or one program, may take there. A test has time for two that hang."""
_ENDED_PROCESSES = 2
"""After so many processes that a program ended, the other programs are not tried."""


def random_of(program: FamilyProgram, seed: int) -> np.random.Generator:
    """The generator of a program's arguments, the same in each process."""
    return np.random.default_rng([seed, *program.name.encode()])


def reported(executable: LoadedExecutable) -> dict[str, Any]:
    """The properties that must survive serialization, as JSON."""
    return {
        "name": executable.name,
        "parameter shapes": [str(s) for s in executable.parameter_shapes],
        "result shapes": [str(s) for s in executable.result_shapes],
        "donated parameters": list(executable.donated_parameters),
        "replicas and partitions": [executable.num_replicas, executable.num_partitions],
        "devices": [device.id for device in executable.devices],
        "fingerprint": executable.fingerprint(),
        "digest of the text": hashlib.sha256(executable.as_text().encode()).hexdigest(),
        "costs": dict(executable.cost_analysis()),
        "bytes": {
            "arguments": executable.memory_stats().argument_bytes,
            "results": executable.memory_stats().output_bytes,
            "aliases": executable.memory_stats().alias_bytes,
            "temporaries": executable.memory_stats().temp_bytes,
        },
    }


def run_in_other_process(
    backend: str, settings: Sequence[str], blobs: dict[str, bytes], folder: Path, seed: int
) -> dict[str, dict[str, Any] | str]:
    """Loads and runs serialized programs in another process.

    After an XlaError that process goes on with the next program. After another failure a new process does.

    Returns:
        By name, the value of `reported` for the program there, or how it failed. The results are in files of `folder`.
    """
    for name, blob in blobs.items():
        (folder / f"{name}.executable").write_bytes(blob)
    found: dict[str, dict[str, Any] | str] = {}
    ended: list[str] = []
    while left := [name for name in blobs if name not in found]:
        outcome = run_in_stages(_load_and_run, [backend, [*settings], str(folder), left, seed], _SECONDS)
        ran = {name: outcome.data[name] for name in left if name in outcome.data}
        found.update({name: data.get("error") or data for name, data in ran.items()})
        untried = [name for name in left if name not in found]
        if outcome.stage:
            # A failure outside of the programs, such as one in opening the device, is the failure of all that are left.
            failed = [outcome.stage] if outcome.stage in untried else untried
            found.update(dict.fromkeys(failed, f"{outcome.how}\n{outcome.output}"))
            ended += failed
        elif untried:
            raise AssertionError(f"The process ended before it ran {untried}.")
        if len(ended) >= _ENDED_PROCESSES:
            reason = f"was not tried, as the process of {' and that of '.join(ended)} failed: that {outcome.how}"
            found.update({name: reason for name in blobs if name not in found})
    return found


def _load_and_run(enter: Enter, argument: Any) -> None:
    """Loads and runs the programs in the other process."""
    backend, settings, folder, names, seed = argument
    programs = {program.name: program for program in (*FAMILY, *SHARDED, *siblings())}
    loaded = []  # all executables live until the process ends, as in a program that uses several
    with enter("open"):
        client = SettingsClient(backend, settings)
    for name in names:
        with enter(name) as data:
            try:
                executable = client.deserialize((Path(folder) / f"{name}.executable").read_bytes())
                loaded.append(executable)
                rows = _run(executable, programs[name].rows(random_of(programs[name], seed)))
            except XlaError as error:
                data["error"] = f"raised {type(error).__name__}: {error}"
                continue
            data.update(reported(executable))
            data["results"] = [_write(Path(folder), name, d, row) for d, row in enumerate(rows)]
    with enter("close"):
        client.close()


def _run(executable: LoadedExecutable, rows: list[list[np.ndarray]]) -> list[Sequence[np.ndarray]]:
    if len(rows) == 1:
        return [[np.asarray(r) for r in executable(*rows[0])]]
    return [[np.asarray(r) for r in row] for row in executable.execute_sharded(rows)]


def _write(folder: Path, name: str, device: int, row: Sequence[np.ndarray]) -> list[str]:
    files = []
    for number, array in enumerate(row):
        file = folder / f"{name}.{device}.{number}"
        file.write_bytes(np.ascontiguousarray(array).tobytes())
        files.append(str(file))
    return files
