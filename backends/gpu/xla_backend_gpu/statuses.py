"""The meanings of the statuses of CUDA's driver: the kind of error, and whether the device still works."""

from __future__ import annotations

from xla_core.errors import (
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    ResourceExhaustedError,
    UnavailableError,
    UnimplementedError,
    XlaError,
)

KINDS: dict[str, type[XlaError]] = {
    "CUDA_ERROR_INVALID_VALUE": InvalidArgumentError,
    "CUDA_ERROR_INVALID_HANDLE": InvalidArgumentError,
    "CUDA_ERROR_OUT_OF_MEMORY": ResourceExhaustedError,
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": ResourceExhaustedError,
    "CUDA_ERROR_NOT_INITIALIZED": FailedPreconditionError,
    "CUDA_ERROR_DEINITIALIZED": FailedPreconditionError,
    "CUDA_ERROR_INVALID_CONTEXT": FailedPreconditionError,
    "CUDA_ERROR_CONTEXT_IS_DESTROYED": FailedPreconditionError,
    "CUDA_ERROR_INVALID_PTX": FailedPreconditionError,
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": FailedPreconditionError,
    "CUDA_ERROR_NO_BINARY_FOR_GPU": FailedPreconditionError,
    "CUDA_ERROR_NO_DEVICE": UnavailableError,
    "CUDA_ERROR_INVALID_DEVICE": UnavailableError,
    "CUDA_ERROR_DEVICE_UNAVAILABLE": UnavailableError,
    "CUDA_ERROR_DEVICE_NOT_LICENSED": UnavailableError,
    "CUDA_ERROR_STUB_LIBRARY": UnavailableError,
    "CUDA_ERROR_SYSTEM_NOT_READY": UnavailableError,
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": UnavailableError,
    "CUDA_ERROR_JIT_COMPILER_NOT_FOUND": UnavailableError,
    "CUDA_ERROR_NOT_SUPPORTED": UnimplementedError,
}
"""Status -> the kind of error; others are InternalError."""

STICKY = frozenset(
    {
        "CUDA_ERROR_ILLEGAL_ADDRESS",
        "CUDA_ERROR_MISALIGNED_ADDRESS",
        "CUDA_ERROR_INVALID_ADDRESS_SPACE",
        "CUDA_ERROR_INVALID_PC",
        "CUDA_ERROR_ILLEGAL_INSTRUCTION",
        "CUDA_ERROR_HARDWARE_STACK_ERROR",
        "CUDA_ERROR_LAUNCH_FAILED",
        "CUDA_ERROR_LAUNCH_TIMEOUT",
        "CUDA_ERROR_ASSERT",
        "CUDA_ERROR_ECC_UNCORRECTABLE",
        "CUDA_ERROR_NVLINK_UNCORRECTABLE",
        "CUDA_ERROR_EXTERNAL_DEVICE",
        "CUDA_ERROR_CONTAINED",
        "CUDA_ERROR_TENSOR_MEMORY_LEAK",
        "CUDA_ERROR_CONTEXT_IS_DESTROYED",
        "CUDA_ERROR_DEINITIALIZED",
    }
)
"""Statuses after which every call of the context fails."""

NO_GPU = frozenset({"CUDA_ERROR_NO_DEVICE", "CUDA_ERROR_STUB_LIBRARY"})
"""Statuses of cuInit where there is no GPU. CUDA's toolkit brings a library without a driver to link with."""

RECOVERY = (
    "start a new process, because CUDA doesn't promise to work in this one any more, or run on the emulated device "
    "with its checks"
)
"""What to do after a sticky status."""


FORK_RECOVERY = "start child processes by the method 'spawn', because CUDA can't be used in the child of a fork"
"""What to do in the child process of a fork."""


def status_error(call: str, status: str, text: str, *, kernel: str = "", recent: tuple[str, ...] = ()) -> XlaError:
    """Returns the XlaError for a call of the driver that failed.

    Args:
        call: the function of the driver that failed.
        status: the status's name.
        text: the driver's explanation.
        kernel: the kernel that the call launches.
        recent: the kernels that were launched last. Any of them may have caused a sticky status.
    """
    what = f"{call} of kernel {kernel}" if kernel else call
    message = f"{what} returned {status}: {text}"
    if status in STICKY:
        if recent:
            message += f"; the kernels launched last are {', '.join(recent)}"
        return KINDS.get(status, InternalError)(message, op=kernel or None, hint=RECOVERY)
    return KINDS.get(status, InternalError)(message, op=kernel or None)
