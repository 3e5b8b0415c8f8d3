"""The conformance suite: decides whether a backend of xla-core is right. `xla conform --backend B` runs it."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
