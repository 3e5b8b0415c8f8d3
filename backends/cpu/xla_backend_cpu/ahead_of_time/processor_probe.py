"""Finds the features of a processor in the code that LLVM makes for it.

LLVM knows the features of a processor by its name, but llvmlite has no call that tells them. So a few small functions
are compiled, and their code shows the features that the emitter depends on.
"""

from __future__ import annotations

import dataclasses
import functools
import re

from xla_core.codegen.llvm import LoopAbi, compile_ir
from xla_core.errors import InternalError, InvalidArgumentError


@dataclasses.dataclass(frozen=True, slots=True)
class ProcessorProbe:
    """The features of a processor that LLVM's code for it shows.

    Attributes:
        vector_bits: the width of the vector registers; 0 if there are none.
        is_scalable: whether that width is only known when the code runs.
        has_fma: whether a fused multiply-add of f32 is an instruction.
        has_half: whether conversions between f16 and f32 are instructions.
        has_floats: whether a sum of f32 is an instruction.
        pointer_bytes: the size of an address.
    """

    vector_bits: int
    is_scalable: bool
    has_fma: bool
    has_half: bool
    has_floats: bool
    pointer_bytes: int


_LOOP = """
define void @add_{type}(ptr noalias %x, ptr noalias %y) {attributes} {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %source = getelementptr inbounds {type}, ptr %x, i64 %i
  %target = getelementptr inbounds {type}, ptr %y, i64 %i
  %value = load {type}, ptr %source, align 4
  %sum = {operation} {type} %value, %value
  store {type} %sum, ptr %target, align 4
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 4096
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
_FUNCTIONS = """
define float @multiply_add(float %x) {
  %result = call float @llvm.fma.f32(float %x, float %x, float %x)
  ret float %result
}
define i16 @convert(i16 %bits) {
  %half = bitcast i16 %bits to half
  %wide = fpext half %half to float
  %sum = fadd float %wide, 1.0
  %narrow = fptrunc float %sum to half
  %result = bitcast half %narrow to i16
  ret i16 %result
}
declare float @llvm.fma.f32(float, float, float)
"""
_VECTOR = re.compile(r"<(vscale x )?(\d+) x (?:float|i32)>")
_SUM_CALLS = ("__addsf3", "__aeabi_fadd")
_CONVERSION_CALLS = ("__extendhfsf2", "__gnu_h2f_ieee", "__aeabi_h2f")
_LEAST_SCALABLE_BITS = 128


@functools.cache
def probe(triple: str, cpu: str, features: str) -> ProcessorProbe:
    """Compiles the probes for a processor.

    Raises:
        InvalidArgumentError: this LLVM has no such target.
    """
    try:
        compiled = compile_ir(_loops() + _FUNCTIONS, LoopAbi(triple, cpu, features, vector_width=0))
    except InternalError as error:
        raise InvalidArgumentError(
            f"LLVM has no target {triple!r}",
            hint="the triple is ARCHITECTURE-VENDOR-SYSTEM, such as aarch64-linux-gnu or riscv64-linux-gnu",
        ) from error
    vectors = _VECTOR.findall(compiled.ir())
    is_scalable = any(scalable for scalable, _ in vectors)
    assembly = compiled.assembly()
    return ProcessorProbe(
        vector_bits=_LEAST_SCALABLE_BITS if is_scalable else _widest(vectors),
        is_scalable=is_scalable,
        has_fma="fmaf" not in assembly,
        has_half=not any(call in assembly for call in _CONVERSION_CALLS),
        has_floats=not any(call in assembly for call in _SUM_CALLS),
        pointer_bytes=_pointer_bytes(str(compiled.machine.target_data)),
    )


@functools.cache
def widest_vector_bits(triple: str, cpu: str, features: str) -> int:
    """The width of the longest fixed vectors, also where LLVM prefers shorter ones; 0 if there are none."""
    compiled = compile_ir(_loops('"prefer-vector-width"="65536"'), LoopAbi(triple, cpu, features, vector_width=0))
    return _widest(_VECTOR.findall(compiled.ir()))


def _loops(attributes: str = "") -> str:
    pairs = (("float", "fadd"), ("i32", "add"))
    return "".join(_LOOP.format(type=type_, operation=add, attributes=attributes) for type_, add in pairs)


def _widest(vectors: list[tuple[str, str]]) -> int:
    return max((32 * int(count) for _, count in vectors), default=0)


def _pointer_bytes(data_layout: str) -> int:
    found = re.search(r"(?:^|-)p:(\d+)", data_layout)
    return int(found[1]) // 8 if found else 8
