"""The table of PJRT's functions and how each is implemented, from the code of `xla_core.pjrt`."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["functions"]

_STATES = ("native code", "native code for short programs and small arrays, else Python", "Python", "not implemented")


def state_of(function: str) -> str:
    """Says how a function of PJRT's table is implemented."""
    from xla_core.pjrt import native, ready_events, warm_path
    from xla_core.pjrt.api import IMPLEMENTED, OF_PLATFORM
    from xla_core.pjrt.handles import GETTERS

    if function in GETTERS or function in native.ERROR_FUNCTIONS:
        return _STATES[0]
    if function in ready_events.FUNCTIONS or function in warm_path.FUNCTIONS:
        return _STATES[1]
    return _STATES[2] if function in IMPLEMENTED or function in OF_PLATFORM else _STATES[3]


def functions() -> str:
    """Lists the functions by object and state, as Markdown."""
    from xla_core.pjrt.abi_table import FUNCTIONS

    objects = dict.fromkeys(name.partition("_")[0] for name in FUNCTIONS)
    lines = ["| PJRT_ | " + " | ".join(_STATES) + " |", "|---" * (len(_STATES) + 1) + "|"]
    total = dict.fromkeys(_STATES, 0)
    for kind in objects:
        names = [name for name in FUNCTIONS if name.partition("_")[0] == kind]
        cells = []
        for state in _STATES:
            found = [name for name in names if state_of(name) == state]
            total[state] += len(found)
            cells.append(", ".join(map(_short(kind), found)))
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join([*lines, f"| number | {' | '.join(str(total[state]) for state in _STATES)} |"])


def _short(kind: str) -> Callable[[str], str]:
    return lambda name: f"`{name.removeprefix(kind).removeprefix('_') or name}`"
