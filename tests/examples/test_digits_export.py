"""The committed programs of the digits example equal what its source exports."""

from __future__ import annotations

import importlib.util
import json
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"
PROGRAMS = ("init", "train_step", "predict")


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"digits_{name}", DIGITS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def exported() -> dict[str, str]:
    pytest.importorskip("jax")
    return load("export").texts()


def without_locations(text: str) -> str:
    """Locations hold columns, which depend on Python's version, and callers."""
    lines = (line for line in text.splitlines() if not line.startswith("#loc"))
    return "\n".join(re.sub(r' loc\((#\w+|"[^"]*"(\(#\w+\))?)\)', "", line) for line in lines)


def jax_version(text: str) -> str:
    found = re.search(r"with JAX (\S+)\.$", text.splitlines()[0])
    assert found is not None
    return found[1]


def test_signature_is_what_the_source_says(exported: dict[str, str]) -> None:
    assert json.loads((DIGITS / "signature.json").read_text()) == json.loads(exported["signature.json"])


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_what_the_source_exports(name: str, exported: dict[str, str]) -> None:
    """The text is equal under the JAX version that wrote it. Under another one, the interface and the costly ops are equal."""
    committed, fresh = (DIGITS / f"{name}.mlir").read_text(), exported[f"{name}.mlir"]
    if jax_version(committed) == jax_version(fresh):
        assert without_locations(committed) == without_locations(fresh)
        return
    assert interface(committed) == interface(fresh)
    assert costly_ops(committed) == costly_ops(fresh)


def interface(text: str) -> tuple[list[str], list[str], int]:
    main = re.search(r"@main\((.*)\) -> (.*)\{$", without_locations(text), re.MULTILINE)
    assert main is not None
    types = re.compile(r"tensor<[^>]*>")
    return types.findall(main[1]), types.findall(main[2]), main[1].count("tf.aliasing_output")


def costly_ops(text: str) -> Counter[str]:
    return Counter(re.findall(r"stablehlo\.(?:convolution|dot_general|select_and_scatter|reduce_window)\b", text))


@pytest.mark.parametrize("name", PROGRAMS)
def test_locations_are_relative(name: str) -> None:
    files = set(re.findall(r'loc\("([^"]+)":\d+:\d+', (DIGITS / f"{name}.mlir").read_text()))
    assert files == {"examples/digits/export.py"}


def test_state_is_donated() -> None:
    state = json.loads((DIGITS / "signature.json").read_text())["state"]
    arguments, results, donated = interface((DIGITS / "train_step.mlir").read_text())
    assert donated == state == len(results) - 1
    assert arguments[:state] == results[:state]
    assert interface((DIGITS / "init.mlir").read_text())[1] == results[:state]


def test_data_has_its_notice_and_size() -> None:
    assert "CC BY 4.0" in (DIGITS / "data" / "NOTICE").read_text()
    path = DIGITS / "data" / "digits.npz"
    assert path.stat().st_size < 200_000
    with np.load(path) as data:
        images, labels = data["images"], data["labels"]
    assert (images.shape, images.dtype, int(images.max())) == ((1797, 8, 8), np.uint8, 16)
    np.testing.assert_array_equal(np.unique(labels), np.arange(10))


def test_data_is_scikit_learns() -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    original = datasets.load_digits()
    with np.load(DIGITS / "data" / "digits.npz") as data:
        np.testing.assert_array_equal(data["images"], original.images)
        np.testing.assert_array_equal(data["labels"], original.target)
