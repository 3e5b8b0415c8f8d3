"""Releases of StableHLO, and the release that added each type.

Source: openxla/stablehlo, stablehlo/dialect/VhloDialect.td (the log of releases), Version.h, VhloOps.cpp.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo.values.element_type import ElementType


class Version(NamedTuple):
    major: int
    minor: int
    patch: int = 0

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @staticmethod
    def parse(text: str | Version) -> Version:
        """Parses `1.17.0` or `1.17`.

        Raises InvalidArgumentError for any other text, and for releases that can't be written.
        """
        if isinstance(text, Version):
            return text
        match = re.fullmatch(r"(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?", text) if isinstance(text, str) else None
        if match is None:
            raise InvalidArgumentError(f"{text!r} is no version of StableHLO", hint="write it as 1.17.0")
        version = Version(int(match[1]), int(match[2]), int(match[3] or 0))
        if not version >= MINIMUM or not (version.major, version.minor) <= (CURRENT.major, CURRENT.minor):
            raise InvalidArgumentError(
                f"StableHLO {version} can't be written: {MINIMUM} to {CURRENT} can",
                hint="take the release of the reader; the first bytes of an artifact name its release: "
                "StableHLO_v1.17.0",
            )
        return version


MINIMUM = Version(0, 9)
CURRENT = Version(1, 20)

MIXED_DIALECTS = Version(1, 11)
"""The first release whose portable artifacts may contain attributes and ops of other dialects."""

TYPE_VERSIONS: dict[str, Version] = {
    **{t.mlir_name: Version(*t.release) for t in ElementType if t.release > MINIMUM[:2]},
    "quantized per axis": Version(0, 18),
    "none": Version(1, 6),
    "tf32": Version(1, 6),
    "memref": Version(1, 13),
    "!stablehlo.future": Version(1, 15),
}
"""The release that added a type, for the types that the first release lacks."""


class VersionError(UnimplementedError):
    """A program needs a newer release of StableHLO than the one that it is written for."""

    def __init__(self, what: str, needed: Version, target: Version) -> None:
        super().__init__(
            f"{what} needs StableHLO {needed}, but the program is written for {target}",
            hint=f"write it for {needed} or later, if its reader is new enough",
        )
