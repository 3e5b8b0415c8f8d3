"""The words that names of cases are put together from, which are known before the cases are made."""

from __future__ import annotations

from collections.abc import Iterator

from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.contexts import CONTEXTS
from xla_conformance.ops.domains import DOMAINS
from xla_core.hlo import OPS, ElementType, Opcode

_EACH = " ".join(map(str, (*(t.value for t in ElementType), *CONTEXTS)))


def words_of_cases(opcode: Opcode) -> str:
    """Returns the words in the names of an op's cases, in lower case."""
    return " ".join([_EACH, *_of_domains(opcode)]).lower()


def _of_domains(opcode: Opcode) -> Iterator[str]:
    for domain in DOMAINS.get(opcode, ()):
        yield domain.variant
        sizes = (*domain.sizes, *domain.hiding)
        for axis, values in {**domain.axes, "size": sizes, "place": (*domain.places, "every")}.items():
            for value in values:
                yield from (str(Choice({axis: each})) for each in (value if isinstance(value, Group) else (value,)))


def words_of_value_cases(opcode: Opcode) -> str:
    """Returns the words in the names of an op's cases of special values, in lower case."""
    values = [value for attribute in OPS[opcode].attributes.values() for value in attribute.values]
    return " ".join([_EACH, "to scalar constant million", *values]).lower()
