"""DLPack between JAX's arrays on our platforms and other libraries."""

from __future__ import annotations

import importlib.util

import pytest

from tests.xla_core.pjrt.jax_process import run_jax

pytest.importorskip("jax", reason="JAX is not installed")


def test_arrays_in_the_hosts_memory_are_exported_without_a_copy() -> None:
    run_jax(
        """
        import gc
        x = jnp.arange(12, dtype="f").reshape(3, 4)
        assert x.__dlpack_device__() == (1, 0), x.__dlpack_device__()
        view = np.from_dlpack(x)
        np.testing.assert_array_equal(view, x)
        assert view.ctypes.data == x.unsafe_buffer_pointer()
        assert not view.flags.writeable
        del x
        gc.collect()
        jnp.zeros((3, 4)).block_until_ready()
        np.testing.assert_array_equal(view, np.arange(12).reshape(3, 4))

        y = jax.jit(lambda v: v * 2)(view)
        copy = np.from_dlpack(y, copy=True)
        copy[:] = 0
        np.testing.assert_array_equal(y, view * 2)
        assert jax.dlpack.from_dlpack(y).sum() == 132

        for dtype in ("bool", "int8", "uint64", "float16", "complex64"):
            z = jax.device_put(np.arange(3).astype(dtype))
            np.testing.assert_array_equal(np.from_dlpack(z), z)
        assert np.from_dlpack(jnp.float32(3)) == 3
        assert np.from_dlpack(jnp.zeros((0, 4))).shape == (0, 4)
        """
    )


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_pytorch_uses_the_memory() -> None:
    run_jax(
        """
        import torch
        for dtype in ("float32", "bfloat16", "int32"):
            x = jnp.arange(6, dtype=dtype).reshape(2, 3)
            tensor = torch.from_dlpack(x)
            assert tensor.data_ptr() == x.unsafe_buffer_pointer()
            assert tensor.float().tolist() == [[0, 1, 2], [3, 4, 5]]
        back = jax.dlpack.from_dlpack(torch.ones(4), device=jax.devices()[0])
        assert back.devices() == {jax.devices()[0]} and back.sum() == 4
        """
    )


def test_what_cannot_be_exported_is_a_buffer_error() -> None:
    run_jax(
        """
        from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

        def fails(make, error=BufferError):
            try:
                make()
            except error as problem:
                return str(problem)
            raise AssertionError

        mesh = Mesh(np.array(jax.devices()), ("x",))
        assert "2 devices" in fails(jax.device_put(jnp.arange(4.0), NamedSharding(mesh, P("x"))).__dlpack__)
        x = jnp.arange(4.0)
        assert "not to device" in fails(lambda: x.__dlpack__(dl_device=(2, 0)))
        x.delete()
        fails(x.__dlpack__, RuntimeError)
        """,
        XLA_FLAGS="--xla_force_host_platform_device_count=2",
    )
    run_jax(
        """
        x = jnp.arange(4.0)
        try:
            np.from_dlpack(x)
        except BufferError as error:
            assert "an array on template can't be exported without a copy" in str(error), error
        else:
            raise AssertionError
        np.testing.assert_array_equal(np.from_dlpack(x, copy=True, device="cpu"), x)
        """,
        platforms="template,cpu",
    )
