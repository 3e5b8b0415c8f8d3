"""Ctrl-C, child processes and the end of the interpreter, in programs of JAX."""

from __future__ import annotations

import pytest

from tests.xla_core.pjrt.jax_process import run_jax

pytest.importorskip("jax")

# `interrupt` sends SIGINT to the process itself, a little later.
_HEAD = """
import os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
short = jax.jit(lambda x: x + 1)
long = jax.jit(lambda x: jax.lax.fori_loop(0, 60_000, lambda i, v: jnp.sin(v) + 1, x))
x = jnp.arange(1000.0)
short(x).block_until_ready()
def interrupt(delay=0.3):
    threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT)).start()
def still_works():
    assert np.array_equal(np.asarray(short(x)), np.asarray(x) + 1)
    print("still works")
"""

_INTERRUPTED = {
    "a compilation": """
        def many(x):
            for i in range(150):
                x = jnp.cumsum(jnp.sort(x)) / (i + 1.5)
            return x
        work = jax.jit(many).lower(x).compile
        """,
    "a wait": """
        program = long.lower(x).compile()
        work = lambda: program(x).block_until_ready()
        """,
    "a Python callback": """
        def slow(a):
            for _ in range(50):
                time.sleep(0.02)
            return a
        program = jax.jit(lambda x: jax.pure_callback(slow, jax.ShapeDtypeStruct(x.shape, x.dtype), x)).lower(x).compile()
        work = lambda: np.asarray(program(x))
        """,
    "a Python callback that was short before": """
        delay = [0.0]
        program = jax.jit(
            lambda x: jax.pure_callback(
                lambda a: (time.sleep(delay[0]), a)[1], jax.ShapeDtypeStruct(x.shape, x.dtype), x
            )
        ).lower(x).compile()
        for _ in range(10):
            program(x).block_until_ready()
        delay[0] = 1.0
        work = lambda: np.asarray(program(x))
        """,
}


def lines(text: str) -> str:
    return "\n".join(line.removeprefix("        ") for line in text.splitlines()) + "\n"


@pytest.mark.parametrize("what", _INTERRUPTED)
def test_ctrl_c_ends_what_runs_and_nothing_else(what: str) -> None:
    printed = run_jax(
        _HEAD
        + lines(_INTERRUPTED[what])
        + lines("""
        interrupt()
        try:
            work()
            time.sleep(2)
        except KeyboardInterrupt:
            print("interrupted")
        still_works()
        """)
    )
    assert printed.split("\n")[:2] == ["interrupted", "still works"]


def test_forked_workers_do_other_work_and_are_told_why_they_cannot_use_the_devices() -> None:
    printed = run_jax(
        _HEAD
        + lines("""
        import multiprocessing, warnings
        warnings.simplefilter("ignore")
        def use(number):
            try:
                return float(np.asarray(short(x))[number])
            except Exception as error:
                return str(error)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(abs, range(-4, 0)) == [4, 3, 2, 1]
            assert all("before a fork" in text for text in pool.map(use, range(2)))
        still_works()
        """)
    )
    assert printed == "still works\n"


@pytest.mark.parametrize("method", ["spawn", pytest.param("forkserver", marks=pytest.mark.slow)])
def test_other_new_processes_have_devices_of_their_own(method: str) -> None:
    printed = run_jax(
        _HEAD
        + lines(f"""
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context({method!r})) as pool:
            total = pool.submit(jnp.sum, np.arange(5.0)).result()
            print(total, total.devices())
        still_works()
        """)
    )
    assert printed == "10.0 {xla_cpu:0}\nstill works\n"


def test_functions_at_the_end_of_the_interpreter_use_the_devices() -> None:
    """They run while asynchronous work is under way, and an exception in a finalizer disturbs nothing."""
    printed = run_jax(
        _HEAD
        + lines("""
        import atexit, sys, weakref
        sys.unraisablehook = lambda unraisable: None
        class Fragile:
            def __del__(self):
                self.array = short(x)
                raise ValueError("in a finalizer")
        left = Fragile()
        left.itself = left
        atexit.register(lambda: print("at exit", np.asarray(short(x))[0]))
        weakref.finalize(left, lambda: print("finalized", np.asarray(short(x))[0]))
        slow = jax.jit(lambda x: jax.pure_callback(lambda a: (time.sleep(0.2), a)[1], jax.ShapeDtypeStruct(x.shape, x.dtype), x))
        results = [long(x), slow(x), short(x)]
        jax.jit(lambda v: (jax.debug.print("{}", v.sum()), v)[1])(x)
        """)
    )
    assert sorted(printed.split("\n")) == ["", "499500.0", "at exit 1.0", "finalized 1.0"]
