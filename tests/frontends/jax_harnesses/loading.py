"""Imports JAX's primitive harness for its table of functions and arguments."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

HARNESSES = "jax._src.internal_test_util.test_harnesses"


def load_harnesses() -> list[Any]:
    """JAX's table, in its order, of 64-bit types too; skips the module that asks where this JAX has none."""
    jax = pytest.importorskip("jax")
    pytest.importorskip("absl", reason="JAX's primitive harness is a module of tests on absl-py, which isn't installed")
    config = importlib.import_module("jax._src.config")
    parsed = config.already_configured_with_absl
    config.already_configured_with_absl = True  # the harness would read pytest's command line
    try:
        with jax.enable_x64(True):
            return list(importlib.import_module(HARNESSES).all_harnesses)
    except ImportError as error:
        pytest.skip(f"this JAX has no primitive harness: {error}", allow_module_level=True)
    finally:
        config.already_configured_with_absl = parsed
