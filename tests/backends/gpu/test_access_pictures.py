"""Which thread uses which element, as the emulated device observes it, and the picture of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xla_backend_gpu.access_pictures import first_users, plot_accesses
from xla_backend_gpu.counting import ObservedLaunch, observed
from xla_backend_gpu.emulator import Memory, Module

import xla_core
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType, Shape

TRANSPOSE = """HloModule m

ENTRY main {
  x = f32[64,96] parameter(0)
  ROOT t = f32[96,64] transpose(x), dimensions={1,0}
}
"""


def launches_of(program: str, engine: str = "checked") -> list[ObservedLaunch]:
    client = xla_core.Client("gpu")
    executable = client.compile(program, xla_core.CompileOptions(backend={"engine": engine}))
    arguments = [np.ones(shape.dimensions, shape.dtype) for shape in executable.parameter_shapes]
    with observed(client) as launches:
        executable(*arguments)
    executable(*arguments)
    client.synchronize()
    return launches


def test_a_block_reads_the_tile_that_it_writes() -> None:
    (launch,) = launches_of(TRANSPOSE)
    loads = first_users(launch, 0, Shape.array(ElementType.F32, (64, 96)), store=False)
    stores = first_users(launch, 1, Shape.array(ElementType.F32, (96, 64)), store=True)
    threads = launch.arguments.threads[0]
    assert loads.min() >= 0
    np.testing.assert_array_equal(loads // threads, (stores // threads).T)
    # Both sides coalesce: the 32 threads of a warp use neighbouring elements.
    for users in (loads, stores):
        np.testing.assert_array_equal(np.diff(users[:, :32]), 1)


def test_loads_and_stores_are_told_apart() -> None:
    (launch,) = launches_of(TRANSPOSE)
    assert (first_users(launch, 0, Shape.array(ElementType.F32, (64, 96)), store=True) == -1).all()
    assert (first_users(launch, 1, Shape.array(ElementType.F32, (96, 64)), store=False) == -1).all()


def test_a_vector_access_uses_each_of_its_elements() -> None:
    (launch,) = launches_of(TRANSPOSE.replace("transpose(x), dimensions={1,0}", "negate(x)").replace("96,64", "64,96"))
    users = first_users(launch, 0, Shape.array(ElementType.F32, (64, 96)), store=False)
    assert users.shape == (64, 96)
    assert users.min() == 0
    assert len(np.unique(users)) == len({thread for access in launch.accesses for thread in access.threads.tolist()})


def test_the_fast_engine_is_not_observed() -> None:
    assert launches_of(TRANSPOSE, engine="fast") == []


def test_a_module_of_the_fast_engine_refuses_an_observer() -> None:
    module = Module(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry f()\n{\n  ret;\n}\n", engine="fast")
    with pytest.raises(InvalidArgumentError, match="can't be observed"):
        module.launch("f", (1,), (1,), [], Memory(1024), observe=print)


def test_only_emulated_devices_are_observed() -> None:
    with (
        pytest.raises(InvalidArgumentError, match="observed on emulated GPUs, not on cpu"),
        observed(xla_core.Client("cpu")),
    ):
        pass


def test_the_picture_is_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (launch,) = launches_of(TRANSPOSE)
    plot_accesses(launch, tmp_path / "accesses.svg")
    picture = (tmp_path / "accesses.svg").read_text()
    assert picture.count("<image") >= 4  # two arrays, by block and by thread


def test_arrays_that_are_too_large_are_refused() -> None:
    pytest.importorskip("matplotlib")
    (launch,) = launches_of(TRANSPOSE)
    computed = xla_core.parse(TRANSPOSE.replace("64,96", "6400,9600").replace("96,64", "9600,6400"))
    assert launch.arguments.instruction is not None
    object.__setattr__(launch.arguments, "instruction", computed.entry.root)
    with pytest.raises(InvalidArgumentError, match="more than 4194304 elements"):
        plot_accesses(launch, "unused.png")
