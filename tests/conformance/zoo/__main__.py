"""Runs the suite on the mutants: `python -m tests.conformance.zoo [-k EXPR] [--seeds N] [--write]`."""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xla_conformance.expressions import compile_expression

from tests.conformance.zoo.mutant import CONTROLS, LEVELS, Mutant, all_mutants
from tests.conformance.zoo.run import installed, run_profile

DATA = Path(__file__).parents[3] / "docs" / "data" / "zoo" / "zoo.json"
PROFILES = ("quick", "full", "stress")
VERDICTS = (*PROFILES, "missed", "without effect")
BROKEN = "broken"
NEVER_RUN = "never run"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.zoo", description=__doc__)
    parser.add_argument("-k", default="", metavar="EXPR", help="only mutants whose names match, as pytest's -k")
    parser.add_argument("--profile", choices=PROFILES, default="full", help="the largest profile to run")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="run with so many seeds of the suite")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="only N mutants, drawn at random")
    parser.add_argument("--draw", type=int, default=0, metavar="SEED", help="the seed of --sample")
    parser.add_argument("--control", action="store_true", help="the backends without a fault, which have to pass")
    parser.add_argument("--verdict", choices=(*VERDICTS, NEVER_RUN), help="only mutants with this verdict in the data")
    parser.add_argument("--write", action="store_true", help=f"write the results to {DATA.name}, with those before")
    parser.add_argument("-v", "--verbose", action="store_true", help="show what the tests print")
    options = parser.parse_args(arguments)
    chosen = _choose(options)
    if not chosen:
        parser.error(f"-k {options.k!r} matches no mutant")
    start = time.monotonic()
    with installed():
        results = run_mutants(chosen, options)
    print_table(results)
    _print_broken(results)
    print(f"{time.monotonic() - start:.0f} s")
    if options.control:
        return 0 if all(_has_passed(result) for result in results.values()) else 1
    if options.write:
        write(results)
    return 1 if any(r["verdict"] in ("missed", BROKEN) for r in results.values()) else 0


def _choose(options: argparse.Namespace) -> list[Mutant]:
    wanted = compile_expression(options.k) if options.k else None
    known_mutants = CONTROLS if options.control else all_mutants().values()
    mutants = [m for m in known_mutants if wanted is None or wanted.evaluate(lambda w, m=m: w in m.name)]
    if options.verdict:
        data = known()
        mutants = [m for m in mutants if data.get(m.name, {}).get("verdict", NEVER_RUN) == options.verdict]
    sample = min(options.sample or len(mutants), len(mutants))
    return random.Random(options.draw).sample(mutants, sample) if options.sample else mutants


def run_mutants(mutants: Sequence[Mutant], options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """The result of each mutant by name. `verdict` is the smallest profile that finds it with every seed, or missed.

    It is "broken" for a mutant whose own Python has a mistake: what a test finds then proves nothing.
    """
    results: dict[str, dict[str, Any]] = {}
    left = list(mutants)
    for profile in PROFILES[: PROFILES.index(options.profile) + 1]:
        runs: dict[str, list[dict[str, Any]]] = {m.name: [] for m in left}
        for seed in range(options.seeds):
            for result in run_profile(left, profile, seed if seed else None, verbose=options.verbose):
                if "problem" in result:
                    raise SystemExit(result["problem"])
                runs[result["mutant"]].append(result)
                _show(profile, result)
        for name, outcomes in runs.items():
            results[name] = _judged(outcomes, profile)
        left = [m for m in left if results[m.name]["verdict"] not in (*PROFILES, BROKEN)]
        if not left:
            break
    return results


def _judged(outcomes: Sequence[dict[str, Any]], profile: str) -> dict[str, Any]:
    """The result of a mutant after its runs with a profile, one for each seed. One broken run makes it broken."""
    for outcome in outcomes:
        if outcome["verdict"] == BROKEN:
            return outcome
    caught = [o for o in outcomes if o["verdict"] == "caught"]
    last = (caught or outcomes)[-1]
    verdict = profile if len(caught) == len(outcomes) else _unseen(last)
    return {**last, "seeds": f"{len(caught)} of {len(outcomes)}", "verdict": verdict}


def _unseen(result: dict[str, Any]) -> str:
    """Tells a fault that was missed from one of a tested op that changed no value: no fault, or a case lacks."""
    mutant = all_mutants().get(result["mutant"])
    return "without effect" if mutant and mutant.opcode and not result.get("effects") and result["cases"] else "missed"


def _has_passed(result: dict[str, Any]) -> bool:
    """Whether each test of a control ran, and none of them failed."""
    return result["verdict"] == "missed" and result["tests"] > 0 and "cut" not in result


def _print_broken(results: dict[str, dict[str, Any]]) -> None:
    """Lists the mutants that have to be mended before they count."""
    for name, result in results.items():
        if result["verdict"] == BROKEN:
            print(f"{name} is broken, so it counts as nothing: {result['message']}")


def _show(profile: str, result: dict[str, Any]) -> None:
    caught = result["verdict"] == "caught"
    missed = f"{result['tests']} tests, {result.get('effects', 0)} wrong kernels"
    found = f"{result['how']} {result['test']}" if caught else result.get("message") or missed
    named = "" if not caught or result["named"] else "  (names another promise)"
    print(
        f"{profile:5} {result['verdict']:6} {result['seconds']:6.1f} s  {result['mutant']}: {found}{named}", flush=True
    )


def print_table(results: dict[str, dict[str, Any]]) -> None:
    """Prints by level how many mutants quick finds, how many only full or stress, and how many nothing does."""
    print(f"{'level':12} mutants  quick   full stress missed without effect")
    for level in (*LEVELS, "all"):
        counts = Counter(r["verdict"] for n, r in results.items() if level in ("all", n.partition("/")[0]))
        if counts:
            profiles = " ".join(f"{counts[profile]:6}" for profile in PROFILES)
            found = f"{profiles} {counts['missed']:6} {counts['without effect']:14}"
            print(f"{level:12} {sum(counts.values()):7} {found}")


def known() -> dict[str, dict[str, Any]]:
    """The results that were written last, by the mutant's name."""
    return json.loads(DATA.read_text()) if DATA.exists() else {}


def write(results: dict[str, dict[str, Any]]) -> None:
    """Adds results to the data that the docs show, and drops mutants that no longer exist. Broken ones have no result."""
    before = known()
    rows = {}
    for name, mutant in all_mutants().items():
        if name in results and results[name]["verdict"] != BROKEN:
            said = {k: results[name][k] for k in ("verdict", "seeds", "test", "how", "named") if k in results[name]}
            rows[name] = {"breaks": mutant.breaks, "fault": mutant.fault, **said}
        elif name in before:
            rows[name] = before[name]
    DATA.parent.mkdir(parents=True, exist_ok=True)
    DATA.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
