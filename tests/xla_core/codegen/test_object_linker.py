"""Object code is linked into the process, with the symbols it imports."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

import llvmlite.binding as llvm
import pytest
from llvmlite.binding import ffi

from xla_core.codegen import link_objects
from xla_core.codegen.llvm import LoopAbi, compile_ir
from xla_core.errors import InternalError

_CALLS = """
declare i64 @given(i64)
define i64 @calls(i64 %x) {
  %y = call i64 @given(i64 %x)
  %z = add i64 %y, 1
  ret i64 %z
}
"""


def _object(ir: str) -> bytes:
    return compile_ir(ir, LoopAbi(llvm.get_process_triple()), jit=True).object()


def test_linked_code_calls_what_is_imported() -> None:
    given = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(lambda x: 10 * x)
    address = ctypes.cast(given, ctypes.c_void_p).value
    assert address is not None
    code = link_objects([_object(_CALLS)], ["calls"], {"given": address})
    assert code.function("calls", ctypes.c_int64, ctypes.c_int64)(4) == 41


def test_objects_call_each_other() -> None:
    given = "define i64 @given(i64 %x) {\n  %y = mul i64 %x, 7\n  ret i64 %y\n}\n"
    code = link_objects([_object(_CALLS), _object(given)], ["calls", "given"])
    assert code.function("calls", ctypes.c_int64, ctypes.c_int64)(2) == 15
    assert code.function("given", ctypes.c_int64, ctypes.c_int64)(2) == 14


def test_equal_names_in_different_links_are_different_functions() -> None:
    codes = [link_objects([_object(f"define i64 @f() {{\n  ret i64 {n}\n}}\n")], ["f"]) for n in range(3)]
    assert [code.function("f", ctypes.c_int64)() for code in codes] == [0, 1, 2]


@pytest.mark.parametrize("missing", ["import", "export"])
def test_a_missing_symbol_is_an_error_and_the_linker_goes_on(missing: str) -> None:
    ir = _CALLS if missing == "import" else "define void @other() {\n  ret void\n}\n"
    with pytest.raises(InternalError, match="could not be linked"):
        link_objects([_object(ir)], ["calls"])
    code = link_objects([_object("define i64 @f() {\n  ret i64 5\n}\n")], ["f"])
    assert code.function("f", ctypes.c_int64)() == 5


def test_a_child_process_can_link() -> None:
    data = _object("define i64 @f() {\n  ret i64 6\n}\n")
    link_objects([data], ["f"])
    child = os.fork()
    if child == 0:
        os._exit(int(link_objects([data], ["f"]).function("f", ctypes.c_int64)()))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 6


@pytest.mark.timeout(60)
def test_a_child_process_can_compile_and_link_what_a_thread_of_its_parent_was_at() -> None:
    ir = "define i64 @f() {\n  ret i64 6\n}\n"
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            link_objects([_object(ir)], ["f"])

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(10)
                os._exit(int(link_objects([_object(ir)], ["f"]).function("f", ctypes.c_int64)()))
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 6
    finally:
        done.set()
        thread.join()


@pytest.mark.timeout(60)
def test_an_interrupted_fork_leaves_no_lock_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python prints what a function that it calls before a fork raises, and forks."""
    ignored: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: ignored.append(unraisable.exc_type))
    data = _object("define i64 @f() {\n  ret i64 7\n}\n")
    is_held, is_forked = threading.Event(), threading.Event()

    def compile_for_long() -> None:
        with ffi.lib._lock:
            is_held.set()
            is_forked.wait(20)

    def interrupt() -> None:
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    threads = [threading.Thread(target=compile_for_long), threading.Thread(target=interrupt)]
    threads[0].start()
    is_held.wait(20)
    threads[1].start()
    child = os.fork()
    if child == 0:
        os._exit(0)
    is_forked.set()
    os.waitpid(child, 0)
    linked: list[int] = []
    threads.append(
        threading.Thread(target=lambda: linked.append(link_objects([data], ["f"]).addresses["f"]), daemon=True)
    )
    threads[2].start()
    for thread in threads:
        thread.join(20)
    assert ignored == [KeyboardInterrupt]
    assert linked
