"""The version of the contract. Additions raise the minor version; removals raise the major one, after a deprecation."""

from __future__ import annotations

from collections.abc import Iterable

CONTRACT_VERSION: tuple[int, int] = (1, 1)


def version_text(version: tuple[int, int] = CONTRACT_VERSION) -> str:
    return f"{version[0]}.{version[1]}"


def accepts(versions: Iterable[tuple[int, int]]) -> bool:
    """Whether a backend for contract `versions` runs with this core: same major, and no higher minor version."""
    return any(major == CONTRACT_VERSION[0] and minor <= CONTRACT_VERSION[1] for major, minor in versions)
