"""Backends as platforms of JAX. Each program runs in a process of its own, because JAX opens platforms once."""

from __future__ import annotations

import textwrap

import pytest

from tests.xla_core.pjrt.jax_process import run_jax

pytest.importorskip("jax", reason="JAX is not installed")


@pytest.mark.parametrize("platform", ["xla_cpu", "template", "xla_gpu"])
def test_a_program_runs_on_the_platform_that_it_names(platform: str) -> None:
    run_jax(
        f"""
        device = jax.devices({platform!r})[0]
        assert device.platform == {platform!r}, device
        def loss(w, x):
            return jnp.mean(jnp.tanh(x @ w) ** 2)
        x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
        w = np.linspace(0, 1, 8, dtype=np.float32).reshape(4, 2)
        w_there, x_there = jax.device_put((w, x), device)
        value, gradient = jax.jit(jax.value_and_grad(loss))(w_there, x_there)
        assert gradient.devices() == {{device}}
        host = jax.devices("cpu")[0]
        wanted, wanted_gradient = jax.jit(jax.value_and_grad(loss))(*jax.device_put((w, x), host))
        np.testing.assert_allclose(value, wanted, rtol=1e-5)
        np.testing.assert_allclose(gradient, wanted_gradient, rtol=1e-4, atol=1e-6)
        """,
        platforms=None,
    )


def test_the_default_device_stays_jaxs_own() -> None:
    assert run_jax("print(jax.devices()[0].platform, jnp.ones(3).devices())", platforms=None).startswith("cpu ")


def test_a_platform_that_nobody_names_loads_no_backend() -> None:
    run_jax(
        """
        import sys
        assert jnp.ones(3).sum() == 3
        assert [name for name in sys.modules if name.startswith("xla_backend")] == []
        assert "xla_core.runtime" not in sys.modules
        assert jax.device_count("template") == 2  # asking for it does
        assert "xla_backend_template" in sys.modules
        """,
        platforms=None,
    )


def test_jax_starts_without_loading_more_than_the_plugin() -> None:
    """These modules decide how much longer JAX takes to start where xla-core is installed."""
    run_jax(
        """
        import sys
        loaded = lambda *roots: {name for name in sys.modules if name.startswith(roots)}
        assert loaded("xla_") == set()  # `import jax` itself loads nothing of ours
        before = loaded("jax")
        jax.devices()
        assert loaded("xla_") == {
            "xla_core",
            "xla_core.errors",
            "xla_core.interruptible",
            "xla_core.lazy_names",
            "xla_core.package_version",
            "xla_core.pjrt",
            "xla_core.pjrt.jax_plugin",
            "xla_core.pjrt.jax_plugin.lazy_client",
        }
        assert {name for name in loaded("jax") - before if name.startswith("jax.")} == set()
        """,
        platforms=None,
    )


def test_random_bits_are_those_of_jaxs_cpu() -> None:
    run_jax(
        """
        def draw(device):
            with jax.default_device(jax.devices(device)[0]):
                key = jax.random.key(7)
                return [np.asarray(jax.random.bits(key, (33,))), np.asarray(jax.random.uniform(key, (65,)))]
        for ours, theirs in zip(draw("xla_cpu"), draw("cpu")):
            np.testing.assert_array_equal(ours, theirs)
        """
    )


def test_a_donated_array_is_deleted() -> None:
    run_jax(
        """
        x = jnp.arange(1000.)
        y = jax.jit(lambda a: a * 2, donate_argnums=0)(x)
        assert x.is_deleted()
        assert y[3] == 6
        """
    )


def test_dispatch_does_not_wait_and_an_error_reaches_its_consumer() -> None:
    run_jax(
        """
        def fail(v):
            raise ValueError("the sensor is gone")
        @jax.jit
        def f(x):
            return jax.pure_callback(fail, jax.ShapeDtypeStruct(x.shape, x.dtype), x) + 1
        y = jax.jit(lambda v: v * 2)(f(jnp.arange(3.)))
        try:
            np.asarray(y)
        except jax.errors.JaxRuntimeError as error:
            assert "the sensor is gone" in str(error), error
            assert str(error).count("UNKNOWN: ") == 1, error
        else:
            raise AssertionError("no error")
        assert jnp.arange(3.).sum() == 3  # the device is still usable
        """
    )


