"""The lines of `xla doctor` about JAX."""

from __future__ import annotations

import importlib.metadata
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xla_core.cli.jax_versions import TESTED, jax_platforms, jax_problems

BACKENDS = ("cpu", "template")
Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Makes an environment of given versions of distributions; the plugin is registered unless `plugin` is False."""
    monkeypatch.delenv("JAX_PLATFORMS", raising=False)

    def make(plugin: bool = True, **versions: str) -> None:
        def version(name: str) -> str:
            if name not in versions:
                raise importlib.metadata.PackageNotFoundError(name)
            return versions[name]

        point = importlib.metadata.EntryPoint("xla_core", "xla_core.pjrt.jax_plugin", "jax_plugins")
        needs = ["jaxlib<=0.10.2,>=0.10.1", 'jaxlib==0.10.0; extra == "old"', "numpy>=2"]
        monkeypatch.setattr(importlib.metadata, "version", version)
        monkeypatch.setattr(importlib.metadata, "requires", lambda name: needs)
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [point] if plugin else [])

    return make


def test_nothing_is_said_of_versions_that_fit(install: Install) -> None:
    install(jax="0.10.2", jaxlib="0.10.1")
    assert jax_problems(BACKENDS) == []
    assert jax_platforms(BACKENDS) == "xla_cpu, template"
    install(jax="0.10.3", jaxlib="0.10.2")
    assert jax_problems(BACKENDS) == []


def test_the_extra_installs_a_release_that_the_doctor_accepts() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    assert f"jax>={'.'.join(map(str, TESTED))}" in project["optional-dependencies"]["jax"]


@pytest.mark.parametrize(
    ("versions", "problem"),
    [
        ({}, "JAX is not installed: `pip install jax`, to run its programs on these backends and to export them."),
        ({"jax": "0.10.2"}, "jax 0.10.2 needs jaxlib, which is not installed: `pip install jaxlib==0.10.2`."),
        (
            {"jax": "0.10.2", "jaxlib": "0.9.9"},
            "jax 0.10.2 needs jaxlib<=0.10.2,>=0.10.1, and jaxlib 0.9.9 is installed: `pip install jaxlib==0.10.2`.",
        ),
        (
            {"jax": "0.10.2", "jaxlib": "0.11.0.dev1"},
            "jax 0.10.2 needs jaxlib<=0.10.2,>=0.10.1, and jaxlib 0.11.0.dev1 is installed: "
            "`pip install jaxlib==0.10.2`.",
        ),
        (
            {"jax": "0.9.7", "jaxlib": "0.10.2"},
            "jax 0.9.7 is older than 0.10.2, with which xla-core is tested: `pip install jax==0.10.2`.",
        ),
        (
            {"jax": "0.10.0", "jaxlib": "0.10.1"},
            "jax 0.10.0 is older than 0.10.2, with which xla-core is tested: `pip install jax==0.10.2`.",
        ),
        (
            {"jax": "0.11.0.dev3", "jaxlib": "0.10.2"},
            "jax 0.11.0.dev3 is newer than 0.10.2, with which xla-core is tested: `pip install jax==0.10.2`.",
        ),
        (
            {"jax": "0.10.2", "jaxlib": "0.10.2", "plugin": False},
            "JAX doesn't find xla-core's entry point `jax_plugins`: reinstall xla-core.",
        ),
    ],
)
def test_a_problem_is_a_sentence_with_its_remedy(install: Install, versions: dict[str, Any], problem: str) -> None:
    install(**versions)
    assert jax_problems(BACKENDS) == [problem]


@pytest.mark.parametrize(
    ("variable", "problems"),
    [
        ("template,cpu", []),
        ("cuda", []),
        ("another_plugin", []),
        ("xla_cpv,cpu", ["JAX_PLATFORMS names 'xla_cpv', which is no platform: did you mean xla_cpu?"]),
        (
            "template",
            [
                "JAX_PLATFORMS lacks cpu, on which JAX runs the functions of callbacks with arrays: "
                "JAX_PLATFORMS=template,cpu."
            ],
        ),
    ],
)
def test_platforms_that_jax_is_told_to_use(
    install: Install, monkeypatch: pytest.MonkeyPatch, variable: str, problems: list[str]
) -> None:
    install(jax="0.10.2", jaxlib="0.10.2")
    monkeypatch.setenv("JAX_PLATFORMS", variable)
    assert jax_problems(BACKENDS) == problems


def test_the_doctor_shows_both(xla: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jax", reason="JAX is not installed")
    monkeypatch.setenv("JAX_PLATFORMS", "xla_cpv,cpu")
    examined = xla("doctor").out
    (platforms,) = [line for line in examined.splitlines() if "platforms of JAX:" in line]
    assert "xla_cpu" in platforms
    assert "JAX_PLATFORMS names 'xla_cpv', which is no platform: did you mean xla_cpu?" in examined
