"""The support matrix for the site, from `docs/data/support/*.json`: summary, grid, and the cells that don't pass."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

__all__ = ["grid", "reasons", "summary"]

DATA = Path(__file__).parent / "data" / "support"
_ORDER = ("evaluator", "cpu", "template")
_STATES = ("pass", "unsupported", "wrong", "error")

_STYLE = """\
<style>
.support { overflow-x: auto; }
.support table { border-collapse: collapse; font-size: 0.6rem; }
.support td, .support th { padding: 0 2px; white-space: nowrap; border-bottom: 1px solid #8883; }
.support th.t { writing-mode: vertical-rl; transform: rotate(180deg); text-align: left; }
.support i { display: inline-block; width: 5px; height: 11px; margin-right: 1px; background: #8882; }
.support i.p, .legend i.p { background: #4caf50; }
.support i.u, .legend i.u { background: #ffc107; }
.support i.w, .legend i.w { background: #d50000; }
.support i.e, .legend i.e { background: #aa00ff; }
.legend i { display: inline-block; width: 8px; height: 12px; }
</style>"""


def measured() -> list[dict[str, Any]]:
    """Reads the measurements, a dict for each subject, in the order of the grid's bars."""
    found = {(d := json.loads(f.read_text()))["subject"]: d for f in DATA.glob("*.json")}
    return [found[s] for s in sorted(found, key=lambda s: (_ORDER.index(s) if s in _ORDER else len(_ORDER), s))]


def summary() -> str:
    """Counts the cells in each state, by subject, as Markdown."""
    lines = ["| | " + " | ".join(_STATES) + " | command |", "|---" * (len(_STATES) + 2) + "|"]
    for matrix in measured():
        counts = Counter(state for row in matrix["ops"].values() for state in row.values())
        cells = " | ".join(str(counts[s]) for s in _STATES)
        lines.append(f"| {matrix['subject']} | {cells} | `{matrix['command']}` |")
    return "\n".join(lines)


def grid() -> str:
    """Makes a grid of ops and types as HTML, with a bar for each subject in a cell."""
    matrices = measured()
    types = matrices[0]["types"]
    head = "".join(f'<th class="t">{t}</th>' for t in types)
    rows = []
    for op in matrices[0]["ops"]:
        cells = []
        for t in types:
            states = [m["ops"].get(op, {}).get(t) for m in matrices]
            bars = "".join(f'<i class="{s[0]}"></i>' if s else "<i></i>" for s in states) if any(states) else ""
            cells.append(f"<td>{bars}</td>")
        rows.append(f"<tr><td><code>{op}</code></td>{''.join(cells)}</tr>")
    return (
        f'{_STYLE}\n<div class="support"><table><thead><tr><th>op</th>{head}</tr></thead>\n<tbody>\n'
        + "\n".join(rows)
        + "\n</tbody></table></div>"
    )


def reasons() -> str:
    """Lists the cells that don't pass, by subject, op and reason, as Markdown."""
    parts = []
    for matrix in measured():
        grouped: dict[tuple[str, str], dict[str, list[str]]] = {}
        for op, row in matrix["reasons"].items():
            for column, reason in row.items():
                state = matrix["ops"][op][column]
                grouped.setdefault((state, _plain(reason)), {}).setdefault(op, []).append(column)
        lines = [f"### {matrix['subject']}", ""]
        if not grouped:
            lines.append("Nothing.")
        else:
            lines += ["| | ops | types | why |", "|---|---|---|---|"]
        for (state, reason), ops in grouped.items():
            columns = list(dict.fromkeys(c for row in ops.values() for c in row))
            shown = ", ".join(f"`{c}`" for c in columns[:6]) + (f" and {len(columns) - 6} more" if columns[6:] else "")
            lines.append(f"| {state} | {', '.join(f'`{op}`' for op in ops)} | {shown} | {_escaped(reason)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _plain(reason: str) -> str:
    """Removes the instruction from a reason, so that the reason is the same for all types."""
    return reason.split(": ", 1)[0] if "no decomposition helps" in reason else reason


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[")
