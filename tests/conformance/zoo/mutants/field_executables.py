"""Faults of executables and feeds that were found in the field."""

from __future__ import annotations

import dataclasses
import re

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Platform, TemplateExecutable, broken, with_constants
from xla_core.backend import LiteralQueue, TransferManager
from xla_core.hlo import Literal

MUTANTS: list[Mutant] = []
_runs = broken("executables", "executables or programs", MUTANTS)


# -- serialization, fingerprints and figures --------------------------------------------------------------------------


def _serializes(name: str, fault: str, change) -> None:
    def serialize(self):
        return with_constants(self.module, change).to_text().encode()

    _runs("executable.serialize", fault)(type(name, (TemplateExecutable,), {"serialize": serialize}))


_serializes(
    "SerializesRealParts",
    "Serialized complex numbers lose their imaginary parts.",
    lambda a: a.real.astype(a.dtype) if a.dtype.kind == "c" else a,
)
_serializes(
    "SerializesFloats",
    "Serialized numbers of f64 have the precision of f32.",
    lambda a: a.astype(np.float32).astype(a.dtype) if a.dtype == np.float64 else a,
)
_serializes(
    "SerializesRepeats",
    "Serialized constants of more than 64 equal beginnings repeat their first eight elements.",
    lambda a: np.resize(a.reshape(-1)[:8], a.shape) if a.size > 64 and len(set(a.reshape(-1)[:8].tolist())) == 1 else a,
)
_serializes(
    "SerializesTruth",
    "Serialized truth values are those of the first eight.",
    lambda a: np.resize(a.reshape(-1)[:8], a.shape) if a.dtype == bool and a.size > 8 else a,
)
_serializes(
    "SerializesWords",
    "Serialized numbers of s64 have 53 bits.",
    lambda a: (
        a.astype(np.float64).astype(np.int64)
        if a.dtype == np.int64 and np.abs(a.astype(float)).max(initial=0) < 2**62
        else a
    ),
)


@_runs("executable.fingerprint", "The fingerprint leaves out the layouts of parameters and results.")
class FingerprintWithoutLayouts(TemplateExecutable):
    def fingerprint(self):
        return str(hash(re.sub(r"\{[\d,]*(?::[^}]*)?\}", "", self.module.to_text())))


@_runs("executable.fingerprint", "The fingerprint is that of the entry, without the computations that it calls.")
class FingerprintOfTheEntry(TemplateExecutable):
    def fingerprint(self):
        return str(hash(str(self.module.entry) + str(self.parameter_shapes)))


@_runs("executable.cost", "Each question for the costs doubles them.")
class CostsGrow(TemplateExecutable):
    asked = 0

    def cost_analysis(self):
        costs = dict(super().cost_analysis())
        self.asked += 1
        return {key: value * 2 ** (self.asked - 1) for key, value in costs.items()}


@_runs("executable.memory-stats-sizes", "The second question for the memory statistics finds no temporaries.")
class TemporariesOnce(TemplateExecutable):
    asked = False

    def memory_stats(self):
        stats = super().memory_stats()
        self.asked, before = True, self.asked
        return dataclasses.replace(stats, temp_bytes=0) if before else stats


@_runs(
    "executable.result-order", "The results of a program with more results than parameters and one size are rotated."
)
class RotatesResults(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = list(super().execute_async_on_stream(run_options, arguments))
        alike = len({str(shape) for shape in self.result_shapes}) == 1
        return results[1:] + results[:1] if alike and len(results) > len(arguments) > 0 else results


@_runs("executable.donation", "Of two donated arguments of one size, each is returned as the other's result.")
class ExchangesDonations(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = list(super().execute_async_on_stream(run_options, arguments))
        given = [n for n, memory in enumerate(results) if any(memory is argument for argument in arguments)]
        if len(given) == 2 and results[given[0]].size == results[given[1]].size:
            results[given[0]], results[given[1]] = results[given[1]], results[given[0]]
        return results


# -- feeds ------------------------------------------------------------------------------------------------------------


class _ShortFeed(LiteralQueue):
    def put(self, literal):
        value = literal.value
        if isinstance(value, np.ndarray) and value.nbytes > 1 << 12:
            value = value.copy()
            value.reshape(-1)[-1:] = 0
            literal = Literal(value)
        super().put(literal)


class _ShortFeeds(TransferManager):
    def _queue(self, kind, ordinal):
        queue = super()._queue(kind, ordinal)
        queue.__class__ = _ShortFeed
        return queue


class _SwappedFeed(LiteralQueue):
    def get(self, timeout=None):
        found = super().get(timeout)
        value = found.value
        if isinstance(value, tuple) and len(value) == 2 and value[0].shape == value[1].shape:
            return Literal((value[1], value[0]))
        return found


class _SwappedFeeds(TransferManager):
    def _queue(self, kind, ordinal):
        queue = super()._queue(kind, ordinal)
        queue.__class__ = _SwappedFeed
        return queue


def _manager(name: str, promise: str, fault: str, cls: type) -> None:
    made = type(name, (Platform,), {"create_transfer_manager": lambda self: cls(self.compiler.target_config)})
    broken("executables", "executables or collectives or [infeed or [outfeed", MUTANTS)(promise, fault)(made)


_manager("ShortFeeds", "transfer-manager.infeed", "A feed of more than 4 KiB loses its last element.", _ShortFeeds)
_manager("SwappedFeeds", "transfer-manager.infeed", "The two parts of a fed tuple change places.", _SwappedFeeds)
