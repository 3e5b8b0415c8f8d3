"""Sources of backends that hang, or that break at a stage, for the tests of the runner."""

from __future__ import annotations

HANGING = """
import ctypes

class Kernel(HloKernel):
    def _run(self, stream, arguments):
        if "popcnt" in self.name:
            ctypes.PyDLL(None).sleep(1000)  # holds the GIL, as native code may: no signal reaches Python
        super()._run(stream, arguments)

put(kernel=Kernel)
"""

AT_A_STAGE = """
def fault():
    {fault}

class Platform(TemplatePlatform):
    def __init__(self):
        {platform}
        super().__init__()

    def create_executor(self, ordinal):
        {executor}
        return super().create_executor(ordinal)

    def close(self):
        super().close()
        {close}

def probe():
    {probe}
    return Availability(True)

{load}

@hookimpl
def xla_backend():
    {hook}
    return spec(platform=Platform, probe=probe)
"""
STAGES = ("load", "hook", "probe", "platform", "executor", "close")
FAULTS = {
    "raises": "raise RuntimeError('no such driver')",
    "exits": "raise SystemExit('no such driver')",
    "ends": "print('no such driver', flush=True); os._exit(0)",
    "crashes": "print('no such driver', flush=True); ctypes.string_at(0)",
    "hangs": "print('no such driver', flush=True); ctypes.PyDLL(None).sleep(1000)",
}


def broken_at(stage: str, fault: str) -> str:
    holes = {each: "fault()" if each == stage else "pass" for each in STAGES}
    imports = "import ctypes\nfrom xla_core.backend import Availability\n"
    return imports + AT_A_STAGE.format(fault=FAULTS[fault], **holes)
