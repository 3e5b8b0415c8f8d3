"""The costs of running parts of a program on the host (`CompileOptions.fallback="host"`)."""

from __future__ import annotations

from pydantic import Field

from xla_core.checked_model import CheckedModel


class HostCosts(CheckedModel):
    """Rates by which a program is divided between the device and the host.

    The defaults are those of a device on PCIe, and of the reference evaluator on one core. The device's own rates are
    those of its `DeviceDescription`; `kernel_seconds`, `device_bandwidth` and `device_flops` are used in place of
    figures that it lacks. Only ratios matter: an error of two hardly changes a division.

    Attributes:
        transfer_seconds: seconds that the transfer of an array of no bytes takes, with the wait for it.
        transfer_bandwidth: bytes per second of a transfer between the host and the device.
        instruction_seconds: seconds that the host takes to start an instruction.
        bandwidth: bytes per second that the host's instructions read and write.
        flops: operations on elements that the host computes per second; products of matrices are 16 times as fast.
        kernel_seconds: seconds that the device takes to start a kernel.
        device_bandwidth: bytes per second that the device reads and writes, if `memory_bandwidth` is unknown.
        device_flops: operations per second of the device, if `peak_flops` is unknown.
    """

    transfer_seconds: float = Field(default=20e-6, gt=0)
    transfer_bandwidth: float = Field(default=8e9, gt=0)
    instruction_seconds: float = Field(default=20e-6, gt=0)
    bandwidth: float = Field(default=4e9, gt=0)
    flops: float = Field(default=1e9, gt=0)
    kernel_seconds: float = Field(default=5e-6, gt=0)
    device_bandwidth: float = Field(default=1e11, gt=0)
    device_flops: float = Field(default=1e12, gt=0)
