"""Runs the suite in worker processes, so that a backend that crashes or hangs loses one test and not the run.

| module | what it does |
|---|---|
| `suite_run` | a whole run: starts it and returns its results |
| `rounds` | the same with other seeds, again and again until the time is over |
| `pool` | gives tests to workers, and replaces a worker that is lost |
| `joint_tests` | the tests that share a program, which a worker gets together |
| `process` | one worker as its parent sees it: starts it, reads its events, kills it |
| `worker` | the pytest plugin within a worker: opens the device, collects, runs what the parent sends |
| `explanation`, `minimal` | an exception of a test as a sentence and details; the program of a wrong result alone |
| `outcomes` | the result of a test that ended, or that ended with its process |
| `limits`, `interruption` | how long a run may take, and the signals that end it |
| `processors`, `scratch` | a worker's processor, and its folder |
"""

from xla_conformance.runner.limits import Limits
from xla_conformance.runner.rounds import run_rounds
from xla_conformance.runner.suite_run import Progress, collect_tests, run_suite

__all__ = ["Limits", "Progress", "collect_tests", "run_rounds", "run_suite"]
