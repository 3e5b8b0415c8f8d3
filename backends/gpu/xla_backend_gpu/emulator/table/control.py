"""Branches, exits, barriers and fences, and the instructions that the engines refuse."""

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
    "fence.proxy.kind=alias/async/async.global/tensormap",
    "nanosleep.u32 t",
    "griddepcontrol.action=wait/launch_dependents",
    "prefetch.space?.level=L1/L2 a:mem",
    "setmaxnreg.action=inc/dec.sync.aligned.u32 n",
):
    define(_syntax, effect=Effect.NOTHING)

_SHAPES = "m8n8k4/m8n8k16/m8n8k32/m16n8k4/m16n8k8/m16n8k16/m16n8k32/m16n8k64"
_OPERANDS = "f16/bf16/tf32/f32/f64/s8/u8/s32/e4m3/e5m2"
for _syntax in (
    f"mma.sync.aligned.shape={_SHAPES}.left=row/col.right=row/col.satfinite?"
    f".dtype={_OPERANDS}.atype={_OPERANDS}.btype={_OPERANDS}.ctype={_OPERANDS} d:any, a:any, b:any, c:any",
    "ldmatrix.sync.aligned.shape=m8n8/m16n16.count=x1/x2/x4.trans?.space?.b16 d:any, a:mem",
    "stmatrix.sync.aligned.shape=m8n8.count=x1/x2/x4.trans?.space?.b16 a:mem, b:any",
    "cp.async.cop.to=shared/shared::cta.from=global.prefetch? a:mem, b:mem, n:any, m:any?",
    "cp.async.commit_group",
    "cp.async.wait_group n:any",
    "cp.async.wait_all",
    "activemask.b32 d",
):
    define(_syntax, effect=Effect.UNSUPPORTED)
