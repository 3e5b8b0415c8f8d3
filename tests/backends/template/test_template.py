"""The template backend: memory that only the device has, and programs that run there."""

from __future__ import annotations

import gc
import os
import signal
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xla_core as xla
from tests.programs import PROGRAMS, Program

memory = pytest.importorskip("xla_backend_template.memory", reason="xla-backend-template is not installed")
from xla_backend_template.executable import TemplateExecutable


@pytest.fixture(scope="module")
def client():
    with xla.Client("template") as made:
        yield made


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_programs_that_jax_wrote(client, program: Program) -> None:
    exe = client.compile(program.text, file=program.name)
    program.check([np.asarray(result) for result in exe(*program.inputs())])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(1, 900)), max_size=60))
def test_memory_blocks_never_overlap_and_join_again(steps) -> None:
    ram = memory.DeviceRam(4096)
    held: list[tuple[object, int]] = []
    for number, (take, size) in enumerate(steps):
        if take or not held:
            handle = ram.allocate(size)
            if handle is not None:
                ram.block(handle)[:] = number % 251
                held.append((handle, number % 251))
        else:
            ram.deallocate(held.pop(size % len(held))[0])
        assert all((ram.block(handle) == value).all() for handle, value in held)
    for handle, _ in held:
        ram.deallocate(handle)
    assert ram.bytes_free == 4096
    assert ram.allocate(4096) is not None
    assert ram.allocate(1) is None


def test_no_host_array_is_aliased(client) -> None:
    array = np.ones(8, np.float32)
    buffer = client.buffer_from_host(array)
    array[:] = 5
    first, second = np.asarray(buffer), np.asarray(buffer)
    assert first.tolist() == [1] * 8
    assert not np.shares_memory(first, second)
    first[:] = 9
    assert np.asarray(buffer).tolist() == [1] * 8
    assert client.devices[0].executor.host_view(buffer.memory) is None
    assert buffer.__dlpack_device__() == (1, 0)
    exported = np.from_dlpack(buffer)
    assert exported.tolist() == [1] * 8
    with pytest.raises(xla.InvalidArgumentError, match="without a copy"):
        buffer.__dlpack__(copy=False)


def test_handles_are_not_pointers(client) -> None:
    executor = client.devices[0].executor
    assert not executor.features.memory_slices
    handle = client.buffer_from_host(np.ones(3)).memory.handle
    assert not isinstance(handle, int)
    assert not hasattr(handle, "__add__")
    assert executor.address(client.buffer_from_host(1).memory) is None


STEP = """HloModule step, input_output_alias={ {0}: (0, {}) }

ENTRY main {
  state = f32[64] parameter(0)
  x = f32[64] parameter(1)
  new = f32[64] add(state, x)
  square = f32[64] multiply(new, new)
  ROOT r = (f32[64], f32[64]) tuple(new, square)
}
"""


def test_donation_and_a_steady_loop(client) -> None:
    exe = client.compile(STEP)
    state, x = client.buffer_from_host(np.zeros(64, np.float32)), client.buffer_from_host(np.ones(64, np.float32))
    for i in range(10):
        if i == 4:
            before = client.devices[0].memory_stats().allocations
        state, square = exe(state, x)
    assert client.devices[0].memory_stats().allocations == before
    assert np.asarray(state).tolist() == [10] * 64
    assert np.asarray(square).tolist() == [100] * 64


def test_memory_all_comes_back(client) -> None:
    gc.collect()
    before = client.devices[0].memory_stats().bytes_in_use
    exe = client.compile(STEP)
    exe(np.ones(64, np.float32), np.ones(64, np.float32))[0].block_until_ready()
    del exe
    gc.collect()
    assert client.devices[0].memory_stats().bytes_in_use == before


def test_the_host_goes_on_while_the_device_works(client) -> None:
    text = "HloModule feed\n\nENTRY e {\n  t = token[] after-all()\n  i = (f32[2], token[]) infeed(t)\n"
    text += "  x = f32[2] get-tuple-element(i), index=0\n  ROOT y = f32[2] add(x, x)\n}\n"
    exe = client.compile(text)
    (result,) = exe()
    assert not result.is_ready()
    threading.Timer(0.05, client.transfer_to_infeed, [np.array([1, 2], np.float32)]).start()
    assert np.asarray(result).tolist() == [2, 4]


def test_serialized_and_read_again(client) -> None:
    exe = client.compile(STEP)
    again = client.deserialize(exe.serialize())
    assert again.donated_parameters == (0,)
    outs = again(np.full(64, 2, np.float32), np.ones(64, np.float32))
    assert np.asarray(outs[1])[0] == 9
    assert again.report.kernels == exe.report.kernels == 2


def test_report_and_cost(client) -> None:
    exe = client.compile(STEP)
    assert exe.cost_analysis()["flops"] == 128
    assert exe.report.instructions_before >= exe.report.instructions_after == 5
    assert exe.memory_stats().alias_bytes == 256