@pytest.mark.parametrize("is_read", [True, False])
def test_an_error_of_a_callback_is_told_at_exit_unless_it_was_told_before(is_read: bool) -> None:
    printed = run_jax(
        f"""
        import sys
        def fail(v):
            raise ValueError("the sensor is gone")
        sys.unraisablehook = lambda told: print("at exit:", told.exc_value)
        f = jax.jit(lambda x: jax.pure_callback(fail, jax.ShapeDtypeStruct(x.shape, x.dtype), x))
        y = f(jnp.arange(3.))
        if {is_read}:
            try:
                y.block_until_ready()
            except jax.errors.JaxRuntimeError:
                print("caught")
        """
    )
    assert ("caught" in printed) == is_read
    assert ("at exit:" in printed) != is_read


def test_a_program_of_another_process_calls_no_function_here() -> None:
    run_jax(
        """
        import re
        import xla_core
        shape = jax.ShapeDtypeStruct((3,), jnp.float32)
        lowered = jax.jit(lambda x: jax.pure_callback(lambda v: v + 1, shape, x)).lower(shape)
        text = lowered.as_text()
        other = re.sub("process = [0-9]+", "process = 7", text)
        assert other != text
        with xla_core.Client("cpu") as client:
            assert np.asarray(client.compile(text)(np.zeros(3, np.float32))[0]).tolist() == [1, 1, 1]
            try:
                np.asarray(client.compile(other)(np.zeros(3, np.float32))[0])
            except xla_core.XlaError as error:
                assert "can't call Python functions of another process" in str(error), error
            else:
                raise AssertionError("no error")
        """
    )


def test_an_error_of_a_program_without_results_is_raised() -> None:
    run_jax(
        """
        from jax.experimental import io_callback
        def fail(v):
            raise ValueError("the printer is on fire")
        for ordered in (True, False):
            f = jax.jit(lambda x: io_callback(fail, None, x, ordered=ordered))
            try:
                f(jnp.arange(3.))
                jax.effects_barrier()
            except jax.errors.JaxRuntimeError as error:
                assert "the printer is on fire" in str(error), error
            else:
                raise AssertionError(ordered)
        jax._src.dispatch.runtime_tokens.clear()
        """
    )


def test_linear_algebra_runs_on_the_platform() -> None:
    run_jax(
        """
        a = np.random.RandomState(0).randn(5, 5).astype(np.float32)
        s = a + a.T
        q, r = jnp.linalg.qr(a)
        np.testing.assert_allclose(q @ r, a, atol=1e-5)
        w, v = jnp.linalg.eigh(s)
        np.testing.assert_allclose(v @ jnp.diag(w) @ v.T, s, atol=1e-4)
        u, d, vt = jnp.linalg.svd(a)
        np.testing.assert_allclose((u * d) @ vt, a, atol=1e-4)
        np.testing.assert_allclose(jnp.linalg.solve(a, a @ np.ones(5, np.float32)), np.ones(5), atol=1e-3)
        assert jax.scipy.linalg.schur(a)[0].shape == (5, 5)
        jnp.linalg.eigvals(a).block_until_ready()
        """
    )


@pytest.mark.parametrize("platform", ["xla_cpu", "template"])
def test_python_functions_are_called_in_order(platform: str) -> None:
    printed = run_jax(
        """
        from jax.experimental import io_callback
        @jax.jit
        def f(x):
            def call(name, x):
                return io_callback(lambda v: (print(name, v[1]), v * 2)[1], jax.ShapeDtypeStruct((3,), "f"), x, ordered=True)
            y = call("first", x)
            call("second", x)
            jax.debug.print("third {}", y[1])
            return y
        for _ in range(3):
            y = f(jnp.arange(3.))
        jax.effects_barrier()
        assert y.tolist() == [0, 2, 4]
        """,
        platforms=f"{platform},cpu",
    )
    lines = printed.splitlines()
    assert [line for line in lines if not line.startswith("third")] == ["first 1.0", "second 1.0"] * 3
    assert lines.count("third 2.0") == 3


