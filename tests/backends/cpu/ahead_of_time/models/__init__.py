"""Models that JAX exports while the tests run: other kinds than the stored programs of `tests.programs`.

`NAMES` lists them without importing JAX, and `find(name)` returns one.
"""

from __future__ import annotations

import ast
import functools
import importlib
from pathlib import Path

from .registry import MODELS, Model

__all__ = ["NAMES", "find"]

_KINDS = ("networks", "numerics", "element_types", "algorithms")


def _names() -> list[str]:
    """The functions of the sources that the decorator `model` registers."""
    trees = [ast.parse(Path(__file__).with_name(f"{kind}.py").read_text(encoding="utf-8")) for kind in _KINDS]
    return [
        function.name
        for tree in trees
        for function in tree.body
        if isinstance(function, ast.FunctionDef)
        and any(isinstance(call, ast.Call) and ast.unparse(call.func) == "model" for call in function.decorator_list)
    ]


NAMES = _names()


@functools.cache
def find(name: str) -> Model:
    """The model of a name."""
    for kind in _KINDS:
        importlib.import_module(f"{__name__}.{kind}")
    return next(model for model in MODELS if model.name == name)
