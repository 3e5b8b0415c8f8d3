"""The checked engine."""

from xla_backend_gpu.emulator.counters import Counters
from xla_backend_gpu.emulator.launch import Launch
from xla_core.errors import UnimplementedError

__all__ = ["run_checked"]


def run_checked(launch: Launch) -> Counters:
    """Runs a kernel."""
    raise UnimplementedError(f"the checked engine doesn't run {launch.kernel.name} yet")
