"""Instructions that the engines refuse. They are defined last, after those of the same name that the engines run."""

from __future__ import annotations

from xla_backend_gpu.emulator.table.definition import Effect, define

_SHAPES = "m8n8k4/m8n8k16/m8n8k32/m16n8k4/m16n8k8/m16n8k16/m16n8k32/m16n8k64"
_OPERANDS = "f16/bf16/tf32/f32/f64/s8/u8/s32/e4m3/e5m2"
for _syntax in (
    f"mma.sync.aligned.shape={_SHAPES}.left=row/col.right=row/col.satfinite?"
    f".dtype={_OPERANDS}.atype={_OPERANDS}.btype={_OPERANDS}.ctype={_OPERANDS} d:any, a:any, b:any, c:any",
    "ldmatrix.sync.aligned.shape=m16n16.count=x1/x2.trans.space?.b8 d:any, a:mem",
    "stmatrix.sync.aligned.shape=m8n8.count=x1/x2/x4.trans?.space?.b16 a:mem, b:any",
    "activemask.b32 d",
):
    define(_syntax, effect=Effect.UNSUPPORTED)
