"""The mutant that a seed stands for."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from tests.robustness.byte_mutations import mutate_bytes
from tests.robustness.corpus import sources
from tests.robustness.mutations import mutate

ALL_FORMATS = ("stablehlo", "hlo", "bytecode")


class Mutant(NamedTuple):
    """`name` is the program's that was mutated."""

    format: str
    name: str
    data: str | bytes


def mutant(seed: int, formats: Sequence[str] = ALL_FORMATS) -> Mutant:
    """Makes the mutant. All formats are equally likely; small programs are more likely, because they take less time."""
    rng = random.Random(seed)
    format = rng.choice(list(formats))
    corpus = sources(format)
    name, data = corpus[min(rng.randrange(len(corpus)), rng.randrange(len(corpus)))]
    if isinstance(data, bytes):
        return Mutant(format, name, mutate_bytes(data, rng))
    other = rng.choice(corpus)[1]
    assert isinstance(other, str)
    return Mutant(format, name, mutate(data, rng, other))
