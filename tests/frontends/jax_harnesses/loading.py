"""JAX's primitive harness, imported for its table alone: which functions, of which arguments."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import types
import unittest
from collections.abc import Iterator
from typing import Any

import pytest

__all__ = ["load_harnesses"]

HARNESSES = "jax._src.internal_test_util.test_harnesses"


@contextlib.contextmanager
def _test_library() -> Iterator[None]:
    """While the harness is imported, names that its module takes from absl for classes of tests, which aren't used here.

    JAX's wheel has the harness but does not require absl. Where absl is installed, it is taken.
    """
    if importlib.util.find_spec("absl") is not None:
        yield
        return
    absl, testing = types.ModuleType("absl"), types.ModuleType("absl.testing")
    absltest, parameterized = types.ModuleType("absl.testing.absltest"), types.ModuleType("absl.testing.parameterized")
    absltest.TestLoader = unittest.TestLoader  # type: ignore[attr-defined]
    parameterized.TestCase = unittest.TestCase  # type: ignore[attr-defined]
    testing.absltest, testing.parameterized = absltest, parameterized  # type: ignore[attr-defined]
    absl.testing = testing  # type: ignore[attr-defined]
    made = {module.__name__: module for module in (absl, testing, absltest, parameterized)}
    sys.modules.update(made)
    try:
        yield
    finally:
        for name in made:
            del sys.modules[name]


def load_harnesses() -> list[Any]:
    """JAX's table, in its order, of 64-bit types too; skips the module that asks where this JAX has none."""
    jax = pytest.importorskip("jax")
    config = importlib.import_module("jax._src.config")
    parsed = config.already_configured_with_absl
    config.already_configured_with_absl = True  # the harness would read pytest's command line
    try:
        with jax.enable_x64(True), _test_library():
            return list(importlib.import_module(HARNESSES).all_harnesses)
    except ImportError as error:
        pytest.skip(f"this JAX has no primitive harness: {error}", allow_module_level=True)
    finally:
        config.already_configured_with_absl = parsed
