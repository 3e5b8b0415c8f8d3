"""Clients of emulated GPUs. Tests that need one are skipped where the backend finds a GPU."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import xla_core as xla
from tests.backends.gpu import cublas_stub
from tests.backends.gpu.cuda_stub import Run, compiler, runner


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


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of the stub of cuBLASLt."""
    if compiler() is None:
        pytest.skip("there is no C compiler for the stub of cuBLASLt")
    return cublas_stub.build(tmp_path_factory.mktemp("cublas"))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs programs over a stub of CUDA's driver."""
    if compiler() is None:
        pytest.skip("there is no C compiler for the stub of CUDA's driver")
    return runner(tmp_path_factory.mktemp("libcuda"))
