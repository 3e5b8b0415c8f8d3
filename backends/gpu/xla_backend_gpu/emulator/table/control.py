"""Branches, exits, barriers and fences."""

from __future__ import annotations

from xla_backend_gpu.emulator.table.definition import Effect, define

define("bra.uni? t:label", effect=Effect.BRANCH)
define("brx.idx.uni? i:u32, t:labels", effect=Effect.BRANCH)
define("ret.uni?", effect=Effect.EXIT)
define("exit", effect=Effect.EXIT)
define("trap", effect=Effect.TRAP)
define("brkpt", effect=Effect.TRAP)

for _name in ("bar.sync", "bar.cta.sync", "barrier.sync", "barrier.cta.sync"):
    _aligned = ".aligned?" if _name.startswith("barrier") else ""
    define(f"{_name}{_aligned} i:u32, n:u32?", effect=Effect.BARRIER)

for _syntax in (
    "membar.level=cta/gl/sys",
    "fence.sem?.scope",
    "fence.proxy.async.global",
    "fence.proxy.kind=alias/tensormap",
    "nanosleep.u32 t",
    "griddepcontrol.action=wait/launch_dependents",
    "prefetch.space?.level=L1/L2 a:mem",
    "setmaxnreg.action=inc/dec.sync.aligned.u32 n",
):
    define(_syntax, effect=Effect.NOTHING)

define("fence.proxy.async.space=shared::cta/shared::cluster?", effect=Effect.PROXY_FENCE)
