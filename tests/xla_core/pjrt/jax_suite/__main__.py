"""Runs JAX's tests on a platform and on JAX's CPU, and prints a line for each file and each failure."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time

from tests.xla_core.pjrt.jax_suite.comparison import compare, known_cause, store
from tests.xla_core.pjrt.jax_suite.running import run_file
from tests.xla_core.pjrt.jax_suite.selection import FILES, REASON, Selection, file_of_tests, tests_folder


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.xla_core.pjrt.jax_suite", description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE", help="as `nn` for nn_test.py; by default all of the table")
    parser.add_argument("--platform", default="xla_cpu")
    parser.add_argument("--cases", type=int, help="generated cases of a parameterized test")
    parser.add_argument("--share", type=float, help="share of the tests")
    parser.add_argument("--seed", type=int, default=0, help="chooses the share")
    parser.add_argument("--limit", type=int, default=300, help="seconds for one test")
    parser.add_argument("--write", action="store_true", help="keep the figures in docs/data/jax_suite")
    args = parser.parse_args()
    folder = tests_folder()
    if folder is None:
        print(REASON, file=sys.stderr)
        return 2
    for name in args.files or FILES:
        chosen = FILES.get(name, Selection())
        selection = dataclasses.replace(
            chosen, cases=args.cases or chosen.cases, share=args.share or chosen.share, seed=args.seed
        )
        file, start = file_of_tests(folder, name), time.monotonic()
        ours = run_file(file, args.platform, selection, limit=args.limit)
        reference = run_file(file, "cpu", selection, limit=args.limit)
        row = compare(ours, reference, selection)
        counts = "; ".join(
            f"{who} {' '.join(f'{count} {kind}' for kind, count in row[key].items())}"
            for who, key in ((args.platform, "ours"), ("cpu", "reference"))
        )
        print(f"{name}: {counts}; {time.monotonic() - start:.0f} s", flush=True)
        for test, error in row["failures"].items():
            print(f"  {test}: {' '.join(error.split())}\n    {known_cause(test) or 'cause not known'}", flush=True)
        if args.write:
            store(args.platform, {name: row})
    return 0


if __name__ == "__main__":
    sys.exit(main())
