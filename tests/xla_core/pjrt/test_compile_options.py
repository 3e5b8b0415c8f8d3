"""Options of a compilation that a host names."""

from __future__ import annotations

from xla_core.hlo.proto.wire import write_field
from xla_core.pjrt.compile_options import read_compile_options


def test_the_host_runs_what_a_device_lacks_unless_the_program_says_otherwise() -> None:
    named = write_field(1, b"xla_core_fallback") + write_field(2, write_field(1, b"none"))
    assert read_compile_options(b"").fallback == "host"
    assert read_compile_options(write_field(7, named)).fallback == "none"
