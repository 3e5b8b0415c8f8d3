"""ArenaAbi: kernels that take all memory from an arena of the caller, and expect no alignment of its arrays."""

from __future__ import annotations

from collections.abc import Sequence

from xla_backend_cpu.calling_convention import ContextField
from xla_core.codegen.llvm import IrBuilder, LoopAbi, Value
from xla_core.hlo import Shape

CONTEXT_BYTES = 64
"""The size of a run's context. Scratch memory of kernels follows it."""

_ARM = ("arm", "thumb")
_LARGEST_ON_STACK = 1 << 10
_ALIGNMENT = 64


class ArenaAbi(LoopAbi):
    """The calling convention of `LoopAbi`, where the word before the table points into a context in an arena."""

    alignment = 16  # of constants

    def allocate(self, builder: IrBuilder, size: int) -> Value:
        """Takes up to 1 KiB from the stack, and more from the scratch memory after the context."""
        if size <= _LARGEST_ON_STACK:
            return builder.alloca("i8", size, align=64, address_space=self.stack_address_space)
        resources = builder.function.resources
        start, whole = resources.thread_scratch_bytes, -(-size // _ALIGNMENT) * _ALIGNMENT
        resources.thread_scratch_bytes = start + whole
        place = builder.gep("ptr", builder.function.parameters[0], builder.int_(-1))
        counter = builder.load("ptr", place, align=self.pointer_bytes)
        return builder.gep("i8", counter, builder.int_(CONTEXT_BYTES - 4 * ContextField.FAILURES + start))

    def release(self, builder: IrBuilder, pointer: Value, size: int) -> None:
        del builder, pointer, size

    def math(self, builder: IrBuilder, name: str, arguments: Sequence[Value]) -> Value | None:
        """Extrema of f64 on 32-bit ARM, whose code generator fails on LLVM's intrinsics for them."""
        if name not in ("maximum", "minimum") or arguments[0].type != "double" or not self.triple.startswith(_ARM):
            return None
        b, (x, y) = builder, arguments
        chosen = b.select(b.fcmp("ogt" if name == "maximum" else "olt", x, y), x, y)
        bits = (b.bitcast(x, "i64"), b.bitcast(y, "i64"))  # equal numbers differ only for 0 and -0
        either = b.bitcast(b.and_(*bits) if name == "maximum" else b.or_(*bits), "double")
        ordered = b.select(b.fcmp("oeq", x, y), either, chosen)
        return b.select(b.fcmp("uno", x, y), b.fadd(x, y), ordered)

    def buffer_alignment(self, shape: Shape) -> int:
        """That of the element type in C."""
        return shape.element_type.component.byte_width
