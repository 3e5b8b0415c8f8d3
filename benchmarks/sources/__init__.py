"""The benchmark programs in JAX.

The sizes are chosen so that JAX takes 1 to 50 ms on two cores.
"""

from __future__ import annotations

from benchmarks.sources import arrays, models, products
from benchmarks.sources.registry import SOURCES

__all__ = ["SOURCES", "arrays", "models", "products"]
