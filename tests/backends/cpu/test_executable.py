"""The executable: serialization, donation, artifacts, control flow, threads."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest
from xla_backend_cpu.compiler import CpuCompiler

import xla_core as xla
from tests.backends.cpu.programs import LOOP

STEP = """HloModule step, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY main {
  x = f32[1024] parameter(0)
  c = f32[1024] constant({...})
  y = f32[1024] multiply(x, x)
  ROOT z = f32[1024] add(y, x)
}""".replace("  c = f32[1024] constant({...})\n", "")

SWITCH = """HloModule switch
first { x = f32[4] parameter(0)  ROOT y = f32[4] negate(x) }
second { x = f32[4] parameter(0)  ROOT y = f32[4] exponential(x) }
third { x = f32[4] parameter(0)  ROOT y = f32[4] add(x, x) }
ENTRY main {
  i = s32[] parameter(0)
  x = f32[4] parameter(1)
  ROOT y = f32[4] conditional(i, x, x, x), branch_computations={first, second, third}
}"""


def test_a_donated_argument_becomes_the_result(client):
    exe = client.compile(STEP)
    x = np.linspace(0, 1, 1024, dtype=np.float32)
    buffer = client.buffer_from_host(x)
    for _ in range(3):
        (out,) = exe.execute([buffer])
        assert buffer.is_deleted()
        buffer = out
    expected = x
    for _ in range(3):
        expected = expected * expected + expected
    np.testing.assert_allclose(np.asarray(buffer), expected, rtol=1e-6)


def test_a_steady_loop_allocates_nothing(client):
    exe = client.compile(STEP)
    buffer = client.buffer_from_host(np.zeros(1024, np.float32))
    (buffer,) = exe.execute([buffer])
    before = client.devices[0].memory_stats().allocations
    for _ in range(50):
        (buffer,) = exe.execute([buffer])
    buffer.block_until_ready()
    assert client.devices[0].memory_stats().allocations == before


@pytest.mark.parametrize("index", [0, 1, 2, 7, -1])
def test_conditional(agree, index):
    agree(SWITCH, np.int32(index), np.arange(4, dtype=np.float32))


def test_while(agree):
    agree(LOOP, np.linspace(-2, 2, 100, dtype=np.float32))


def test_first_runs_in_several_threads_have_one_context(client):
    executable = client.compile(STEP).executable
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for device in range(100):
            start, found = threading.Barrier(4), []

            def run(device=device, start=start, found=found) -> None:
                start.wait(30)
                found.append(executable._context(device, 0))

            threads = [threading.Thread(target=run) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(found) == 4
            assert all(context is found[0] for context in found)
    finally:
        sys.setswitchinterval(interval)


def test_serialized_code_runs_again(client):
    x = np.linspace(-2, 2, 100, dtype=np.float32)
    exe = client.compile(LOOP)
    again = client.deserialize(exe.serialize())
    np.testing.assert_array_equal(np.asarray(again(x)[0]), np.asarray(exe(x)[0]))


def test_damaged_code_is_refused(client):
    blob = client.compile(LOOP).serialize()
    with pytest.raises(xla.XlaError):
        client.deserialize(blob[:-100])


def test_artifacts(client):
    exe = client.compile(LOOP, options=xla.CompileOptions(keep_artifacts=True))
    artifacts = exe.artifacts()
    assert "while" in artifacts["hlo"]
    assert "@xla_cpu_entry(" in artifacts["llvm"]
    assert "xla_cpu_entry:" in artifacts["asm"]
    assert artifacts["object"][:4] == b"\x7fELF"


def test_a_large_program_is_linked_from_several_objects(client):
    """The number of objects depends only on the program, and not on the number of threads that compile it."""
    lines, value = [], "x"
    for i in range(12):
        lines += [f"  s{i} = f32[64,{64 + i}] sort({value}), dimensions={{1}}, to_apply=less"]
        lines += [f"  p{i} = f32[64,{65 + i}] pad(s{i}, zero), padding=0_0x0_1"]
        value = f"p{i}"
    text = (
        "HloModule large\nless {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
        "  ROOT c = pred[] compare(a, b), direction=LT\n}\nENTRY main {\n  x = f32[64,64] parameter(0)\n"
        "  zero = f32[] constant(0)\n" + "\n".join(lines) + f"\n  ROOT r = f32[64,76] negate({value})\n}}"
    )
    x = np.random.default_rng(0).uniform(1, 2, (64, 64)).astype(np.float32)
    want = -np.sort(np.pad(x, ((0, 0), (0, 12))), axis=1)
    programs = [client.compile(text, options=xla.CompileOptions(backend={"threads": n})) for n in (1, 2)]
    objects = [{k: v for k, v in p.artifacts().items() if k.startswith("object")} for p in programs]
    assert len(objects[0]) > 2
    assert objects[0].keys() == objects[1].keys()
    read_again = client.deserialize(programs[0].serialize())
    for program, own in zip((*programs, read_again), (*objects, objects[0]), strict=True):
        np.testing.assert_array_equal(np.sort(np.asarray(program(x)[0])), np.sort(want))
        assert program.memory_stats().generated_code_bytes == sum(map(len, own.values()))


def test_threads_do_not_change_the_result(client):
    text = """HloModule big
ENTRY main {
  x = f32[1000,1000] parameter(0)
  y = f32[1000,1000] parameter(1)
  d = f32[1000,1000] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = f32[1000,1000] tanh(d)
}"""
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((1000, 1000)).astype(np.float32) for _ in range(2))
    results = [
        np.asarray(client.compile(text, options=xla.CompileOptions(backend={"threads": n}))(x, y)[0]) for n in (1, 2, 5)
    ]
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_what_has_no_code_is_an_error_with_its_place(client):
    text = """HloModule call
ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] custom-call(x), custom_call_target="nobody", metadata={source_file="model.py" source_line=7}
}"""
    with pytest.raises(xla.XlaError, match=r"model\.py:7") as caught:
        client.compile(text)
    assert caught.value.code is xla.StatusCode.UNIMPLEMENTED


def test_code_for_another_machine_is_not_run(client):
    class Riscv(CpuCompiler):
        triple = "riscv64-unknown-linux-gnu"
        cpu = "generic-rv64"
        features = frozenset({"m", "a", "f", "d", "v"})

    executable = Riscv().compile(xla.parse(LOOP), xla.CompileOptions(keep_artifacts=True))
    assert "vsetvli" in executable.artifacts()["asm"] or "flw" in executable.artifacts()["asm"]
    device = client.devices[0]
    with pytest.raises(xla.FailedPreconditionError, match=r"riscv64.*this process is"):
        executable.execute_async_on_stream(device.run_options(), [])
