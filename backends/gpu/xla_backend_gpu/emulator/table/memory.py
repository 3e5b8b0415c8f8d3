"""Loads, stores, asynchronous copies and atomics.

An atomic's implementation computes the new value of memory from the old one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from xla_backend_gpu.emulator.table.definition import Effect, define
from xla_backend_gpu.emulator.table.floats import on_arrays
from xla_backend_gpu.emulator.table.integers import binary, chosen, plain
from xla_backend_gpu.emulator.table.ir_floats import on_floats

Array = npt.NDArray[Any]

define("ld.sem?.scope?.space?.cop?.nc?.evict?.prefetch?.vec?.memory d, a:mem", effect=Effect.LOAD)
define("st.sem?.scope?.space?.cop?.evict?.vec?.memory a:mem, b", effect=Effect.STORE)

define("cp.async.cop=ca/cg.to=shared/shared::cta.from=global.prefetch? a:mem, b:mem, n:u32, m:u32?", effect=Effect.COPY)
define("cp.async.commit_group", effect=Effect.COMMIT)
define("cp.async.wait_group n:u32", effect=Effect.AWAIT)
define("cp.async.wait_all", effect=Effect.AWAIT)

_INTEGERS = "type=u32/s32/u64/s64/b32/b64"
_ATOMICS: tuple[tuple[str, Callable[..., Any], Callable[..., Any]], ...] = (
    (f"add.{_INTEGERS}", plain(np.add), lambda b, op, old, x: b.add(old, x)),
    ("add.noftz?.allfloat", on_arrays(lambda op, old, x: np.add(old, x)), on_floats(lambda b, op, o, x: b.fadd(o, x))),
    (f"min.{_INTEGERS}", plain(np.minimum), chosen("lt")),
    (f"max.{_INTEGERS}", plain(np.maximum), chosen("gt")),
    (f"and.{_INTEGERS}", plain(np.bitwise_and), binary("and")),
    (f"or.{_INTEGERS}", plain(np.bitwise_or), binary("or")),
    (f"xor.{_INTEGERS}", plain(np.bitwise_xor), binary("xor")),
    (f"exch.{_INTEGERS}", lambda op, old, x: x, lambda b, op, old, x: x),
    (
        "inc.u32",
        lambda op, old, limit: np.where(old >= limit, np.uint32(0), old + np.uint32(1)),
        lambda b, op, old, limit: b.select(b.icmp("uge", old, limit), b.int_(0, "i32"), b.add(old, b.int_(1, "i32"))),
    ),
    (
        "dec.u32",
        lambda op, old, limit: np.where((old == 0) | (old > limit), limit, old - np.uint32(1)),
        lambda b, op, old, limit: b.select(
            b.or_(b.icmp("eq", old, b.int_(0, "i32")), b.icmp("ugt", old, limit)),
            limit,
            b.sub(old, b.int_(1, "i32")),
        ),
    ),
)
for _syntax, _numpy, _ir in _ATOMICS:
    define(f"atom.sem?.scope?.space?.{_syntax} d, a:mem, b", _numpy, _ir, Effect.ATOMIC)
    define(f"red.sem?.scope?.space?.{_syntax} a:mem, b", _numpy, _ir, Effect.ATOMIC)
define(
    "atom.sem?.scope?.space?.cas.type=b16/b32/b64 d, a:mem, b, c",
    lambda op, old, expected, x: np.where(old == expected, x, old),
    lambda b, op, old, expected, x: b.select(b.icmp("eq", old, expected), x, old),
    Effect.ATOMIC,
)
