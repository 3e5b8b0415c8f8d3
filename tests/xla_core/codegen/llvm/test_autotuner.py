"""The search for plans, with devices on which another plan is faster, and the file that keeps the plans."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.xla_core.codegen.llvm.block_threads import ThreadsAbi
from tests.xla_core.codegen.llvm.kernels import f32, fuse, scalar, scalar_body
from xla_core.codegen.kernel_choice import KernelChoice
from xla_core.codegen.llvm import Autotuner, KernelBody, KernelEmitter, Planner, TuningCache
from xla_core.errors import FailedPreconditionError, InternalError, InvalidArgumentError, ResourceExhaustedError
from xla_core.hlo import HloComputation, HloInstruction, HloModule, Opcode


def abi() -> ThreadsAbi:
    return ThreadsAbi(threads=64, lanes=4)


def summed(c: HloComputation, x: HloInstruction) -> HloInstruction:
    return c.add("reduce", x, scalar(c, 0), dimensions=(1,), to_apply=scalar_body("add"))


def rows(columns: int = 4096) -> HloInstruction:
    return fuse(summed, f32(8, columns))


class Device:
    """Measures plans by a function of their threads, and counts the measurements."""

    def __init__(self, cost: Callable[[int], float]) -> None:
        self.cost = cost
        self.count = 0

    def __call__(self, module: HloModule) -> float:
        (kernel,) = [i for i in module.entry.instructions if i.opcode == Opcode.FUSION]
        self.count += 1
        return self.cost(Planner().choose(KernelBody(abi(), kernel, ()))[1].threads)


@pytest.mark.parametrize("best", [64, 32, 8])
def test_the_fastest_plan_is_recorded_and_emitted(best: int) -> None:
    kernel = rows()
    choice = Autotuner(abi(), Device(lambda threads: 1.0 + abs(math.log2(threads / best)))).tune(kernel)
    assert KernelChoice.of(kernel) == choice
    assert (choice == KernelChoice()) == (best == 64)
    emitted = KernelEmitter(abi()).emit(kernel)
    assert emitted.threads == best
    assert re.search(rf"{best} threads", emitted.plan)


def test_a_little_faster_is_not_worth_another_plan() -> None:
    kernel = rows()
    assert Autotuner(abi(), Device(lambda threads: 1.0 if threads == 64 else 0.99)).tune(kernel) == KernelChoice()
    assert kernel.attribute("backend_config") == ""


def test_a_choice_that_cannot_run_is_ruled_out() -> None:
    def cost(threads: int) -> float:
        if threads < 64:
            raise ResourceExhaustedError("no registers")
        return 1.0

    assert Autotuner(abi(), Device(cost)).tune(rows()) == KernelChoice()


def test_an_error_of_the_usual_plan_is_raised() -> None:
    def cost(threads: int) -> float:
        raise InternalError("the device is lost")

    with pytest.raises(InternalError, match="lost"):
        Autotuner(abi(), Device(cost)).tune(rows())


def test_a_given_choice_is_kept() -> None:
    kernel, device = rows(), Device(lambda threads: 1.0)
    KernelChoice(threads=16).record(kernel)
    assert Autotuner(abi(), device).tune(kernel) == KernelChoice(threads=16)
    assert device.count == 0


def test_kernels_are_measured_once_whatever_their_names(tmp_path: Path) -> None:
    path = tmp_path / "plans" / "cache.json"
    device = Device(lambda threads: float(threads))
    first = Autotuner(abi(), device, cache=TuningCache(path)).tune(rows())
    measured = device.count
    assert measured > 1
    renamed = rows()
    renamed.name = "another"
    assert Autotuner(abi(), device, cache=TuningCache(path)).tune(renamed) == first
    assert device.count == measured
    Autotuner(abi(), device, cache=TuningCache(path)).tune(rows(2048))
    assert device.count > measured
    assert len(json.loads(path.read_text())) == 2


def test_another_device_is_measured_anew(tmp_path: Path) -> None:
    device, path = Device(lambda threads: 1.0), tmp_path / "cache.json"
    Autotuner(abi(), device, cache=TuningCache(path), device="A").tune(rows())
    measured = device.count
    Autotuner(abi(), device, cache=TuningCache(path), device="B").tune(rows())
    assert device.count == 2 * measured


def test_no_writer_of_a_file_loses_what_another_adds(tmp_path: Path) -> None:
    path = tmp_path / "cache.json"
    caches = [TuningCache(path) for _ in range(4)]  # as many processes have

    def fill(number: int) -> None:
        for n in range(16):
            caches[number].put(f"{number}.{n}", KernelChoice(threads=8))

    with ThreadPoolExecutor(len(caches)) as pool:
        list(pool.map(fill, range(len(caches))))
    assert set(json.loads(path.read_text())) == {f"{number}.{n}" for number in range(4) for n in range(16)}
    assert sorted(each.name for each in tmp_path.iterdir()) == ["cache.json", "cache.json.lock"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 3}', '{"a": {"threads": -1}}'])
def test_a_damaged_file_says_what_to_do(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cache.json"
    path.write_text(text)
    with pytest.raises(InvalidArgumentError, match="no cache of kernel plans") as caught:
        TuningCache(path)
    assert "remove the file" in str(caught.value)


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "plans" / "cache.json"
    cache = TuningCache(path)
    path.parent.write_text("")  # a file where the folder should be
    with pytest.raises(FailedPreconditionError, match="can't be"):
        cache.put("key", KernelChoice())


def test_a_form_that_does_not_compute_the_kernel() -> None:
    kernel = rows()
    KernelChoice(form="fft").record(kernel)
    with pytest.raises(InvalidArgumentError, match="names the form 'fft', which does not compute it") as caught:
        Planner().choose(KernelBody(abi(), kernel, ()))
    assert "row teams" in str(caught.value.hint)
