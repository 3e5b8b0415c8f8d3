"""`xla backends` and `xla doctor`: which backends are installed, whether each works, and why not."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import platform
import sys
from typing import TYPE_CHECKING

import typer

from xla_core.cli import output
from xla_core.wording import counted

if TYPE_CHECKING:
    from rich.console import Console

    from xla_core.backend import BackendInfo, Requirement
    from xla_core.cli.rehearsal import Accident

VARIABLES = ("XLA_PLATFORM", "XLA_FLAGS", "XLA_CORE_FLAGS", "JAX_PLATFORMS")
PACKAGES = ("numpy", "ml_dtypes", "llvmlite", "pluggy", "pydantic", "jax", "jaxlib")
NOT_INSTALLED = "not installed"


def backends() -> None:
    """List the installed backends and whether each can be used."""
    from rich.table import Table

    from xla_core.backend import inspect_backends
    from xla_core.backend.registry import INSTALL_HINT

    found = inspect_backends()
    out = output.console()
    if not found:
        out.print(f"no backend is installed: {INSTALL_HINT}")
        raise typer.Exit(1)
    table = Table("backend", "version", "contract", "priority", "status", "what it is", box=None, pad_edge=False)
    for info in found:
        spec = info.spec
        if spec is None:
            status = "[yellow]not available" if info.declines else "[red]broken"
            table.add_row(info.name, "", "", "", status, _escaped(f"{info.cause}; see `xla doctor`"))
            continue
        finding = _open(info)
        status = "[green]available" if finding.devices else "[yellow]not available"
        has = ", ".join(r.name for r in _requirements(info) if r.met)
        what = "; ".join(part for part in (spec.description, f"has {has}" if has else "") if part)
        if not finding.devices:
            what = "; ".join(part for part in (finding.cause, what) if part)
        contracts = ", ".join(f"{major}.{minor}" for major, minor in spec.contract_versions)
        table.add_row(info.name, spec.version, contracts, str(spec.priority), status, _escaped(what))
    out.print(table)


@dataclasses.dataclass(frozen=True, slots=True)
class _Finding:
    """The result of opening a backend's devices: `devices` describes them, or is "" and `cause` is the reason.

    `words` are what its process printed before it ended.
    """

    info: BackendInfo
    devices: str
    cause: str
    words: str = ""


def doctor() -> None:
    """Examine the environment, every backend and every custom call. The last line is the diagnosis.

    Exit code 1 if no program can run, or if an installed backend or custom call can't be imported or opened. A backend
    whose probe reports that it can't be used is not a failure.
    """
    from xla_core.backend.registry import misnamed_entry_points, misnaming
    from xla_core.hlo.ops.custom_calls import broken_custom_calls

    out = output.console()
    _environment(out)
    findings = _findings()
    _show_jax(out, [finding.info.name for finding in findings])
    for finding in findings:
        _show(out, finding)
    calls = broken_custom_calls()
    for target, error in calls.items():
        out.print(f"\n[bold]custom call {_escaped(target)}[/]: [red]broken", soft_wrap=True)
        out.print(f"  {error.message}\n  hint: {error.hint}", soft_wrap=True, markup=False)
    misnamed = misnamed_entry_points()
    for each in misnamed:
        out.print(f"\n[yellow]{_escaped(misnaming(*each))}", soft_wrap=True)
    out.print()
    sentence, well = _sentence(findings, list(calls), [name for name, _, _ in misnamed])
    out.print(f"[bold {'green' if well else 'red'}]{_escaped(sentence)}", soft_wrap=True)
    if not well:
        raise typer.Exit(1)


def _environment(out: Console) -> None:
    from xla_core import __version__
    from xla_core.backend import CONTRACT_VERSION
    from xla_core.config import misspelled_xla_flags

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    contract = ".".join(map(str, CONTRACT_VERSION))
    out.print(f"[bold]xla-core[/] {__version__}, contract {contract}")
    out.print(f"  Python {platform.python_version()} at {sys.executable}", soft_wrap=True, markup=False)
    out.print(f"  {platform.system()} {platform.release()} on {platform.machine()}, {cores} cores", soft_wrap=True)
    versions = [f"{name} {_version(name)}" for name in PACKAGES]
    out.print(f"  {', '.join(versions)}", soft_wrap=True)
    for name in VARIABLES:
        if name in os.environ:
            out.print(f"  {name}={os.environ[name]}", soft_wrap=True, markup=False)
    for name, meant in misspelled_xla_flags().items():
        out.print(
            f"  [yellow]no installed backend reads --{name} of XLA_FLAGS[/]: did you mean --{meant}?", soft_wrap=True
        )


def _show_jax(out: Console, backends: list[str]) -> None:
    from xla_core.cli.jax_versions import jax_platforms, jax_problems

    if _version("jax") != NOT_INSTALLED and backends:
        out.print(f"  platforms of JAX: {jax_platforms(backends)}", soft_wrap=True, markup=False)
    for problem in jax_problems(backends):
        out.print(f"  [yellow]{_escaped(problem)}", soft_wrap=True)


def _findings() -> list[_Finding]:
    """Loads, probes and opens each installed backend; those that would end or hold up this process only elsewhere."""
    from xla_core.backend import backends
    from xla_core.backend.registry import inspect_backend
    from xla_core.cli.rehearsal import accidents

    ended = accidents(backends())
    return [_not_opened(name, ended[name]) if name in ended else _open(inspect_backend(name)) for name in backends()]


def _not_opened(name: str, accident: Accident) -> _Finding:
    from xla_core.backend.registry import describe_backend, inspect_backend
    from xla_core.errors import FailedPreconditionError

    where = f"`xla conform --backend {name} -k loading` shows where"
    if accident.step == "open":
        return _Finding(inspect_backend(name), "", f"opening it {accident.what}; {where}", accident.words)
    info = describe_backend(name)
    doing = {"load": "loading it", "probe": "its probe"}[accident.step]
    message = f"backend {name!r} of {' and '.join(info.distributions)} cannot be used: {doing} {accident.what}"
    error = FailedPreconditionError(message, hint=f"{where}; reinstall or uninstall the distribution")
    return _Finding(dataclasses.replace(info, error=error, details=accident.words), "", message)


def _open(info: BackendInfo) -> _Finding:
    import xla_core as xla
    from xla_core.errors import XlaError
    from xla_core.runtime.memory.memory_stats import format_bytes

    if not info.usable:
        return _Finding(info, "", info.cause)
    try:
        with xla.Client(info.name) as client:
            description = client.devices[0].description
            count = len(client.devices)
    except XlaError as error:
        cause = error.__cause__
        if cause is None or isinstance(cause, XlaError):
            return _Finding(info, "", error.message)
        return _Finding(info, "", f"opening it failed with {type(cause).__name__}: {cause}")
    memory = f", {format_bytes(description.memory_bytes)}" if description.memory_bytes else ""
    return _Finding(info, f"{counted(count, 'device')}: {description.name}{memory}", "")


def _show(out: Console, finding: _Finding) -> None:
    info = finding.info
    owner = " and ".join(info.distributions)
    broken = info.error is not None and not info.declines
    status = "[green]available" if finding.devices else "[red]broken" if broken else "[yellow]not available"
    out.print(f"\n[bold]{info.name}[/] from {_escaped(owner)} ({_escaped(info.entry_point)}): {status}", soft_wrap=True)
    for requirement in _requirements(info):
        mark = "[green]has[/]  " if requirement.met else "[red]lacks[/]"
        detail = f": {requirement.detail}" if requirement.detail else ""
        out.print(f"  {mark} {_escaped(requirement.name + detail)}", soft_wrap=True)
        if requirement.hint and not requirement.met:
            out.print(f"        hint: {requirement.hint}", soft_wrap=True, markup=False)
    if finding.devices or finding.cause != _unmet(info):
        out.print(f"  {finding.devices or finding.cause}", soft_wrap=True, markup=False)
    if info.error is not None and info.error.hint:
        advice = [part for part in info.error.hint.split("; ") if "`xla doctor`" not in part]  # it is running
        if advice:
            out.print(f"  hint: {'; '.join(advice)}", soft_wrap=True, markup=False)
    if details := finding.words or (info.details if broken else ""):
        out.print("\n".join(f"    {line}" for line in details.rstrip().splitlines()), soft_wrap=True, markup=False)


def _sentence(findings: list[_Finding], calls: list[str], misnamed: list[str]) -> tuple[str, bool]:
    """The diagnosis, and whether programs can run and nothing is broken.

    `calls` are the broken custom calls, `misnamed` the entry points of a group that is almost the right one.
    """
    from xla_core.backend import BackendInfo
    from xla_core.backend.registry import INSTALL_HINT

    if not findings:
        return f"No backend is installed: {INSTALL_HINT}.", False
    usable = [f.info for f in findings if f.devices]
    broken = [f.info.name for f in findings if f.info.error is not None and not f.info.declines]
    wanted = os.environ.get("XLA_PLATFORM")
    if wanted and wanted not in {info.name for info in usable}:
        return f"XLA_PLATFORM names {wanted!r}, which cannot be used: unset it, or repair that backend.", False
    if not usable:
        causes = "; ".join(f"{f.info.name}: {f.cause}" for f in findings)
        return f"No installed backend can be used: {causes}.", False
    default = wanted or min(usable, key=BackendInfo.rank).name
    runs = f"run on {default!r} unless you name another"
    failing = [f.info.name for f in findings if f.info.usable and not f.devices]
    declining = [f.info.name for f in findings if not f.info.usable and f.info.name not in broken]
    kinds = {"cannot be loaded": broken, "cannot be opened": failing, "not available": declining}
    kinds |= {"broken custom calls": calls, "in a misspelt group of entry points": misnamed}
    tail = "".join(f"; {what}: {', '.join(names)}" for what, names in kinds.items() if names)
    well = not (broken or failing or calls or misnamed)
    return ("All is well: programs " if well else "Programs ") + runs + tail + ".", well


def _requirements(info: BackendInfo) -> tuple[Requirement, ...]:
    return info.availability.requirements if info.availability is not None else ()


def _unmet(info: BackendInfo) -> str:
    """The cause made of unmet requirements, or "" if all are met."""
    from xla_core.backend import Availability

    return Availability.of(*_requirements(info)).cause


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return NOT_INSTALLED


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
