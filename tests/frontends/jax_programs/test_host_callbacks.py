"""Programs with callbacks into the Python process that exported them can't run, and the error says why."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla

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
