"""Mutants whose kernels are wrong at one combination of special values of an op's operands."""

from __future__ import annotations

import zlib

import numpy as np
from xla_conformance.ops.elementwise_forms import simple_forms

from tests.conformance.zoo.kernels import kernel_mutant
from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.points import fault_at, points
from tests.conformance.zoo.reasons import kernel_ops
from xla_core.hlo import OPS, ElementType, Opcode

_EACH = 3
_TYPES = (ElementType.F32, ElementType.S32)


def _mutants() -> list[Mutant]:
    """For each elementwise op, a few points that an op of the table's name chooses."""
    mutants = []
    for opcode in map(Opcode, kernel_ops()):
        op = OPS[opcode]
        forms = [f for t in _TYPES if op.is_elementwise and isinstance(op.arity, int) for f in simple_forms(op, t)[:1]]
        for form in forms:
            every = list(points(form.operands))
            random = np.random.default_rng(zlib.crc32(opcode.encode()))
            for number in random.choice(len(every), min(_EACH, len(every)), replace=False):
                at = ", ".join(f"{v} (0x{np.asarray(v).tobytes()[::-1].hex()})" for v in every[number])
                mutants.append(
                    kernel_mutant(
                        f"values/{opcode}/point-{form.operands[-1]}-{number}",
                        f"{opcode}:values",
                        f"`{opcode}` is wrong for {at} alone.",
                        opcode.value,
                        fault_at(every[number]),
                        select="test_values",
                    )
                )
    return mutants


MUTANTS = _mutants()
