from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla

ADD = """func.func @main(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %a, %b : tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""


@pytest.fixture(scope="module", params=["cpu", "template"])
def backend(request):
    return request.param


@pytest.fixture(scope="module")
def shared_client(backend):
    with xla.Client(backend) as made:
        yield made


@pytest.fixture
def client(shared_client):
    """A client that must run a program after whatever the test did to it."""
    yield shared_client
    (result,) = shared_client.compile(ADD)(np.array([1, 2, 3], np.float32), np.ones(3, np.float32))
    assert np.asarray(result).tolist() == [2, 3, 4]


@pytest.fixture
def refused():
    """refused(kind, words, call): the call raises this error and nothing else, and its text has all the words."""

    def check(kind, words, call):
        with pytest.raises(xla.XlaError) as caught:
            call()
        error = caught.value
        assert type(error) is kind, f"{type(error).__name__}: {error}"
        for word in words:
            assert word in str(error), f"{word!r} is not in: {error}"
        return error

    return check
