"""Programs with inputs and results that older JAX versions serialized, from JAX's tests of backward compatibility."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

DATA = "jax._src.internal_test_util.export_back_compat_test_data"


@dataclasses.dataclass(frozen=True)
class Stored:
    """`targets` are the custom calls in it; `devices` how many it runs on."""

    name: str
    platform: str
    devices: int
    targets: tuple[str, ...]
    text: str
    artifact: bytes
    arguments: list[np.ndarray]
    results: list[np.ndarray]

    def __str__(self) -> str:
        return self.name


def load_stored() -> list[Stored]:
    """Loads all programs by name. Skips the calling module if this JAX has none."""
    pytest.importorskip("jax")
    try:
        package = importlib.import_module(DATA)
    except ImportError as error:
        pytest.skip(f"this JAX has no stored programs: {error}", allow_module_level=True)
    found = []
    for module in pkgutil.walk_packages(package.__path__, f"{DATA}."):
        if not module.ispkg:
            found += list(_entries(module.name.removeprefix(f"{DATA}."), vars(importlib.import_module(module.name))))
    return sorted(found, key=lambda stored: stored.name)


def _entries(name: str, value: Any) -> Iterator[Stored]:
    """Yields the programs in nested dictionaries and lists."""
    import jax

    if not isinstance(value, dict | list | tuple):
        return
    if isinstance(value, dict) and "mlir_module_serialized" in value:
        arguments, results = (
            [np.asarray(x) for x in jax.tree.leaves(value[k])] for k in ("inputs", "expected_outputs")
        )
        text, artifact = value["mlir_module_text"], value["mlir_module_serialized"]
        devices, targets = value.get("nr_devices", 1), tuple(value["custom_call_targets"])
        yield Stored(name, value["platform"], devices, targets, text, artifact, arguments, results)
        return
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if not str(key).startswith("__"):
            yield from _entries(f"{name}.{key}", item)


def load_exported() -> dict[str, bytes]:
    """The artifacts within what `jax.export` serialized, by name: JAX's own reader of those needs one more library."""
    found = {}
    for kind in ("memory_space", "multiple_meshes", "specified_sharding", "unspecified_sharding"):
        for stored in importlib.import_module(f"{DATA}.export_with_{kind}").serializations:
            whole = bytes(stored["exported_serialized"])
            start = whole.index(b"ML\xefR")  # a vector of bytes in a flatbuffer: its length is before it
            size = int.from_bytes(whole[start - 4 : start], "little")
            found[f"{kind}, version {stored['serialization_version']}"] = whole[start : start + size]
    return found
