"""jax.ffi on our platforms. Each program runs in a process of its own, because JAX opens platforms once."""

from __future__ import annotations

import pytest

from tests.xla_core.ffi.libraries import WHY_NO_CPP, build_cpp
from tests.xla_core.pjrt.jax_process import run_jax

pytest.importorskip("jax", reason="JAX is not installed")
pytestmark = pytest.mark.skipif(bool(WHY_NO_CPP), reason=WHY_NO_CPP)

HEAD = """
import ctypes, os
library = ctypes.CDLL(os.environ["LIBRARY"])
def register(name, platform):
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(getattr(library, name)), platform=platform)
def increment(x):
    return jax.ffi.ffi_call("increment", x, input_output_aliases={0: 0})(x)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(build_cpp(tmp_path_factory.mktemp("jax")))


@pytest.mark.parametrize("platform", ["xla_cpu", "template", "xla_gpu"])
def test_a_program_calls_a_native_function(platform: str, library: str) -> None:
    run_jax(
        HEAD
        + f"""
register("increment", {platform!r})  # before the platform is opened
x = jnp.arange(6.0).reshape(2, 3)
assert x.devices().pop().platform == {platform!r}
np.testing.assert_array_equal(increment(x), np.asarray(x) + 1)
np.testing.assert_array_equal(jax.jit(lambda a: 2 * increment(a * 3))(x), 2 * (np.asarray(x) * 3 + 1))
register("later", {platform!r})  # and after that
with jax.enable_x64(True):
    later = jax.ffi.ffi_call("later", jax.ShapeDtypeStruct((4,), np.int64))
    assert later(fails=False).tolist() == [0, 3, 1, 7]
""",
        platforms=f"{platform},cpu",
        LIBRARY=library,
    )


@pytest.mark.parametrize("platforms", ["xla_cpu", "xla_cpu,cpu"])
def test_a_function_that_is_registered_for_jaxs_cpu_runs(platforms: str, library: str) -> None:
    run_jax(
        HEAD
        + """
register("increment", "cpu")
np.testing.assert_array_equal(increment(jnp.ones(3)), [2, 2, 2])
""",
        platforms=platforms,
        LIBRARY=library,
    )


def test_states_and_errors(library: str) -> None:
    run_jax(
        HEAD
        + """
library.count_type_id.restype = library.count_type_info.restype = ctypes.c_void_p
capsule = jax.ffi.pycapsule
jax.ffi.register_ffi_type(
    "Count", {"type_id": capsule(library.count_type_id()), "type_info": capsule(library.count_type_info())},
    platform="xla_cpu")
jax.ffi.register_ffi_target(
    "count", {"instantiate": capsule(library.count_instantiate), "execute": capsule(library.count_execute)},
    platform="xla_cpu")
with jax.enable_x64(True):
    call = jax.ffi.ffi_call("count", jax.ShapeDtypeStruct((), np.int64), has_side_effect=True)
    next_count = jax.jit(lambda: call(fails=False))
    assert [int(next_count()) for _ in range(3)] == [100, 101, 102]
    try:
        jax.block_until_ready(jax.jit(lambda: call(fails=True))())
    except jax.errors.JaxRuntimeError as error:
        assert "INVALID_ARGUMENT" in str(error) and "custom call 'count' failed: no count is made" in str(error), error
        assert "<string>:" in str(error), error
    else:
        raise AssertionError("no error")
    assert int(next_count()) == 103
for function, version, message in (
    (jax.ffi.pycapsule(library.increment), 0, "calls typed functions alone"),
    (increment, 1, "must be a capsule, a function of ctypes or an address, not of type function"),
):
    try:
        jax.ffi.register_ffi_target("wrong", function, platform="xla_cpu", api_version=version)
    except Exception as error:
        assert message in str(error), error
    else:
        raise AssertionError("no error")
try:
    jax.ffi.register_ffi_type("wrong", {}, platform="xla_cpu")
except Exception as error:
    assert "must be registered with a dictionary that has a type_id" in str(error), error
else:
    raise AssertionError("no error")
""",
        LIBRARY=library,
    )
