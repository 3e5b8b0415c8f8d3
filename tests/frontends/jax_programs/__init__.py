"""Programs of each kind in JAX's documentation, exported by JAX and compared with JAX.

`KINDS` is the table: a kind, the modules' own order, and its programs. It needs JAX to be imported.
"""

from __future__ import annotations
