"""Programs of each kind that JAX's documentation shows, compiled from what JAX exports and compared with JAX.

`KINDS` is the table: a kind, the modules' own order, and its programs. It needs JAX to be imported.
"""

from __future__ import annotations