def test_checkify_raises_what_a_program_checks() -> None:
    run_jax(
        """
        from jax.experimental import checkify
        f = checkify.checkify(jax.jit(lambda x: (checkify.check(x[0] > 0, "not positive"), jnp.log(x))[1]))
        error, _ = f(jnp.array([-1., 2.]))
        try:
            error.throw()
        except Exception as raised:
            assert "not positive" in str(raised)
        else:
            raise AssertionError
        """
    )


def test_programs_are_kept_in_jaxs_persistent_cache(tmp_path: object) -> None:
    program = """
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
        hits = []
        from jax._src import monitoring
        monitoring.register_event_listener(lambda event, **_: hits.append(event))
        print(jax.jit(lambda x: jnp.sin(x) + 1)(jnp.arange(3.)))
        print(sum("cache_hit" in event for event in hits) > 0)
        """
    first, second = (run_jax(program, JAX_COMPILATION_CACHE_DIR=str(tmp_path)).splitlines() for _ in range(2))
    assert first[0] == second[0]
    assert (first[1], second[1]) == ("False", "True")


def test_a_compiled_program_describes_itself() -> None:
    run_jax(
        """
        compiled = jax.jit(lambda x: x @ x.T).lower(jnp.ones((4, 6))).compile()
        assert compiled.cost_analysis()["flops"] == 2 * 4 * 4 * 6
        memory = compiled.memory_analysis()
        assert (memory.argument_size_in_bytes, memory.output_size_in_bytes) == (96, 64)
        assert memory.host_temp_size_in_bytes == 0
        stats = jax.devices()[0].memory_stats()
        assert 0 <= stats["bytes_in_use"] <= stats["bytes_reservable_limit"] <= stats["bytes_limit"]
        """
    )


def test_arrays_move_between_platforms_and_devices() -> None:
    run_jax(
        """
        ours, theirs = jax.devices("xla_cpu"), jax.devices("cpu")
        x = np.arange(12, dtype=np.int16).reshape(3, 4)
        y = jax.device_put(jax.device_put(jax.device_put(x, ours[1]), theirs[0]), ours[0])
        assert y.devices() == {ours[0]}
        np.testing.assert_array_equal(y, x)
        """,
        XLA_FLAGS="--xla_force_host_platform_device_count=2",
    )


SHARDED = """
    from jax.sharding import NamedSharding, PartitionSpec as P
    devices = jax.devices()
    mesh = jax.make_mesh((2, len(devices) // 2), ("a", "b"), devices=devices,
                         axis_types=(jax.sharding.AxisType.Auto,) * 2)
    x, w = np.arange(32, dtype="f").reshape(4, 8), np.ones((8, 6), "f")

    product = jax.jit(jax.shard_map(lambda x, w: jax.lax.psum(x @ w, "b"), mesh=mesh,
                                    in_specs=(P("a", "b"), P("b", None)), out_specs=P("a", None)))
    split = [jax.device_put(v, NamedSharding(mesh, spec)) for v, spec in ((x, P("a", "b")), (w, P("b", None)))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a program of shard_map has no whole arrays
        np.testing.assert_allclose(product(*split), x @ w)
    np.testing.assert_allclose(product(x, w), x @ w)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f = jax.jit(lambda v: jnp.cumsum(v, 0) * 2, out_shardings=NamedSharding(mesh, P("b", None)))
        y = f(split[0])
        jax.jit(lambda v: v + 1)(split[0])
    assert y.sharding.spec == P("b", None)
    np.testing.assert_allclose(y, np.cumsum(x, 0) * 2)
    assert [str(w.message).count("does not partition") for w in caught] == [1], [str(w.message) for w in caught]
    assert "on every device, as at <string>:" in str(caught[0].message) and "cumsum" in str(caught[0].message)

    everyone = jax.pmap(lambda v: jax.lax.psum(v, "i"), axis_name="i")(np.arange(len(devices), dtype="f"))
    np.testing.assert_allclose(everyone, [sum(range(len(devices)))] * len(devices))

    step = jax.jit(jax.shard_map(jax.grad(lambda w, x: jax.lax.psum(jnp.sum(jnp.tanh(x @ w)), ("a", "b"))), mesh=mesh,
                                 in_specs=(P(), P(("a", "b"), None)), out_specs=P()), donate_argnums=0)
    np.testing.assert_allclose(step(w, x), jax.grad(lambda w, x: jnp.sum(jnp.tanh(x @ w)))(w, x), rtol=1e-4)
    """


