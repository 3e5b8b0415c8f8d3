"""The packages of the suite that say what each of their modules is for leave none out."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest


@pytest.mark.parametrize("package", ["xla_conformance", *(f"xla_conformance.{p}" for p in ("ops", "report", "runner"))])
def test_the_map_of_a_package_has_each_module_once(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__doc__ is not None
    text = " ".join(re.findall(r"^\| (`.*)", module.__doc__, re.MULTILINE))
    named = [name for name in re.findall(r"`(\w+)`", text) if name != "xla"]
    there = [found.name for found in pkgutil.iter_modules(module.__path__)]
    assert sorted(named) == sorted(there)
