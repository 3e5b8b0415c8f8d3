"""JAX's kinds of memory, which every backend has: the device's own, and the host's by two names."""

from __future__ import annotations

import json
import textwrap

import pytest

from tests.xla_core.pjrt.host import Host, HostError
from tests.xla_core.pjrt.jax_process import run_jax

pytest.importorskip("jax")

_HEAD = """
from jax.sharding import SingleDeviceSharding
device = jax.devices()[0]
on_device, pinned, unpinned = (
    SingleDeviceSharding(device, memory_kind=kind) for kind in ("device", "pinned_host", "unpinned_host")
)
x = jnp.arange(8.0)
def show(value):
    print(value.sharding.memory_kind, np.asarray(value).sum())
"""


_TWO_DEVICES = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}


def _run(program: str, platforms: str) -> str:
    return run_jax(_HEAD + textwrap.dedent(program), platforms)


@pytest.mark.parametrize("platform", ["xla_cpu", "template"])
def test_arrays_move_between_memories(platform: str) -> None:
    pytest.importorskip(f"xla_backend_{platform.removeprefix('xla_')}")
    program = """
        print(device.default_memory().kind, sorted(memory.kind for memory in device.addressable_memories()))
        there = jax.device_put(x, pinned)
        show(there)
        show(jax.device_put(np.arange(4.0), unpinned))
        show(jax.device_put(there, on_device))
        show(there + 1)
        copy = jax.device_put(there, may_alias=False)
        there.delete()
        show(copy)
        show(jax.jit(lambda v: v * 2, out_shardings=pinned)(x))
        both = jax.jit(lambda v, w: (jax.device_put(v, on_device) + w, v), in_shardings=(pinned, on_device))
        for value in both(jax.device_put(x, pinned), x):
            show(value)
        step = jax.jit(lambda v: v * 3, donate_argnums=0, in_shardings=pinned, out_shardings=pinned)
        donated = jax.device_put(x, pinned)
        show(step(donated))
        print(donated.is_deleted())
    """
    lines = _run(program, f"{platform},cpu").splitlines()
    assert lines == [
        "device ['device', 'pinned_host', 'unpinned_host']",
        "pinned_host 28.0",
        "unpinned_host 6.0",
        "device 28.0",
        "pinned_host 36.0",
        "pinned_host 28.0",
        "pinned_host 56.0",
        "device 56.0",
        "pinned_host 28.0",
        "pinned_host 84.0",
        "True",
    ]


@pytest.mark.parametrize("platform", ["xla_cpu", "template"])
def test_copies_of_arrays_that_are_not_ready_return_at_once(platform: str) -> None:
    pytest.importorskip(f"xla_backend_{platform.removeprefix('xla_')}")
    program = """
        import threading
        go = threading.Event()
        def wait(v):
            assert go.wait(100), "the copies waited for the array"
            return v
        slow = jax.jit(lambda v: jax.pure_callback(wait, x, v) * 2)(x)
        copies = [jax.device_put(slow, to) for to in (pinned, unpinned, on_device, jax.devices()[-1])]
        copies.append(jax.device_put(copies[0], on_device))
        print([copy.is_ready() for copy in (slow, *copies)])
        go.set()
        for copy in copies:
            show(copy)
    """
    lines = run_jax(_HEAD + textwrap.dedent(program), f"{platform},cpu", **_TWO_DEVICES).splitlines()
    assert lines == [
        str([False] * 6),
        "pinned_host 56.0",
        "unpinned_host 56.0",
        "device 56.0",
        "device 56.0",
        "device 56.0",
    ]


def test_checkpoints_are_offloaded_as_on_jax_cpu() -> None:
    program = """
        from jax.ad_checkpoint import checkpoint_name
        policy = jax.checkpoint_policies.save_and_offload_only_these_names(
            names_which_can_be_saved=["y"], names_which_can_be_offloaded=["z"],
            offload_src="device", offload_dst="pinned_host",
        )
        def f(v):
            def body(carry, _):
                y = checkpoint_name(jnp.sin(carry), "y")
                return checkpoint_name(jnp.sin(y), "z"), None
            return jnp.sum(jax.lax.scan(jax.checkpoint(body, policy=policy), v, length=3)[0])
        print(np.asarray(jax.jit(jax.grad(f))(x)).tolist())
        compiled = jax.jit(lambda v: v * 2, out_shardings=pinned).lower(x).compile()
        print(compiled.runtime_executable().get_output_memory_kinds())
        loaded = jax.export.deserialize(jax.export.export(jax.jit(lambda v: v * 2, out_shardings=pinned))(x).serialize())
        show(loaded.call(x))
    """
    ours = _run(program, "xla_cpu,cpu").splitlines()
    reference = _run(program, "cpu").splitlines()
    assert ours[1:] == reference[1:] == ["[['pinned_host']]", "pinned_host 56.0"]
    assert json.loads(ours[0]) == pytest.approx(json.loads(reference[0]), rel=1e-6)


def test_an_unknown_kind_of_memory_is_refused_with_the_program() -> None:
    host = Host("cpu")
    text = """
        func.func public @main(%a: tensor<2xf32>) -> (tensor<2xf32> {mhlo.memory_kind = "tape"}) {
          return %a : tensor<2xf32>
        }"""
    with pytest.raises(HostError, match="no memory of the kind 'tape'"):
        host.compile(text)
    host.call("Client_Destroy", client=host.client)


def test_the_main_memory_is_where_the_target_puts_arrays() -> None:
    pytest.importorskip("xla_backend_template")
    program = """
        from xla_backend_template.compiler import TemplateCompiler
        from xla_core.hlo import Layout
        from xla_core.target import LayoutRules, MemorySpace

        def small_arrays_in_scratchpad(shape):
            return Layout(tuple(range(shape.rank))[::-1], memory_space=int(shape.num_elements < 1024))

        TemplateCompiler.target_config = TemplateCompiler().target_config.model_copy(update={
            "memory_spaces": (MemorySpace(number=0, name="device"), MemorySpace(number=1, name="scratchpad")),
            "layouts": LayoutRules(default=small_arrays_in_scratchpad),
        })
        scratchpad = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="scratchpad")
        def show(value):
            print(value.sharding.memory_kind, float(value.sum()))
        x = jnp.arange(8.0)
        there = jax.device_put(x, scratchpad)
        for value in (x, there, there + 1, *jax.jit(lambda v, w: (v * 2, w + v.sum()))(x, jnp.ones((40, 40)))):
            show(value)
    """
    lines = run_jax(textwrap.dedent(program), "template,cpu").splitlines()
    assert lines == ["device 28.0", "scratchpad 28.0", "device 36.0", "device 56.0", "device 46400.0"]