@pytest.mark.parametrize("platform", ["xla_cpu", "template"])
def test_sharded_programs_run_on_several_devices(platform: str) -> None:
    run_jax(
        "import warnings\n" + textwrap.dedent(SHARDED),
        platforms=f"{platform},cpu",
        XLA_FLAGS="--xla_force_host_platform_device_count=4",
    )


SHARDS_ALONE = """
    from jax.sharding import NamedSharding, PartitionSpec as P
    devices = jax.devices()
    mesh = jax.make_mesh((len(devices),), ("x",), devices=devices, axis_types=(jax.sharding.AxisType.Auto,))
    x = jax.device_put(np.arange(8 * 3, dtype="f").reshape(8, 3), NamedSharding(mesh, P("x")))

    def noise(x):
        return x * jnp.tanh(jax.random.normal(jax.random.key(1), x.shape)).sum(1, keepdims=True)

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing here needs whole arrays
        compiled = jax.jit(noise).lower(x).compile()
    assert "[8,3]" not in compiled.as_text() and "all-gather" not in compiled.as_text()
    alone = jax.jit(noise)(jax.device_put(np.asarray(x), jax.devices()[0]))
    np.testing.assert_allclose(compiled(x), alone, rtol=1e-6)

    calls = []

    @jax.jit
    def show(x):
        jax.debug.callback(lambda v: calls.append(np.array(v)), x + 1, partitioned=True)
        jax.vmap(lambda v: jax.debug.callback(lambda v: calls.append(np.array(v)), v, partitioned=True), 1)(x)

    show(x)
    jax.effects_barrier()
    whole = np.asarray(x)
    wanted = [part.tolist() for part in np.split(whole + 1, len(devices))]
    wanted += [part.tolist() for column in whole.T for part in np.split(column, len(devices))]
    assert sorted(map(repr, wanted)) == sorted(repr(call.tolist()) for call in calls), calls
    """


@pytest.mark.parametrize("platform", ["xla_cpu", "template"])
def test_elementwise_work_and_partitioned_callbacks_take_shards_alone(platform: str) -> None:
    run_jax(
        "import warnings\n" + textwrap.dedent(SHARDS_ALONE),
        platforms=f"{platform},cpu",
        XLA_FLAGS="--xla_force_host_platform_device_count=4",
    )


@pytest.mark.parametrize("dtype", ["bool", "int4", "uint8", "float8_e4m3fn", "bfloat16", "float16", "complex64"])
def test_arrays_of_each_kind_of_type_come_back(dtype: str) -> None:
    run_jax(
        f"""
        x = np.arange(6).astype(jnp.dtype({dtype!r}))
        y = jax.device_put(x)
        assert y.dtype == x.dtype
        np.testing.assert_array_equal(np.asarray(y), x)
        np.testing.assert_array_equal(np.asarray(jax.jit(lambda v: v[::-1])(y)), x[::-1])
        """
    )


def test_a_backend_that_cannot_open_does_not_break_jax(tmp_path: object) -> None:
    program = """
        assert float(jnp.ones(3).sum()) == 3
        assert jax.devices()[0].platform == "cpu"
        try:
            jax.devices("broken")
        except RuntimeError as error:
            assert "the driver is missing" in str(error), error
        else:
            raise AssertionError
        """
    from pathlib import Path

    folder = Path(str(tmp_path))
    info = folder / "xla_backend_broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: xla-backend-broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[xla_core.backends]\nbroken = xla_backend_broken\n")
    (folder / "xla_backend_broken.py").write_text('raise ImportError("the driver is missing")\n')
    run_jax(program, platforms=None, PYTHONPATH=str(folder))
