"""The domains of all ops. Importing this package fills `DOMAINS`."""

from __future__ import annotations

from xla_conformance.ops.domains import elementwise, movement

__all__ = ["elementwise", "movement"]
