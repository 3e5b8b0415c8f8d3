"""Native functions as custom calls: on the evaluator and on every backend."""

from __future__ import annotations

import ctypes
import gc
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xla_core as xla
from xla_core.errors import (
    AlreadyExistsError,
    DeadlineExceededError,
    InvalidArgumentError,
    ResourceExhaustedError,
    UnimplementedError,
    XlaError,
)
from xla_core.ffi import register_ffi_handler, register_ffi_type

_numbers = itertools.count()
Run = Callable[..., Sequence[np.ndarray]]
X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(params=["evaluator", "cpu", "template", "gpu"])
def run(request: pytest.FixtureRequest) -> Run:
    def on_backend(text: str, *arrays: np.ndarray) -> Sequence[np.ndarray]:
        program = xla.Client(request.param).compile(text, options=xla.CompileOptions(fallback="host"), file="f.mlir")
        return [np.asarray(result) for result in program(*arrays)]

    return (
        (lambda text, *arrays: xla.evaluate(text, *arrays, file="f.mlir"))
        if request.param == "evaluator"
        else on_backend
    )


def registered(function: Any) -> str:
    target = f"test.ffi.{next(_numbers)}"
    register_ffi_handler(target, function)
    return target


def call(target: str, config: str, operands: Sequence[str] = (), results: Sequence[str] = (), extra: str = "") -> str:
    """The text of a program that passes its arguments to a handler and returns its results."""
    parameters = ", ".join(f"%{n}: {type}" for n, type in enumerate(operands))
    names = ", ".join(f"%{n}" for n in range(len(operands)))
    several = len(results) > 1
    returned = ", ".join(f"%r#{n}" for n in range(len(results))) if several else "%r"
    types = ", ".join(results)
    return f"""func.func @main({parameters}) -> ({types}) {{
  %r{f":{len(results)}" if several else ""} = stablehlo.custom_call @{target}({names}) {{api_version = 4 : i32,
    backend_config = {config}{extra}}} : ({", ".join(operands)}) -> ({types})
  return {returned} : {types}
}}"""


F32 = "tensor<2x3xf32>"


def test_a_handler_in_c_runs_on_every_backend(run: Run, c_library: ctypes.CDLL) -> None:
    text = call(registered(c_library.scale), "{k = 2.5 : f64}", [F32], [F32])
    np.testing.assert_array_equal(run(text, X)[0], 2.5 * X)


def test_a_handlers_error_is_the_executions(run: Run, c_library: ctypes.CDLL) -> None:
    target = registered(c_library.scale)
    with pytest.raises(ResourceExhaustedError, match=f"custom call '{target}' failed: k is negative") as caught:
        run(call(target, "{k = -1.0 : f64}", [F32], [F32]), X)
    assert caught.value.location is not None
    assert caught.value.location.line == 2
    np.testing.assert_array_equal(run(call(target, "{k = 1.0 : f64}", [F32], [F32]), X)[0], X)


def test_a_pointer_that_is_no_error_is_reported(c_library: ctypes.CDLL) -> None:
    with pytest.raises(XlaError, match="the handler returned 0x123, which is no error"):
        xla.evaluate(call(registered(c_library.returns_nonsense), "{}", [], ["tensor<i64>"]))


