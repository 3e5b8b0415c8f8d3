"""The registry of passes by name, for `xla opt --passes a,b,c` and for pipelines that are written as text.

A built-in pass has the name of its file. Its module is imported when the pass is created.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, cast

from xla_core.checks import did_you_mean, require
from xla_core.errors import AlreadyExistsError, InvalidArgumentError
from xla_core.passes.pass_manager import HloPass

PassFactory = Callable[..., HloPass]

_NAMES = {
    "control_flow": """
        conditional-simplifier while-loop-constant-sinking while-loop-invariant-code-motion while-loop-simplifier
        while-loop-unroller
    """,
    "expanders": """
        async-to-sync bitcast-expander cholesky-expander comparison-expander composite-rewriter concatenate-splitter
        convolution-canonicalizer convolution-phase-splitter dot-algorithm-rewriter dot-decomposer
        dot-strength-reduction dynamic-index-splitter fft-decomposer float-upcaster gather-expander gather-simplifier
        lapack-expander operand-converter operand-upcaster product-splitter reduce-window-rewriter reduction-splitter
        rng-bit-generator-expander rng-expander scan-expander scatter-expander scatter-sorter
        select-and-scatter-expander topk-decomposer triangular-solve-expander
    """,
    "fusion": "instruction-fusion multi-output-fusion reduction-merger",
    "scheduling": "copy-insertion flatten-call-graph hlo-memory-scheduler optimize-input-output-buffer-alias",
    "simplifiers": """
        algebraic-simplifier call-inliner convert-mover hlo-constant-folding hlo-cse hlo-dce map-inliner reshape-mover
        sort-simplifier transpose-folding tuple-simplifier zero-sized-hlo-elimination
    """,
}
"""Subpackage of xla_core.passes -> its passes. Each is the class of that name in the file of that name."""

PASSES: dict[str, PassFactory | str] = {
    name: f"{room}.{name.replace('-', '_')}:{''.join(map(str.capitalize, name.split('-')))}"
    for room, names in _NAMES.items()
    for name in names.split()
}
PASSES |= {
    "batchnorm-expander": "expanders.batchnorm_expander:BatchNormExpander",
    "dynamic-padder": "dynamic_padder:DynamicPadder",
    "layout-assignment": "layout_assignment:LayoutAssignment",
    "simplification": "simplification:simplification_pipeline",
}
"""Name -> a callable that makes the pass, or "module:Class" below xla_core.passes."""


def register_pass(name: str, factory: PassFactory) -> None:
    """Registers a pass, for example one of a plugin, under a name.

    Raises:
        AlreadyExistsError: the name is taken.
    """
    require("name", name, str, "a pass's")
    if name in PASSES:
        raise AlreadyExistsError(f"there is a pass {name!r} already")
    PASSES[name] = factory


def create_pass(name: str, **options: Any) -> HloPass:
    """Returns a new instance of the pass `name`, for example "hlo-dce" or "hlo_dce".

    `options` are keyword arguments of the pass's constructor.

    Raises:
        InvalidArgumentError: there is no pass of that name.
    """
    require("name", name, str, "a pass's")
    key = name.strip().replace("_", "-")
    factory = PASSES.get(key) or PASSES.get(name.strip())
    if factory is None:
        hint = did_you_mean(key, PASSES) or "`xla opt` lists them all, with --backend also a backend's (docs/passes.md)"
        raise InvalidArgumentError(f"there is no pass {name!r}", hint=hint)
    return _imported(factory)(**options)


def description_of(name: str) -> str:
    """Returns the docstring of a registered pass, or of the function that makes a pipeline."""
    return _imported(PASSES[name]).__doc__ or ""


def _imported(factory: PassFactory | str) -> PassFactory:
    if isinstance(factory, str):
        module, _, attribute = factory.partition(":")
        factory = cast("PassFactory", getattr(importlib.import_module(f"xla_core.passes.{module}"), attribute))
    return factory
