"""The conformance suite: decides whether a backend of xla-core is right. `xla conform --backend B` runs it.

Its modules import each other without cycles, which import-linter checks.

| commands | |
|---|---|
| `command`, `command_options`, `actions` | `xla conform`: its arguments, and what it does with them |
| `ahead_of_time`, `stablehlo`, `support` | `xla conform --runner`, `--stablehlo-tests` and `--support-matrix` |
| `accuracy`, `bisect` | `xla accuracy`, with the bounds of errors that the suite uses too; `xla bisect` |

| a run and its report | |
|---|---|
| `runner` | runs the tests in worker processes, by `last_program`, `last_test` and `fair_time` |
| `results`, `levels`, `waivers`, `root_causes`, `next_steps` | what a run found, and what follows from that |
| `report` | prints it, and writes and compares its files |
| `chosen`, `expressions` | which tests `-k` and `--test` choose |
| `environment`, `progress`, `wording` | versions and the device; a bar; words of messages |

| the tests | |
|---|---|
| `suite` | the tests, one or more files for each group |
| `plugin` | their fixtures and profiles |
| `promises`, `failures` | the sentences of the contract; the error of a test whose device is wrong |
| `claims`, `clients`, `offers`, `refusals` | clients that end a test as not supported, and what isn't claimed |
| `invariants`, `process_state`, `native_state` | what of the whole process no test may change |
| `bits`, `placements`, `patience` | checks of results and of placements; the factor of time limits |

| what the tests run | |
|---|---|
| `ops` | cases of single ops and programs of a few, made from the op table |
| `programs`, `family_program`, `collective_cases` | whole programs |
| `bench`, `subjects` | what programs run on: the contract alone, a backend or the reference evaluator |
| `device` | work on streams and in device memory |
| `answers` | what the backend says when it is asked |
| `child_process`, `loading`, `other_process` | other processes, which load a backend or run serialized programs |
"""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
