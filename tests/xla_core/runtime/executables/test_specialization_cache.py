"""The compilations of a program with dynamic shapes: found, made once, forgotten, closed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

import xla_core
from xla_core.errors import FailedPreconditionError, InternalError
from xla_core.hlo import ElementType, Shape
from xla_core.runtime.executables.specialization_cache import SpecializationCache
from xla_core.runtime.executables.static_executable import StaticExecutable
from xla_core.runtime.programs.signature import Signature


def signature(n: int) -> Signature:
    return Signature((Shape(ElementType.F32, (n,)),))


@pytest.fixture(scope="module")
def compiled() -> Iterator[Callable[[int], Callable[[], StaticExecutable]]]:
    """n -> what compiles a program of f32[n]."""
    with xla_core.Client("template") as client:

        def compiles(n: int) -> Callable[[], StaticExecutable]:
            text = f"HloModule m\nENTRY e {{\n x = f32[{n}] parameter(0)\n ROOT r = f32[{n}] negate(x)\n}}"
            return lambda: client.compile(text)

        yield compiles


def never() -> StaticExecutable:
    raise AssertionError("it is there already")


def test_what_was_compiled_is_found_and_counts_as_asked_for(compiled) -> None:
    cache = SpecializationCache(2)
    assert cache.lookup(signature(1).key) is None
    made = cache.find_or_compile(signature(1), compiled(1))
    cache.find_or_compile(signature(2), compiled(2))
    assert [s.signature for s in cache.usable()] == [signature(1), signature(2)]
    assert cache.lookup(signature(1).key) is made
    assert [s.signature for s in cache.usable()] == [signature(2), signature(1)]
    cache.find_or_compile(signature(2), never)
    assert [s.signature for s in cache.usable()] == [signature(1), signature(2)]


def test_what_was_not_asked_for_for_longest_is_forgotten(compiled) -> None:
    cache = SpecializationCache(2)
    for n in (1, 2):
        cache.add(signature(n), compiled(n)())
    cache.lookup(signature(1).key)
    cache.find_or_compile(signature(3), compiled(3))
    assert [s.signature for s in cache.usable()] == [signature(1), signature(3)]
    assert cache.lookup(signature(2).key) is None


def test_what_was_deleted_is_not_found(compiled) -> None:
    cache = SpecializationCache(2)
    made = cache.find_or_compile(signature(1), compiled(1))
    assert not made.executable.is_deleted()
    made.executable.delete()
    assert made.executable.is_deleted()
    assert cache.lookup(signature(1).key) is None
    assert cache.usable() == []
    assert cache.find_or_compile(signature(1), compiled(1)) is not made


def test_a_closed_one_has_deleted_everything(compiled) -> None:
    cache = SpecializationCache(2)
    made = cache.find_or_compile(signature(1), compiled(1))
    cache.close(FailedPreconditionError("closed"))
    assert made.executable.is_deleted()
    assert cache.lookup(signature(1).key) is None
    with pytest.raises(FailedPreconditionError, match="closed"):
        cache.find_or_compile(signature(1), never)
    late = compiled(2)()
    cache.add(signature(2), late)
    assert late.is_deleted()


@pytest.mark.parametrize("fails", [False, True])
def test_threads_that_ask_for_one_wait_for_it(compiled, fails: bool) -> None:
    cache = SpecializationCache(2)
    started, gate, compilations, found = threading.Event(), threading.Event(), [], []

    def compile() -> StaticExecutable:
        compilations.append(1)
        started.set()
        assert gate.wait(10)
        if fails:
            raise InternalError("no luck")
        return compiled(1)()

    def ask() -> None:
        try:
            found.append(cache.find_or_compile(signature(1), compile))
        except InternalError as error:
            found.append(error.message)

    first = threading.Thread(target=ask)
    first.start()
    assert started.wait(10)
    others = [threading.Thread(target=ask) for _ in range(3)]
    for thread in others:
        thread.start()
    gate.set()
    for thread in (first, *others):
        thread.join(10)
    assert len(found) == 4
    assert len(set(found)) == 1
    assert (found[0] == "no luck") == fails
    assert fails or len(compilations) == 1  # who comes after a failure tries anew
