"""Divides a program between the device and the host, for fallback="host"."""

from xla_core.passes.host_offloading.host_offloading import HostOffloading

__all__ = ["HostOffloading"]
