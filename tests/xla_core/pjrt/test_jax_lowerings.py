"""Primitives that JAX lowers by platform, on platforms that it doesn't know."""

from __future__ import annotations

import pytest

from tests.xla_core.pjrt.jax_process import run_jax

pytest.importorskip("jax", reason="JAX is not installed")


def test_rules_for_jax_cpu_serve_where_there_is_no_other() -> None:
    run_jax(
        """
        import jax.extend
        from jax.interpreters import mlir
        from jax.extend.core import Primitive

        def choose(x, **branches):
            return jax.jit(lambda x: jax.lax.platform_dependent(x, **branches))(x)

        add, times = (lambda x: x + 1), (lambda x: x * 10)
        x = jnp.float32(3)
        assert choose(x, cpu=add, cuda=times) == 4
        assert choose(x, cpu=add, default=times) == 30
        assert choose(x, xla_cpu=times, cpu=add, default=add) == 30
        try:
            choose(x, cuda=add, rocm=times)
        except NotImplementedError as error:
            assert "xla_cpu" in str(error), error
        else:
            raise AssertionError

        mine = Primitive("mine")
        mine.def_abstract_eval(lambda x: x)
        mlir.register_lowering(mine, mlir.lower_fun(times, multiple_results=False), platform="cpu")
        assert jax.jit(mine.bind)(x) == 30
        other = Primitive("other")
        other.def_abstract_eval(lambda x: x)
        mlir.register_lowering(other, mlir.lower_fun(add, multiple_results=False))
        mlir.register_lowering(other, mlir.lower_fun(times, multiple_results=False), platform="cpu")
        assert jax.jit(other.bind)(x) == 4
        """
    )


def test_functions_that_were_exported_for_jax_cpu_run() -> None:
    run_jax(
        """
        from jax import export

        def f(x):
            chosen = jax.lax.platform_dependent(x, cpu=lambda x: x + 1, tpu=lambda x: x * 10)
            return chosen, jnp.linalg.qr(x)[1]

        x = np.eye(3, dtype="f") * 2
        for platforms in (["cpu"], ["tpu", "cpu"]):
            exported = export.export(jax.jit(f), platforms=platforms)(x)
            chosen, r = export.deserialize(exported.serialize()).call(x)
            assert chosen.devices() == {jax.devices("xla_cpu")[0]}
            np.testing.assert_array_equal(chosen, x + 1)
            np.testing.assert_allclose(abs(r), x, atol=1e-6)
        try:
            export.export(jax.jit(jnp.sin), platforms=["tpu"])(x).call(x)
        except ValueError as error:
            assert "xla_cpu" in str(error), error
        else:
            raise AssertionError
        """
    )


@pytest.mark.parametrize("platform", ["xla_cpu", "template"])
def test_one_device_calls_python_for_all(platform: str) -> None:
    printed = run_jax(
        """
        from jax.experimental import io_callback
        from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

        mesh = Mesh(np.array(jax.devices()), ("x",))
        split = NamedSharding(mesh, P("x"))
        x = jax.device_put(jnp.arange(8.), split)

        @jax.jit
        def f(x):
            jax.debug.print("whole {}", x.sum())
            return io_callback(lambda v: (print("called"), v * 2)[1], jax.ShapeDtypeStruct((8,), "f"), x)

        y = f(x)
        jax.effects_barrier()
        np.testing.assert_array_equal(y, np.arange(8.) * 2)

        @jax.jit
        @jax.shard_map(mesh=mesh, in_specs=P("x"), out_specs=P())
        def each(x):
            jax.debug.print("shard {}", x.sum())

        each(x)
        jax.effects_barrier()

        seen = []
        jax.jit(lambda x: jax.debug.inspect_array_sharding(x, callback=seen.append))(x)
        assert [len(sharding.device_set) for sharding in seen] == [2], seen
        """,
        platforms=f"{platform},cpu",
        XLA_FLAGS="--xla_force_host_platform_device_count=2",
    )
    assert sorted(printed.split("\n")) == ["", "called", "shard 22.0", "shard 6.0", "whole 28.0"]


def test_python_functions_may_keep_their_arguments_and_run_in_order() -> None:
    run_jax(
        """
        from jax.experimental import io_callback

        kept = []
        @jax.jit
        def f(x):
            io_callback(kept.append, None, jnp.tile(x, 1000))
            io_callback(kept.append, None, x + 1)

        for number in range(20):
            f(jnp.full(3, number, "f"))
        jax.effects_barrier()
        for number in range(20):
            np.testing.assert_array_equal(kept[2 * number], np.full(3000, number, "f"))
            np.testing.assert_array_equal(kept[2 * number + 1], np.full(3, number + 1, "f"))
        """
    )


def test_options_of_xla_are_read() -> None:
    run_jax(
        """
        lowered = jax.jit(jnp.sin).lower(1.0)
        for name, value, message in (
            ("invalid_key", 1, "No such compile option: 'invalid_key'"),
            ("xla_embed_ir_in_executable", "sometimes", "'sometimes' is not a valid bool value"),
            ("xla_core_fallback", "nowhere", "must be 'none' or 'host', not 'nowhere'"),
        ):
            try:
                lowered.compile(compiler_options={name: value})
            except jax.errors.JaxRuntimeError as error:
                assert message in str(error), error
            else:
                raise AssertionError(name)

        import glob, tempfile
        folder = tempfile.mkdtemp()
        lowered.compile(compiler_options={"xla_embed_ir_in_executable": True, "xla_gpu_autotune_level": 3})
        lowered.compile(compiler_options={"xla_embed_ir_in_executable": "false", "xla_dump_to": folder})
        assert glob.glob(folder + "/xla_core/*after_optimizations.txt")
        """
    )


def test_layouts_are_formats_of_jax() -> None:
    run_jax(
        """
        from jax.experimental.layout import Format, Layout
        from jax.sharding import SingleDeviceSharding

        columns = Format(Layout((1, 0)), SingleDeviceSharding(jax.devices()[0]))
        x = np.arange(128.0, dtype="f").reshape(16, 8)
        y = jax.device_put(x, columns)
        assert y.format.layout.major_to_minor == (1, 0)
        np.testing.assert_array_equal(y, x)

        double = jax.jit(lambda v: v * 2, in_shardings=columns, out_shardings=columns)
        compiled = double.lower(jax.ShapeDtypeStruct(x.shape, x.dtype)).compile()
        assert compiled.input_formats[0][0].layout.major_to_minor == (1, 0)
        assert compiled.output_formats.layout.major_to_minor == (1, 0)
        np.testing.assert_array_equal(compiled(y), x * 2)
        assert double(y).format.layout.major_to_minor == (1, 0)
        np.testing.assert_array_equal(jax.jit(lambda v: v + 1)(y), x + 1)

        auto = jax.jit(lambda v: v.T, out_shardings=Format(Layout.AUTO)).lower(x).compile()
        assert auto.output_formats.layout.major_to_minor == (1, 0)
        np.testing.assert_array_equal(auto(x), x.T)
        """
    )


def test_the_text_of_a_compiled_program_is_its_optimized_hlo() -> None:
    run_jax(
        """
        for f, op in ((jnp.tanh, "tanh"), (lambda x: jnp.sort(x) + 1, "sort")):
            compiled = jax.jit(f).lower(jnp.arange(8.0)).compile()
            text = compiled.as_text()
            assert text.startswith("HloModule") and f" {op}(" in text, text
        on_cpu = jax.jit(jnp.tanh, backend="cpu").lower(1.0).compile().as_text()
        assert "tanh" in on_cpu, on_cpu
        """
    )
