"""Backends to test the suite with: the template with one mistake."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from xla_core.backend import registry

pytest.importorskip("xla_backend_template")

HEADER = """\
import dataclasses
import os
import time

import numpy as np

import xla_backend_template
import xla_backend_template.compiler
from xla_backend_template.compiler import TemplateCompiler
from xla_backend_template.executable import TemplateExecutable
from xla_backend_template.executor import TemplateExecutor, TemplateStream
from xla_backend_template.kernel import HloKernel
from xla_backend_template.platform import TemplatePlatform
from xla_core.backend import hookimpl


def spec(**changes):
    return dataclasses.replace(xla_backend_template.xla_backend(), flags=None, **changes)


# the template with other parts
def parts(kernel=HloKernel, stream=TemplateStream, executor=TemplateExecutor, compiler=TemplateCompiler):
    class Device(executor):
        def create_stream(self):
            return stream(self)

    class Platform(TemplatePlatform):
        def create_executor(self, ordinal):
            return Device(ordinal, 1 << 28)

        def create_compiler(self):
            return compiler()

    if kernel is not HloKernel:
        xla_backend_template.compiler.HloKernel = kernel
    return spec(platform=Platform, stream_executor=Device, stream=stream, compiler=compiler, kernel=kernel)


# makes the module a backend of these parts
def put(**given):
    @hookimpl
    def xla_backend():
        return parts(**given)

    globals()["xla_backend"] = xla_backend

"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports that no option names go to a folder of the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def put_backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    """`put_backend(name, source)` installs a backend whose module is HEADER and `source`; returns the name."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def put(name: str, source: str) -> str:
        (site / f"judged_{name}.py").write_text(HEADER + textwrap.dedent(source))
        info = site / f"judged_{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: judged-{name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[xla_core.backends]\n{name} = judged_{name}\n")
        registry.clear_cache()
        return name

    return put