def test_flags_make_devices_with_a_memory_of_their_own(monkeypatch) -> None:
    flags = "--xla_template_device_count=3 --xla_template_memory_bytes=65536"
    monkeypatch.setenv("XLA_CORE_FLAGS", flags)
    with xla.Client("template") as client:
        assert len(client.devices) == 3
        assert client.devices[2].memory_limit == 65536
        kept = client.buffer_from_host(np.zeros(8192, np.float32), client.devices[2])
        with pytest.raises(xla.ResourceExhaustedError, match=r"device 2 has no 64.0 KiB .* f32\[8192\] \(32.0 KiB\)"):
            client.buffer_from_host(np.zeros(16384, np.float32), client.devices[2])
        client.buffer_from_host(np.zeros(15000, np.float32), client.devices[1])
        assert kept.is_ready()
    monkeypatch.setenv("XLA_CORE_FLAGS", "--xla_template_device_cuont=3")
    with pytest.raises(xla.InvalidArgumentError, match="xla_template_device_count"):
        xla.Client("template")


def test_devices_meet_in_collectives(client) -> None:
    text = "HloModule c, replica_count=2\n\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
    text += "  ROOT s = f32[] add(a, b)\n}\n\nENTRY e {\n  p = f32[2] parameter(0)\n"
    text += "  ROOT r = f32[2] all-reduce(p), replica_groups={}, to_apply=add\n}\n"
    results = client.compile(text).execute_sharded([[np.float32([1, 2])], [np.float32([10, 20])]])
    assert [np.asarray(result).tolist() for (result,) in results] == [[11, 22], [11, 22]]


def test_dumps_have_xlas_names_and_one_number(client, tmp_path, monkeypatch) -> None:
    artifacts = TemplateExecutable.artifacts
    own = {"plan/of my own": b"\x00{}"}  # XLA has no name for it
    monkeypatch.setattr(TemplateExecutable, "artifacts", lambda self: {**artifacts(self), **own})
    monkeypatch.setenv("XLA_FLAGS", f"--xla_dump_to={tmp_path} --xla_dump_hlo_pass_re=.*")
    client.compile(PROGRAMS[0].text)
    names = sorted(path.name for path in (tmp_path / "xla_core").iterdir())
    prefixes = {name.split(".")[0] for name in names}
    assert len(prefixes) == 1
    (prefix,) = prefixes
    stem = f"{prefix}.jit_{PROGRAMS[0].name}"
    for suffix in (
        "stablehlo.mlir",
        "before_optimizations.txt",
        "template_after_optimizations.txt",
        "template_after_optimizations-buffer-assignment.txt",
        "thunks.txt",
        "plan_of_my_own",
    ):
        assert f"{stem}.{suffix}" in names
    assert (tmp_path / "xla_core" / f"{stem}.plan_of_my_own").read_bytes() == b"\x00{}"
    assert f"{stem}.hlo" not in names, "the optimized module has XLA's name"
    assert any(".after_pipeline-start.before_" in name for name in names)
    monkeypatch.delenv("XLA_FLAGS")
    client.compile(STEP, xla.CompileOptions(dump_to=str(tmp_path / "other"), name="renamed"))
    assert any(".renamed.before_optimizations" in path.name for path in (tmp_path / "other" / "xla_core").iterdir())
    assert "kernel" in client.compile(STEP).artifacts()["thunks"].lower()


def test_closing_a_client_ends_a_wait_for_the_infeed() -> None:
    text = "HloModule feed\n\nENTRY e {\n  t = token[] after-all()\n  ROOT i = (f32[2], token[]) infeed(t)\n}\n"
    with xla.Client("template") as client:
        (result,) = client.compile(text)()
        event = result.definition_event
    assert event.ready
    assert "closed" in str(event.error)


ENDLESS = """HloModule endless

cond {
  s = (s32[], f32[]) parameter(0)
  x = f32[] get-tuple-element(s), index=1
  zero = f32[] constant(0)
  ROOT ge = pred[] compare(x, zero), direction=GE
}

body {
  s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[] multiply(x, x)
  ROOT t = (s32[], f32[]) tuple(j, y)
}

ENTRY main {
  x = f32[] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[]) tuple(zero, x)
  ROOT loop = (s32[], f32[]) while(init), condition=cond, body=body
}
"""


def test_control_c_in_an_endless_run_leaves_the_client_usable(client) -> None:
    exe = client.compile(ENDLESS)
    outs = exe(np.float32(1))
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        np.asarray(outs[0])
    exe.delete()
    with pytest.raises(xla.CancelledError):
        np.asarray(outs[0])
    with pytest.raises(xla.FailedPreconditionError, match="was deleted"):
        exe(np.float32(1))
    assert float(client.compile(STEP)(np.ones(64, np.float32), np.ones(64, np.float32))[0].to_numpy()[0]) == 2
