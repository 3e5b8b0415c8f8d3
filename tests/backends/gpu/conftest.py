"""Clients of emulated GPUs. Tests that need one are skipped where the backend finds a GPU."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

import xla_core as xla


@contextlib.contextmanager
def emulated() -> Iterator[xla.Client]:
    with xla.Client("gpu") as client:
        if not client.devices[0].description.simulated:
            pytest.skip("this machine has a GPU")
        yield client


@pytest.fixture(scope="module")
def client():
    with emulated() as made:
        yield made


@pytest.fixture
def lost_client():
    """A client for one test, which may lose its device."""
    with emulated() as made:
        yield made
