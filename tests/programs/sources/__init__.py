"""Where the programs come from: JAX functions, one file a kind, each registered with its inputs and tolerances."""

from __future__ import annotations
