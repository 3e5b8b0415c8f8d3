"""Properties of the host processor, as LLVM names them."""

from __future__ import annotations

import dataclasses
import functools
import os
import re
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from xla_core.config import xla_flags
from xla_core.errors import UnavailableError

_lock = threading.RLock()  # guards the native runtime and the results of `once`

T = TypeVar("T")


def once(make: Callable[[], T]) -> Callable[[], T]:
    """Wraps `make` so that it is called once, at first use. Other threads wait for that call and get its result."""
    made: list[T] = []

    @functools.wraps(make)
    def get() -> T:
        if not made:
            with _lock:
                if not made:
                    made.append(make())
        return made[0]

    return get


def locked() -> threading.RLock:
    """The lock of the native runtime."""
    return _lock


def _after_fork() -> None:
    """Replaces the lock in a child process, because a thread of the parent may have held it at the fork."""
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


@dataclasses.dataclass(frozen=True, slots=True)
class _InstructionSet:
    """An instruction set of XLA's flag `--xla_cpu_max_isa`.

    Attributes:
        cpu: LLVM's name of the earliest processor that has it.
        newer: a regular expression of LLVM's names of the features that came with the next one.
    """

    cpu: str
    newer: str


_INSTRUCTION_SETS = {  # from the oldest; each includes the older ones (XLA: backends/cpu/codegen/cpu_features.cc)
    "SSE4_2": _InstructionSet("nehalem", r"avx|f16c|vaes|vpclmulqdq"),
    "AVX": _InstructionSet("sandybridge", r"avx2|fma"),
    "AVX2": _InstructionSet("haswell", r"avx512|avx10|evex512"),
    "AVX512": _InstructionSet("skylake-avx512", r"avx512vnni"),
    "AVX512_VNNI": _InstructionSet("cascadelake", r"avx512bf16"),
    "AVX512_BF16": _InstructionSet("cooperlake", r"amx"),
    "AMX": _InstructionSet("sapphirerapids", r"amx-fp16"),
    "AMX_FP16": _InstructionSet("graniterapids", r"(?!)"),
}


def host_cpu() -> str:
    """LLVM's name of the host processor ("znver4"), or of the earliest one that has all of `--xla_cpu_max_isa`."""
    return _limited_host()[0]


@functools.cache
def host_triple() -> str:
    """LLVM's target triple of the process."""
    triple: str = _binding().get_process_triple()
    return triple


def architecture(triple: str) -> str:
    """The architecture that a target triple names, in LLVM's spelling."""
    name = triple.partition("-")[0]
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)


def host_features() -> frozenset[str]:
    """LLVM's names of the features that the host processor and the operating system support.

    Those that are newer than `--xla_cpu_max_isa` are left out.
    """
    return _limited_host()[1]


@functools.cache
def host_feature_names() -> frozenset[str]:
    """LLVM's names of all features that a processor of the host's architecture may have."""
    return frozenset(_feature_flags())


def _limited_host() -> tuple[str, frozenset[str]]:
    """The processor's name and features, limited by `--xla_cpu_max_isa`."""
    return _limited_to(xla_flags().xla_cpu_max_isa.upper())


@functools.cache
def _limited_to(newest: str) -> tuple[str, frozenset[str]]:
    """The processor's name and features, without those that are newer than the instruction set `newest`.

    As in XLA, a name that isn't one of x86's instruction sets limits nothing.
    """
    name: str = _binding().get_host_cpu_name()
    present = frozenset(feature for feature, is_present in _feature_flags().items() if is_present)
    sets = list(_INSTRUCTION_SETS)
    if newest not in sets or architecture(host_triple()) != "x86_64":
        return name, present
    newer = [_INSTRUCTION_SETS[other].newer for other in sets[sets.index(newest) :]]
    allowed = frozenset(feature for feature in present if not re.match("|".join(newer), feature))
    return (name if allowed == present else _INSTRUCTION_SETS[newest].cpu), allowed


@functools.cache
def _feature_flags() -> dict[str, bool]:
    return dict(_binding().get_host_cpu_features())


@once
def _binding() -> Any:
    try:
        import llvmlite.binding  # imported only when a device is opened, because the import is slow
    except OSError as error:
        raise UnavailableError(
            f"LLVM's library cannot be loaded: {error}",
            hint="it takes 200 MB of address space: see `ulimit -v`; else reinstall llvmlite",
        ) from error
    llvmlite.binding.initialize_native_target()
    llvmlite.binding.initialize_native_asmprinter()
    return llvmlite.binding
