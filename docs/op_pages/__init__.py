"""Makes the pages of ops when the site is built, one for each file of the op tables.

`pages()` returns them by their path within `docs/`. A page describes an op by its entry, the source of its shape rule
and evaluation, its example, which runs here, and measurements (`docs/data`).
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from xla_core import hlo, stablehlo
from xla_core.stablehlo import op_reference

from .dialect import dialect_section
from .markdown import table
from .opcodes import hlo_section

__all__ = ["TITLES", "index", "pages"]

TITLES: Mapping[str, str] = {
    "async_ops": "Asynchronous ops",
    "batch_norm": "Batch normalization",
    "broadcasts": "Broadcasts",
    "channels": "Infeed, outfeed, send, receive",
    "chlo": "CHLO, element by element",
    "chlo_broadcasts": "CHLO, with broadcasts",
    "chlo_structured": "CHLO: top_k, scan, ragged_dot",
    "collective_reductions": "Collectives that reduce",
    "collectives": "Collectives",
    "constants": "Constants",
    "contraction": "Dot products",
    "control_flow": "Control flow",
    "conversion": "Conversion of types",
    "convolution": "Convolution",
    "custom_calls": "Custom calls and composites",
    "data_movement": "Movement of data",
    "deprecated": "Deprecated ops",
    "device_ids": "Device ids",
    "dimension_sizes": "Sizes of dimensions",
    "dynamism": "Shapes as operands",
    "elementwise": "Elementwise ops",
    "gather": "Gather",
    "host_transfer": "Infeed, outfeed, send, receive",
    "indexing": "Gather and scatter",
    "linalg": "Linear algebra and Fourier transforms",
    "movement": "Movement of data",
    "quantization": "Quantization",
    "random": "Random numbers",
    "reduction": "Reductions, map, sort",
    "rng": "Random numbers",
    "scatter": "Scatter",
    "selection": "Comparison, select, clamp",
    "sharding": "Shardings",
    "slices": "Slices",
    "tuples": "Tuples",
    "sorting": "Sorting",
    "structure": "Parameters, constants, tuples, tokens",
    "window": "Windows",
}


def title(group: str) -> str:
    """A group's name in words."""
    return TITLES.get(group) or group.replace("_", " ").capitalize()


def pages() -> dict[str, str]:
    """Path within docs/ -> Markdown."""
    made = {}
    for group, dialect_ops in _groups(stablehlo.OPS).items():
        sections = [dialect_section(op_reference(name)) for name in dialect_ops]
        made[f"ops/{group}.md"] = _page(title(group), f"xla_core.stablehlo.ops.{group}", sections)
    for group, opcodes in _groups(hlo.OPS).items():
        sections = [hlo_section(hlo.OPS[name]) for name in opcodes]
        made[f"ops/hlo/{group}.md"] = _page(f"HLO: {title(group)}", f"xla_core.hlo.ops.{group}", sections)
    return made


def _groups(ops: Mapping[str, Any]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name, op in ops.items():
        groups.setdefault(op.group, []).append(name)
    return dict(sorted(groups.items(), key=lambda item: title(item[0])))


def index() -> str:
    """Makes the list in `ops/index.md`."""
    parts = ["## StableHLO and CHLO"]
    for group, names in _groups(stablehlo.OPS).items():
        rows = [(f"[`{n}`]({group}.md#{n})", stablehlo.OPS[n].doc) for n in names]
        parts += [f"### [{title(group)}]({group}.md)", table(("op", "meaning"), rows)]
    parts.append("## HLO")
    for group, names in _groups(hlo.OPS).items():
        rows = [(f"[`{n}`](hlo/{group}.md#{n})", hlo.OPS[n].doc) for n in names]
        parts += [f"### [{title(group)}](hlo/{group}.md)", table(("op", "meaning"), rows)]
    return "\n\n".join(parts)


def _page(title: str, module: str, sections: Iterable[str]) -> str:
    documented = inspect.getdoc(importlib.import_module(module)) or ""
    return "\n\n".join([f"# {title}", documented, *sections]) + "\n"
