"""The compiler: says what the device's kernels compute. The core rewrites programs into that."""

from __future__ import annotations

from xla_backend_template.compiler import TemplateCompiler

from xla_backend_queue_device.kernels import ELEMENTWISE, MOVEMENT, QueueKernel, limits
from xla_core.backend import Kernel
from xla_core.hlo import ElementType, HloInstruction
from xla_core.target import Capabilities


def _own_ops() -> Capabilities:
    capabilities = Capabilities().with_ops(["dot", "reduce"], [ElementType.F32, ElementType.S32])
    for element_type in (ElementType.F32, ElementType.S32, ElementType.PRED):
        ops = [op for op, types in ELEMENTWISE.items() if element_type.value in types]
        capabilities = capabilities.with_ops([*ops, *MOVEMENT], [element_type])
    return capabilities.with_constraint("*", limits)


class QueueCompiler(TemplateCompiler):
    """Each instruction becomes a kernel. The device has f32, s32 and pred."""

    name = "queue-device"
    own_ops = _own_ops()
    simulates_others = False

    def make_own_kernel(self, instruction: HloInstruction) -> Kernel:
        return QueueKernel(instruction)