@pytest.mark.parametrize(
    ("name", "message"),
    [("from_the_future", "has version 0.99 of XLA's FFI"), ("without_metadata", "has version 0.0 of XLA's FFI")],
)
def test_handlers_of_other_versions_are_refused(c_library: ctypes.CDLL, name: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        register_ffi_handler("test.ffi.version", getattr(c_library, name))


def test_a_target_is_registered_once(c_library: ctypes.CDLL) -> None:
    target = registered(c_library.scale)
    register_ffi_handler(target, c_library.scale)
    register_ffi_handler(target, {"execute": ctypes.cast(c_library.scale, ctypes.c_void_p).value})
    with pytest.raises(AlreadyExistsError, match=f"custom call '{target}' is registered already"):
        register_ffi_handler(target, c_library.returns_nonsense)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (print, "must be a capsule, a function of ctypes or an address, not of type builtin_function_or_method"),
        (0, "must be a capsule, a function of ctypes or an address, not 0"),
        ({}, "has functions for no stage; the stages are instantiate, prepare, initialize, execute"),
        ({"run": 1}, "has functions for 'run'; the stages are"),
        ({"execute": 1, "run": 2}, "has functions for 'execute', 'run'; the stages are"),
    ],
)
def test_what_is_no_function_is_refused(function: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        register_ffi_handler("test.ffi.none", function)


CONFIG = """{array = array<i32: 1, -2, 30>, f32 = 0.5 : f32, f64 = -2.0 : f64, flag = true, i8 = -3 : i8,
  nested = {inner = {x = 9 : i64}, y = "z"}, reals = dense<[[1.5], [2.0]]> : tensor<2x1xf64>,
  text = "four", u64 = 9223372036854775808 : ui64}"""


def test_attributes_keep_their_types(run: Run, cpp_library: ctypes.CDLL) -> None:
    (result,) = run(call(registered(cpp_library.attributes), CONFIG, [], ["tensor<9xf64>"]))
    assert result.tolist() == [1, -3, 2.0**63, 0.5, -2, 4, 29, 3.5, 9]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("-3 : i8", "-3 : i16", "Wrong scalar data type: expected S8 but got S16"),
        ("flag", "flog", "Attribute name mismatch"),
        ("-3 : i8", "[3]", r"attribute 'i8' is \[.*\], which XLA's FFI can't pass"),
        ("-3 : i8", "f32", r"attribute 'i8' is dtype\('float32'\), which XLA's FFI can't pass"),
        ("-3 : i8", "tensor<2xf32>", "backend_config is not a dictionary of attributes that XLA's FFI can pass"),
    ],
)
def test_wrong_attributes_are_errors_with_a_place(
    run: Run, cpp_library: ctypes.CDLL, old: str, new: str, message: str
) -> None:
    text = call(registered(cpp_library.attributes), CONFIG.replace(old, new), [], ["tensor<9xf64>"])
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        run(text)
    assert caught.value.location is not None


@pytest.mark.parametrize(
    ("dtype", "name", "code"),
    [
        ("bool", "i1", 1),
        ("int8", "i8", 2),
        ("uint16", "ui16", 7),
        ("bfloat16", "bf16", 16),
        ("complex64", "complex<f32>", 15),
    ],
)
def test_a_handler_sees_types_and_sizes(run: Run, cpp_library: ctypes.CDLL, dtype: str, name: str, code: int) -> None:
    x = np.array([[0, 1, 1], [1, 0, 1]], getattr(ml_dtypes, dtype, dtype))
    type = f"tensor<2x3x{name}>"
    copy, about = run(call(registered(cpp_library.describe), "{}", [type], [type, "tensor<3xi64>"]), x)
    np.testing.assert_array_equal(copy, x)
    assert about.tolist() == [code, 2, 3]


def test_arrays_have_the_layouts_of_the_call(run: Run, cpp_library: ctypes.CDLL) -> None:
    layouts = """, operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[0]> : tensor<1xindex>]"""
    text = call(registered(cpp_library.describe), "{}", [F32], [F32, "tensor<3xi64>"], layouts)
    np.testing.assert_array_equal(run(text, X)[0], X.T.reshape(2, 3))


def test_scalars_and_empty_arrays(run: Run, cpp_library: ctypes.CDLL) -> None:
    target = registered(cpp_library.describe)
    scalar = run(call(target, "{}", ["tensor<f32>"], ["tensor<f32>", "tensor<1xi64>"]), np.float32(5))
    assert (scalar[0].shape, scalar[0].item(), scalar[1].tolist()) == ((), 5, [11])
    empty = run(call(target, "{}", ["tensor<0x2xf32>"], ["tensor<0x2xf32>", "tensor<3xi64>"]), np.empty((0, 2), "f4"))
    assert (empty[0].shape, empty[1].tolist()) == ((0, 2), [11, 0, 2])


