"""Programs with dynamic shapes: a compilation for each signature, what is kept, what is refused, threads, serialization."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import xla_core
from xla_core.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from xla_core.hlo import ElementType, Shape
from xla_core.runtime import Client, DynamicExecutable, LoadedExecutable, Signature, StaticExecutable

SUMS = """
module @sums {
  func.func @main(%a: tensor<?x3xf32>, %b: tensor<3xf32>) -> (tensor<?x3xf32>, tensor<?xf32>) {
    %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %one = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %three = stablehlo.constant dense<3> : tensor<1xi32>
    %shape = stablehlo.concatenate %one, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %wide = stablehlo.dynamic_broadcast_in_dim %b, %shape, dims = [1] : (tensor<3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %sum = stablehlo.add %a, %wide : tensor<?x3xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %rows = stablehlo.reduce(%sum init: %zero) applies stablehlo.add across dimensions = [1] :
        (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
    return %sum, %rows : tensor<?x3xf32>, tensor<?xf32>
  }
}
"""
BOUNDED = """
func.func @main(%a: tensor<?x2xf32, #stablehlo.bounds<4, ?>>) -> (tensor<?x2xf32, #stablehlo.bounds<4, ?>>, tensor<i32>) {
  %0 = stablehlo.add %a, %a : tensor<?x2xf32, #stablehlo.bounds<4, ?>>
  %1 = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x2xf32, #stablehlo.bounds<4, ?>>) -> tensor<i32>
  return %0, %1 : tensor<?x2xf32, #stablehlo.bounds<4, ?>>, tensor<i32>
}
"""
DONATING = """
func.func @main(%a: tensor<?xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""
COUNT_UP = """
func.func @main(%n: tensor<i32>, %a: tensor<f32>) -> tensor<?xf32> {
  %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  %1 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<?xf32>
  return %2 : tensor<?xf32>
}
"""
B = np.array([1, 2, 3], np.float32)


def rows(n: int) -> np.ndarray:
    return np.arange(3 * n, dtype=np.float32).reshape(n, 3)


class Compilations:
    """Counts what the platform's compiler is asked for."""

    def __init__(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self.before: Any = lambda: None
        compiler = client.platform.compiler
        right = compiler.compile

        def counted(*arguments: Any, **named: Any) -> Any:
            self.before()
            self.count += 1
            return right(*arguments, **named)

        monkeypatch.setattr(compiler, "compile", counted)


@pytest.fixture
def compilations(client: Client, monkeypatch: pytest.MonkeyPatch) -> Compilations:
    return Compilations(client, monkeypatch)


def test_one_compilation_a_signature(client: Client, compilations: Compilations) -> None:
    exe = client.compile(SUMS)
    assert isinstance(exe, LoadedExecutable)
    assert isinstance(exe, DynamicExecutable)
    assert not isinstance(exe, StaticExecutable)
    assert (compilations.count, exe.signatures()) == (0, ())
    for compiled, n in ((1, 2), (2, 4), (2, 2), (3, 0), (3, 4), (3, 0)):
        total, sums = map(np.asarray, exe(rows(n), B))
        assert np.array_equal(total, rows(n) + B)
        assert np.array_equal(sums, (rows(n) + B).sum(1))
        assert compilations.count == compiled
    assert [str(s) for s in exe.signatures()] == ["(f32[2,3], f32[3])", "(f32[4,3], f32[3])", "(f32[0,3], f32[3])"]
    x, b = client.buffer_from_host(rows(4)), client.buffer_from_host(B)
    assert np.array_equal(np.asarray(exe.execute([x, b])[0]), rows(4) + B)
    assert np.array_equal(np.asarray(exe([[1, 2, 3]], b)[0]), [[2, 4, 6]])
    assert compilations.count == 4


def test_what_it_says_of_itself(client: Client) -> None:
    exe = client.compile(SUMS)
    assert [str(s) for s in exe.parameter_shapes] == ["f32[?,3]", "f32[3]"]
    assert [str(s) for s in exe.result_shapes] == ["f32[?,3]", "f32[?]"]
    assert (exe.name, exe.devices, exe.donated_parameters) == ("sums", (client.devices[0],), ())
    assert "sums(f32[?,3], f32[3])" in repr(exe)
    for use in (exe.as_text, exe.cost_analysis, exe.memory_stats, exe.artifacts, lambda: exe.report):
        with pytest.raises(FailedPreconditionError, match=r"(?s)of one compilation.*exe\.specialize"):
            use()
    one = exe.specialize((2, 3), (3,))
    assert isinstance(one, StaticExecutable)
    assert "f32[2,3]" in one.as_text()
    assert one.cost_analysis()["flops"] > 0
    assert exe.specialize(rows(2), B) is one
    assert exe.specialize(Shape.array(ElementType.F32, (2, 3)), client.buffer_from_host(B)) is one
    assert [str(s) for s in one.parameter_shapes] == ["f32[2,3]{1,0}", "f32[3]{0}"]
    assert exe.signatures() == one.signatures() == (Signature.of([Shape.of(rows(2)), Shape.of(B)]),)
    assert one.specialize((2, 3), B) is one
    with pytest.raises(InvalidArgumentError, match=r"must be f32\[2,3\], not f32\[4,3\]"):
        one.specialize((4, 3), B)
    with pytest.raises(InvalidArgumentError, match="takes 2 arguments"):
        one.specialize((4, 3))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((rows(2),), r"sums takes 2 arguments \(f32\[\?,3\], f32\[3\]\), not 1"),
        ((rows(2)[0], B), r"argument 0 of sums must be f32\[\?,3\], not f32\[3\]"),
        ((rows(2)[:, :2], B), r"argument 0 of sums must be f32\[\?,3\], not f32\[2,2\]"),
        ((rows(2), B[:2]), r"argument 1 of sums must be f32\[3\], not f32\[2\]"),
        ((rows(2).astype(np.int32), B), r"(?s)must be f32\[\?,3\], not s32\[2,3\].*astype\('float32'\)"),
        ((rows(2), object()), "no element type|not an array"),
    ],
)
def test_wrong_arguments(client: Client, compilations: Compilations, arguments: tuple[Any, ...], message: str) -> None:
    exe = client.compile(SUMS)
    with pytest.raises(InvalidArgumentError, match=message):
        exe(*arguments)
    assert compilations.count == 0
    assert np.array_equal(np.asarray(exe(rows(1), B)[0]), rows(1) + B)
    exe(rows(2), B)
    with pytest.raises(InvalidArgumentError, match=message):  # also where the sizes are those of something compiled
        exe(*arguments)


def test_wrong_buffers(client: Client) -> None:
    exe = client.compile(SUMS)
    x, b = client.buffer_from_host(rows(2)), client.buffer_from_host(B)
    with pytest.raises(InvalidArgumentError, match="is a ndarray, not a Buffer"):
        exe.execute([x, B])
    with pytest.raises(InvalidArgumentError, match="takes 2 arguments"):
        exe.execute([x])
    with pytest.raises(InvalidArgumentError, match="is on <Device toy:1>"):
        exe.execute([x, client.buffer_from_host(B, client.devices[1])])
    x.delete()
    with pytest.raises(FailedPreconditionError, match="was deleted"):
        exe(x, b)


def test_bounds(client: Client) -> None:
    exe = client.compile(BOUNDED)
    assert str(exe.parameter_shapes[0]) == "f32[<=4,2]"
    for n in (0, 3, 4):
        doubled, size = map(np.asarray, exe(np.ones((n, 2), np.float32)))
        assert (doubled.shape, doubled.sum(), size) == ((n, 2), 4 * n, n)
    with pytest.raises(InvalidArgumentError, match=r"must be f32\[<=4,2\], not f32\[5,2\].*5, is over its bound"):
        exe(np.ones((5, 2), np.float32))


def test_contradictions_name_the_place_and_leave_the_client_usable(client: Client) -> None:
    exe = client.compile(DONATING, file="p.mlir")
    with pytest.raises(
        InvalidArgumentError,
        match=r"(?s)^p\.mlir:3:8: .*sizes 2 and 3 in dimension 0.*arguments are \(f32\[2\], f32\[3\]",
    ):
        exe(np.ones(2, np.float32), np.ones(3, np.float32))
    assert exe.signatures() == ()
    assert np.asarray(exe(np.ones(2, np.float32), np.ones(2, np.float32))[0]).tolist() == [2, 2]


def test_a_shape_assertion_speaks_for_itself(client: Client) -> None:
    exe = client.compile("""
    func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
      %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %rest = stablehlo.remainder %n, %two : tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %ok = stablehlo.compare EQ, %rest, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.custom_call @shape_assertion(%ok, %n, %rest) {api_version = 2 : i32, has_side_effect = true,
        error_message = "size {0} is odd: {1} is left"} : (tensor<i1>, tensor<i32>, tensor<i32>) -> () loc("model.py":7:1)
      return %a : tensor<?xf32>
    }""")
    assert np.asarray(exe(np.ones(4, np.float32))[0]).shape == (4,)
    with pytest.raises(InvalidArgumentError, match=r"^model\.py:7:1: INVALID_ARGUMENT: size 3 is odd: 1 is left"):
        exe(np.ones(3, np.float32))
    assert len(exe.signatures()) == 1


# -- values that sizes follow from -----------------------------------------------------------------------------------


def test_a_size_that_is_the_value_of_an_argument_is_refused(client: Client) -> None:
    with pytest.raises(UnimplementedError, match=r"(?s)^p\.mlir:4:8: .*dynamic_iota.*static_arguments="):
        client.compile(COUNT_UP, file="p.mlir")


def test_static_arguments(client: Client, compilations: Compilations) -> None:
    exe = client.compile(COUNT_UP, xla_core.CompileOptions(static_arguments=(0,)))
    for compiled, n in ((1, 3), (2, 5), (2, 3)):
        number = client.buffer_from_host(np.int32(n)) if n == 5 else n
        assert np.asarray(exe(number, 2.0)[0]).tolist() == [2 * i for i in range(n)]
        assert compilations.count == compiled
    assert [str(s) for s in exe.signatures()] == ["(s32[] = 5, f32[])", "(s32[] = 3, f32[])"]
    assert exe.signatures()[0].values == ((0, 5),)
    assert "f32[3]" in exe.specialize(3, ()).as_text()
    with pytest.raises(InvalidArgumentError, match="argument 0 of main is static: give its value"):
        exe.specialize((), ())
    for numbers, message in (((2,), "names parameter 2, main has 2"), ((1,), r"parameter 1 of main, f32\[\]")):
        with pytest.raises(InvalidArgumentError, match=message):
            client.compile(COUNT_UP, xla_core.CompileOptions(static_arguments=numbers))
    with pytest.raises(InvalidArgumentError, match="static_arguments are only for StableHLO"):
        client.compile(exe.specialize(3, ()).executable.module, xla_core.CompileOptions(static_arguments=(0,)))


# -- what is kept ----------------------------------------------------------------------------------------------------


def test_the_one_not_called_for_longest_is_forgotten(client: Client, compilations: Compilations) -> None:
    exe = client.compile(SUMS, xla_core.CompileOptions(max_specializations=2))
    kept = exe.specialize((1, 3), (3,))
    for n in (1, 2, 1, 3):
        exe(rows(n), B)
    assert [s.shapes[0].dimensions[0] for s in exe.signatures()] == [1, 3]
    assert compilations.count == 3
    exe(rows(1), B)
    assert compilations.count == 3
    exe(rows(2), B)
    exe(rows(3), B)
    assert compilations.count == 5
    assert np.array_equal(np.asarray(kept(rows(1), B)[0]), rows(1) + B)  # forgotten there, and usable


def test_threads_share_one_compilation(client: Client, compilations: Compilations) -> None:
    exe = client.compile(SUMS)
    start = threading.Barrier(8)

    def call(i: int) -> np.ndarray:
        start.wait()
        return np.asarray(exe(rows(5) + i, B)[0])

    with ThreadPoolExecutor(8) as pool:
        for i, result in enumerate(pool.map(call, range(8))):
            assert np.array_equal(result, rows(5) + i + B)
    assert compilations.count == 1


def test_an_interrupted_compilation_is_begun_again_by_those_who_wait(
    client: Client, compilations: Compilations
) -> None:
    exe = client.compile(SUMS)
    entered, go = threading.Event(), threading.Event()

    def interrupt() -> None:
        if not entered.is_set():
            entered.set()
            go.wait(10)
            raise KeyboardInterrupt

    compilations.before = interrupt
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(lambda: exe(rows(2), B))
        assert entered.wait(10)
        second = pool.submit(lambda: np.asarray(exe(rows(2), B)[0]))
        go.set()
        assert isinstance(first.exception(), KeyboardInterrupt)
        assert np.array_equal(second.result(), rows(2) + B)


def test_an_error_of_a_compilation_is_not_kept(client: Client, compilations: Compilations) -> None:
    exe = client.compile(SUMS)
    failing = True

    def fail() -> None:
        if failing:
            raise UnimplementedError("not today")

    compilations.before = fail
    with pytest.raises(UnimplementedError, match="not today"):
        exe(rows(2), B)
    failing = False
    assert np.array_equal(np.asarray(exe(rows(2), B)[0]), rows(2) + B)


# -- donation, devices, the end --------------------------------------------------------------------------------------


def test_donation(client: Client) -> None:
    exe = client.compile(DONATING)
    assert exe.donated_parameters == (0,)
    for n in (2, 3, 2):
        a = client.buffer_from_host(np.ones(n, np.float32))
        memory = a.memory
        (out,) = exe(a, np.ones(n, np.float32))
        assert a.is_deleted()
        assert out.memory is memory
    keep = client.compile(DONATING, xla_core.CompileOptions(donate=()))
    a = client.buffer_from_host(np.ones(2, np.float32))
    keep(a, a)
    assert (keep.donated_parameters, a.is_deleted()) == ((), False)


def test_sharded(client: Client, compilations: Compilations) -> None:
    exe = client.compile(SUMS, xla_core.CompileOptions(num_replicas=2))
    assert len(exe.devices) == 2
    for n in (2, 3):
        inputs = [[client.buffer_from_host(rows(n) + d, device), B] for d, device in enumerate(client.devices)]
        for d, (total, _) in enumerate(exe.execute_sharded(inputs)):
            assert np.array_equal(np.asarray(total), rows(n) + d + B)
    assert compilations.count == 2
    with pytest.raises(InvalidArgumentError, match=r"(?s)device 1 of sums are \(f32\[3,3\].*device 0 \(f32\[2,3\]"):
        exe.execute_sharded([[rows(2), B], [rows(3), B]])
    with pytest.raises(InvalidArgumentError, match=r"runs on 2 devices .*given for 1"):
        exe.execute_sharded([[rows(2), B]])
    for call in (lambda: exe(rows(2), B), lambda: exe.execute([])):
        with pytest.raises(InvalidArgumentError, match="use execute_sharded"):
            call()


def test_delete_and_close(client: Client) -> None:
    exe = client.compile(SUMS)
    one = exe.specialize((2, 3), (3,))
    exe.delete()
    for use in (lambda: exe(rows(2), B), lambda: one(rows(2), B), lambda: exe.specialize((1, 3), (3,))):
        with pytest.raises(FailedPreconditionError, match="the executable sums was deleted"):
            use()
    other = client.compile(SUMS)
    other(rows(2), B)
    client.close()
    for n in (2, 3):
        with pytest.raises(FailedPreconditionError, match="client is closed"):
            other(rows(n), B)


def test_a_deleted_specialization_is_compiled_anew(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    compilations = Compilations(client, monkeypatch)
    exe = client.compile(SUMS)
    buffers = [client.buffer_from_host(rows(2)), client.buffer_from_host(B)]
    uses = [lambda: exe(rows(2), B), lambda: exe.execute(buffers), lambda: exe.specialize((2, 3), (3,))(rows(2), B)]
    for number, use in enumerate(uses, 2):
        one = exe.specialize((2, 3), (3,))
        one.delete()
        assert exe.signatures() == ()
        exe.serialize()
        np.testing.assert_array_equal(np.asarray(use()[0]), rows(2) + B)
        assert len(exe.signatures()) == 1
        assert compilations.count == number
        with pytest.raises(FailedPreconditionError, match="was deleted"):
            one(rows(2), B)


def test_wrong_programs_and_devices_are_said_at_once(client: Client) -> None:
    with pytest.raises(InvalidArgumentError, match="needs 3 x 1 devices"):
        client.compile(SUMS, xla_core.CompileOptions(num_replicas=3))
    with pytest.raises(InvalidArgumentError, match=r"donate names parameter 7"):
        client.compile(SUMS, xla_core.CompileOptions(donate=(7,)))
    with pytest.raises(InvalidArgumentError, match="expects different type than prior uses"):
        client.compile(SUMS.replace("%wide : tensor<?x3xf32>", "%b : tensor<?x3xf32>"))


def test_dumps_have_a_number_for_each_compilation(client: Client, tmp_path: Any) -> None:
    exe = client.compile(SUMS, xla_core.CompileOptions(dump_to=str(tmp_path)))
    exe(rows(2), B)
    exe(rows(3), B)
    names = sorted(p.name.split(".", 1) for p in (tmp_path / "xla_core").iterdir())
    assert len({number for number, _ in names}) == 2
    assert [rest for _, rest in names].count("sums.stablehlo.mlir") == 2


# -- parse and evaluate ----------------------------------------------------------------------------------------------


def test_parse_and_evaluate() -> None:
    with pytest.raises(InvalidArgumentError, match=r"(?s)argument 0 is f32\[\?,3\].*argument_shapes="):
        xla_core.parse(SUMS)
    module = xla_core.parse(SUMS, argument_shapes=[(2, 3), None])
    for program in (SUMS, SUMS.encode(), module):
        total, sums = xla_core.evaluate(program, rows(2), B)
        assert np.array_equal(total, rows(2) + B)
        assert np.array_equal(sums, (rows(2) + B).sum(1))
    shape = Shape.array(ElementType.F32, (4, 3))
    assert str(xla_core.parse(SUMS, argument_shapes=[shape, [3]]).parameter_shapes[0]) == "f32[4,3]"
    assert xla_core.evaluate(COUNT_UP, np.int32(3), np.float32(2))[0].tolist() == [0, 2, 4]
    for shapes, message in (
        ([(2, 3)], "takes 2 arguments"),
        ([(2, 4), None], r"must be f32\[\?,3\], not f32\[2,4\]"),
        ([None, None], "its sizes must be given"),
        ([(-1, 3), None], "must not be negative"),
        ([("a", 3), None], "must be a Shape or its sizes"),
        ("ab", "must be a list of shapes"),
        ([(2, 3), (3,), (4,)], "takes 2 arguments"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            xla_core.parse(SUMS, argument_shapes=shapes)
    with pytest.raises(InvalidArgumentError, match="for StableHLO"):
        xla_core.parse(module, argument_shapes=[(2, 3), None])
    with pytest.raises(InvalidArgumentError, match="is not a program"):
        xla_core.evaluate(3)
