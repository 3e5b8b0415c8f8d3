"""The numbers that decide which thread does short work: its caller, or a stream's worker.

docs/architecture.md, "Which thread does the work", says in which order they are asked. Durations are estimates.
"""

from __future__ import annotations

INLINE_MICROSECONDS = 40.0
"""The longest work that an idle host stream does in the caller. A handoff to the worker takes about as long."""

AWAITED_MICROSECONDS = 500.0
"""Replaces INLINE_MICROSECONDS for `AWAITED_RUNS` runs after a caller has waited for a result."""

AWAITED_RUNS = 15
"""Then the worker gets the work, which shows whether callers still wait for each result."""

CALLER_MICROSECONDS = 200.0
"""The longest program that PJRT's native code runs in the caller, besides RESULT_MICROSECONDS for each result: going
through Python and a worker takes the caller about as long."""

RESULT_MICROSECONDS = 8.0

SKIPPED_RUNS = 63
"""How many runs go to the worker at once, after a run that its caller tried took too long."""
