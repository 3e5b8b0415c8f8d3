"""Checks for `xla doctor` whether JAX can use the backends, and what to do if it can't. JAX is not imported."""

from __future__ import annotations

import importlib.metadata
import os
import re
from collections.abc import Sequence

from xla_core.checks import did_you_mean
from xla_core.pjrt.jax_plugin import JAX_PLATFORMS, platform_name

TESTED = (0, 10, 2)
"""The release of JAX that the tests run. The bridge uses names of JAX that are not public, and releases change them."""

_PLUGINS = "jax_plugins"
_MODULE = "xla_core.pjrt.jax_plugin"


def jax_platforms(backends: Sequence[str]) -> str:
    """Says by which names JAX knows the backends."""
    return ", ".join(platform_name(backend) for backend in backends)


def jax_problems(backends: Sequence[str]) -> list[str]:
    """Returns a sentence, which ends with the remedy, for each reason why JAX might not run on the backends."""
    jax = _version("jax")
    if jax is None:
        return ["JAX is not installed: `pip install jax`, to run its programs on these backends and to export them."]
    return [*_of_versions(jax), *_of_plugin(), *_of_variable(backends)]


def _of_versions(jax: str) -> list[str]:
    jaxlib = _version("jaxlib")
    if jaxlib is None:
        return [f"jax {jax} needs jaxlib, which is not installed: `pip install jaxlib=={jax}`."]
    needed = [text for text in importlib.metadata.requires("jax") or () if re.match(r"jaxlib[<>=]", text)]
    for text in needed:
        if ";" not in text and not _meets(jaxlib, text.removeprefix("jaxlib")):
            return [f"jax {jax} needs {text}, and jaxlib {jaxlib} is installed: `pip install jaxlib=={jax}`."]
    tested, have = ".".join(map(str, TESTED)), _numbers(jax)
    remedy = f"with which xla-core is tested: `pip install jax=={tested}`."
    if have < TESTED:
        return [f"jax {jax} is older than {tested}, {remedy}"]
    if have[:2] > TESTED[:2]:
        return [f"jax {jax} is newer than {tested}, {remedy}"]
    return []


def _of_plugin() -> list[str]:
    points = importlib.metadata.entry_points(group=_PLUGINS)
    if any(point.value == _MODULE for point in points):
        return []
    return ["JAX doesn't find xla-core's entry point `jax_plugins`: reinstall xla-core."]


def _of_variable(backends: Sequence[str]) -> list[str]:
    """Checks JAX_PLATFORMS. JAX's own platforms, and those of other plugins, are not examined."""
    named = [name for name in os.environ.get("JAX_PLATFORMS", "").split(",") if name]
    ours = {platform_name(backend) for backend in backends}
    others = {point.name for point in importlib.metadata.entry_points(group=_PLUGINS)}
    problems = []
    for name in named:
        if name not in ours | others | JAX_PLATFORMS and (meant := did_you_mean(name, ours | JAX_PLATFORMS, 1)):
            problems.append(f"JAX_PLATFORMS names {name!r}, which is no platform: {meant}")
    if ours.intersection(named) and "cpu" not in named:
        text = ",".join([*named, "cpu"])
        problems.append(
            f"JAX_PLATFORMS lacks cpu, on which JAX runs the functions of callbacks with arrays: JAX_PLATFORMS={text}."
        )
    return problems


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    """Returns the release's numbers: (0, 10, 2) of "0.10.2.dev3"."""
    release = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, release[0].split("."))) if release else ()


def _meets(version: str, conditions: str) -> bool:
    """Whether a version meets conditions such as "<=0.10.2,>=0.10.1"; kinds other than these two are met."""
    have = _numbers(version)
    bounds = re.findall(r"([<>])=([\d.]+)", conditions)
    return all(have <= _numbers(bound) if kind == "<" else have >= _numbers(bound) for kind, bound in bounds)
