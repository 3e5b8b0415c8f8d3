"""Runs random programs on a backend and on the reference evaluator.

python -m tests.agreement.checking --programs 2000 --start 0 --backend cpu    # prints the seeds that disagree
python -m tests.agreement.checking --show 17
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback

import numpy as np

import xla_core as xla
from tests.agreement.generator import RandomProgram

__all__ = ["check", "seeded"]


def seeded(seed: int, size: int | None = None) -> RandomProgram:
    rng = random.Random(seed)
    return RandomProgram(rng, size or rng.randint(5, 60))


def check(program: RandomProgram, client: xla.Client, seed: int = 0) -> None:
    """The program, printed and read again, compiled and run, gives what the evaluator gives, to within its bounds."""
    text = program.module.to_text()
    module = xla.parse(text)
    arguments = program.arguments(seed)
    expected = xla.evaluate(module, *arguments, max_steps=1_000_000)
    results = [np.asarray(buffer) for buffer in client.compile(module)(*arguments)]
    assert len(results) == len(expected) == len(program.results)
    for index, (result, want, value) in enumerate(zip(results, expected, program.results, strict=True)):
        place = f"result {index}, {value.instruction.name}: error bound {value.error:g}\n"
        assert result.dtype == want.dtype, place
        assert result.shape == want.shape, place
        if value.is_exact:
            equal = (result == want) | ((result != result) & (want != want))
            assert equal.all(), f"{place}{result}\n{want}\n{text}"
        else:
            with np.errstate(all="ignore"):
                far = np.abs(result.astype(np.float64) - want.astype(np.float64))
            assert (far <= 2 * value.error + 1e-30).all(), (
                f"{place}largest difference {far.max()}\n{result}\n{want}\n{text}"
            )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--size", type=int)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--show", type=int)
    given = parser.parse_args()
    if given.show is not None:
        print(seeded(given.show, given.size).module.to_text())
        return 0
    failures: list[int] = []
    client = xla.Client(given.backend)
    start = time.time()
    for seed in range(given.start, given.start + given.programs):
        try:
            check(seeded(seed, given.size), client, seed)
        except Exception as error:
            failures.append(seed)
            last = traceback.extract_tb(error.__traceback__)[-1]
            print(f"seed {seed}: {type(error).__name__} {last.name}:{last.lineno} {str(error)[:300]}\n", flush=True)
    print(f"{given.programs} programs in {time.time() - start:.0f} s, {len(failures)} failures: {failures}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
