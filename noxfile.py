"""The tests under each Python that is installed: `nox`."""

from __future__ import annotations

import nox

nox.options.error_on_missing_interpreters = False
PACKAGES = (".", "./backends/cpu", "./backends/gpu", "./backends/template", "./conformance")


@nox.session(python=["3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """The whole test suite, installed as a user would."""
    session.install(*PACKAGES, ".[test]")
    session.run("python", "-m", "pytest", "-q", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Style, types, layers."""
    session.install(*(f"-e{p}" for p in PACKAGES), ".[dev,test]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("lint-imports")