def test_a_result_may_lie_in_an_operand(run: Run, cpp_library: ctypes.CDLL) -> None:
    alias = """, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [],
    operand_index = 0, operand_tuple_indices = []>]"""
    x = X.copy()
    np.testing.assert_array_equal(run(call(registered(cpp_library.increment), "{}", [F32], [F32], alias), x)[0], X + 1)
    np.testing.assert_array_equal(x, X)


def count_target(library: ctypes.CDLL) -> str:
    register_ffi_type("test.ffi.Count", library.count_type_id(), library.count_type_info())
    return registered({"instantiate": library.count_instantiate, "execute": library.count_execute})


@pytest.mark.parametrize("backend", ["cpu", "template"])
def test_a_state_lives_as_long_as_the_program(backend: str, cpp_library: ctypes.CDLL) -> None:
    text = call(count_target(cpp_library), "{fails = false}", [], ["tensor<i64>"], ", has_side_effect = true")
    with xla.Client(backend) as client:
        before = cpp_library.count_destroyed()
        program = client.compile(text, options=xla.CompileOptions(fallback="host"))
        assert [int(np.asarray(program()[0])) for _ in range(3)] == [100, 101, 102]
        second = client.compile(text, options=xla.CompileOptions(fallback="host"))
        assert int(np.asarray(second()[0])) == 100
        assert cpp_library.count_destroyed() == before
    del program, second
    gc.collect()
    assert cpp_library.count_destroyed() == before + 2


def test_an_error_of_instantiate_has_a_place(run: Run, cpp_library: ctypes.CDLL) -> None:
    text = call(count_target(cpp_library), "{fails = true}", [], ["tensor<i64>"])
    with pytest.raises(InvalidArgumentError, match="failed: no count is made") as caught:
        run(text)
    assert caught.value.location is not None


def test_a_type_keeps_its_number(cpp_library: ctypes.CDLL) -> None:
    number = ctypes.c_int64()
    register_ffi_type("test.ffi.kept", ctypes.addressof(number))
    first = number.value
    register_ffi_type("test.ffi.kept", ctypes.addressof(number))
    assert number.value == first > 0
    other = ctypes.c_int64(3)
    with pytest.raises(AlreadyExistsError, match=f"is registered with the number {first}, not 3"):
        register_ffi_type("test.ffi.kept", ctypes.addressof(other))


LATER = ["tensor<4xi64>"]


def test_a_handler_may_end_later_and_use_its_context(run: Run, cpp_library: ctypes.CDLL) -> None:
    target = registered(cpp_library.later)
    assert run(call(target, "{fails = false}", [], LATER))[0].tolist() == [0, 3, 1, 7]
    with pytest.raises(DeadlineExceededError, match="failed: too late"):
        run(call(target, "{fails = true}", [], LATER))


def test_a_handler_that_needs_a_stream_is_told(cpp_library: ctypes.CDLL) -> None:
    with pytest.raises(XlaError, match="handlers run on the host, where there is no stream"):
        xla.evaluate(call(registered(cpp_library.on_stream), "{}", [], ["tensor<i64>"]))


def test_threads_call_one_program(c_library: ctypes.CDLL) -> None:
    text = call(registered(c_library.scale), "{k = 2.0 : f64}", [F32], [F32])
    wrong: list[int] = []
    with xla.Client("cpu") as client:
        program = client.compile(text)

        def work(number: int) -> None:
            for step in range(50):
                x = X + 100 * number + step
                if not np.array_equal(np.asarray(program(x)[0]), 2 * x):
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_a_stored_program_calls_the_handler(c_library: ctypes.CDLL) -> None:
    text = call(registered(c_library.scale), "{k = 2.0 : f64}", [F32], [F32])
    with xla.Client("cpu") as client:
        stored = client.compile(text).serialize()
        np.testing.assert_array_equal(np.asarray(client.deserialize(stored)(X)[0]), 2 * X)


def test_an_unknown_target_stays_an_error() -> None:
    with pytest.raises(UnimplementedError, match=r"there is no custom call 'test\.ffi\.unknown'"):
        xla.Client("cpu").compile(call("test.ffi.unknown", "{}", [F32], [F32]))
