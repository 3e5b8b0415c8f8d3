"""Programs with callbacks into the Python process that exported them can't run, and the error says why."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla
from tests.xla_core.pjrt.jax_process import run_jax

jax = pytest.importorskip("jax")

ONES = np.ones(3, np.float32)


def callback(x):
    return jax.pure_callback(lambda x: x, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def printing(x):
    jax.debug.print("x = {x}", x=x)
    return x + 1


def ordered(x):
    from jax.experimental import io_callback

    return io_callback(lambda x: x, jax.ShapeDtypeStruct(x.shape, x.dtype), x, ordered=True)


@pytest.mark.parametrize("function", [callback, printing, ordered])
def test_a_callback_is_refused_by_name(function) -> None:
    text = jax.jit(function).lower(ONES).as_text(debug_info=True)
    with pytest.raises(xla.UnimplementedError, match="xla_ffi_python_cpu_callback") as caught:
        xla.evaluate(xla.parse(text), ONES)
    assert "index into the process that exported it" in str(caught.value.hint)
    with (
        pytest.raises(xla.UnimplementedError, match="xla_ffi_python_cpu_callback") as caught,
        xla.Client("cpu") as client,
    ):
        client.compile(text)
    assert "index into the process that exported it" in str(caught.value.hint)
    assert "register_custom_call" not in str(caught.value)  # no meaning can be given to it
    assert "test_host_callbacks.py" in str(caught.value)


def test_a_callback_is_refused_where_jax_has_opened_a_platform_of_ours() -> None:
    """JAX's CPU has a handler for such calls, but the handler needs data that only JAX's own client gives it."""
    printed = run_jax(
        """
import xla_core as xla
jax.devices("xla_cpu")
x = np.ones(3, np.float32)
text = jax.jit(lambda x: jax.pure_callback(np.sin, x, x)).lower(x).as_text()
assert "xla_ffi_python_cpu_callback" in text
for run in lambda: xla.evaluate(xla.parse(text), x), lambda: xla.Client("cpu").compile(text):
    try:
        run()
    except xla.UnimplementedError as error:
        print(error.hint)
""",
        platforms=None,
    )
    assert printed.count("index into the process that exported it") == 2
