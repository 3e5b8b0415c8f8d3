"""`xla run`: results, inputs from files, --check, traces, and errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from rich.console import Console

from xla_core.cli.commands import run
from xla_core.cli.comparison import check_results
from xla_core.hlo import HloModule
from xla_core.passes import create_pass

pytestmark = pytest.mark.usefixtures("toy_backend")


def test_random_arguments_and_check(xla: Callable[..., Any], program: Path) -> None:
    result = xla("run", program, "--backend", "toy", "--check")
    assert result.code == 0, result.err
    assert "f32[2,3]" in result.out
    assert "agrees with the reference evaluator" in result.out
    assert "tolerance: f32 within 4 ULP, 0.000119 of the element or 0.000119 of the largest element" in result.out
    again = xla("run", program, "--backend", "toy", "--seed", 0)
    other = xla("run", program, "--backend", "toy", "--seed", 1)
    first = [line for line in result.out.splitlines() if "f32[2,3]" in line]
    assert first == [line for line in again.out.splitlines() if "f32[2,3]" in line]
    assert first != [line for line in other.out.splitlines() if "f32[2,3]" in line]


def test_inputs_and_outputs_are_files(xla: Callable[..., Any], program: Path, tmp_path: Path) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3) / 7
    y = np.full((2, 3), 2, np.float32)
    np.save(tmp_path / "x.npy", x)
    np.savez(tmp_path / "rest.npz", y=y)
    out = tmp_path / "out"
    inputs = ["-i", tmp_path / "x.npy", "-i", tmp_path / "rest.npz"]
    result = xla("run", program, "-b", "toy", *inputs, "--output", out, "--repeat", 3)
    assert result.code == 0, result.err
    assert "median of 3 runs" in result.out
    np.testing.assert_allclose(np.load(out / "result_0.npy"), np.exp(x.astype(np.float64) * y), rtol=1e-6)


def test_arguments_are_in_a_folder(xla: Callable[..., Any], tmp_path: Path) -> None:
    """As `xla conform` writes those of a failure, and `xla bisect --output` those of a program."""
    path, out = tmp_path / "last.hlo", tmp_path / "out"
    given = "".join(f"  x{n} = f32[] parameter({n})\n" for n in range(11))
    path.write_text(f"HloModule m\n\nENTRY e {{\n{given}  ROOT y = f32[] subtract(x2, x10)\n}}\n")
    numbered, saved = tmp_path / "numbered", tmp_path / "saved"
    numbered.mkdir()
    saved.mkdir()
    for number in range(11):
        np.save(numbered / f"argument_{number}.npy", np.float32(number))
    np.savez(saved / "arguments.npz", *map(np.float32, range(11)))
    for folder in (numbered, saved):
        result = xla("run", path, "-b", "toy", "-i", folder, "-o", out)
        assert result.code == 0, result.err
        assert np.load(out / "result_0.npy") == -8
    empty = xla("run", path, "-b", "toy", "-i", out)
    assert empty.code == 2
    assert "has neither argument_0.npy nor arguments.npz" in " ".join(empty.err.split())


@pytest.mark.parametrize("count", [1, 3])
def test_too_few_or_too_many_inputs_are_counted(
    xla: Callable[..., Any], program: Path, tmp_path: Path, count: int
) -> None:
    np.save(tmp_path / "x.npy", np.ones((2, 3), np.float32))
    result = xla("run", program, "-b", "toy", *(["-i", tmp_path / "x.npy"] * count))
    assert result.code == 2
    told = " ".join(result.err.split())
    assert f"--input gives {count} array{'s' * (count > 1)}, but the program takes 2: f32[2,3], f32[2,3]" in told
    assert "leave it out: then the arguments are random" in told


def test_types_that_numpy_files_do_not_know(xla: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "add.hlo"
    path.write_text("HloModule m\nENTRY main {\n  x = bf16[3] parameter(0)\n  ROOT r = bf16[3] add(x, x)\n}\n")
    values = np.array([1, 2.5, -3], ml_dtypes.bfloat16)
    np.save(tmp_path / "x.npy", values.view("V2"))
    result = xla("run", path, "-b", "toy", "-i", tmp_path / "x.npy", "-o", tmp_path, "--check")
    assert result.code == 0, result.err
    stored = np.load(tmp_path / "result_0.npy").view(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(stored, values + values)


WIDE = """HloModule wide
ENTRY main {
  x = s32[64] parameter(0)
  u = u4[64] parameter(1)
  n = s32[] parameter(2)
  part = s32[32] dynamic-slice(x, n), dynamic_slice_sizes={32}
  ROOT r = (s32[32], s32[64], u4[64], s32[]) tuple(part, x, u, n)
}
"""


def test_random_integers_are_of_every_size_unless_they_are_indices(xla: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "wide.hlo"
    path.write_text(WIDE)
    starts = set()
    for seed in range(8):
        result = xla("run", path, "-b", "toy", "--check", "--seed", seed, "-o", tmp_path)
        assert result.code == 0, result.err
        x, u, n = (np.load(tmp_path / f"result_{i}.npy") for i in (1, 2, 3))
        assert np.count_nonzero(np.abs(x.astype(np.int64)) <= 8) > 32
        assert x.min() < -(1 << 16)
        assert x.max() > 1 << 16
        assert u.view(np.uint8).max() > 8
        starts.add(int(n))
    assert starts <= set(range(8))
    assert len(starts) > 3


LONG = """HloModule counting
body { p = s32[] parameter(0)  one = s32[] constant(1)  ROOT q = s32[] add(p, one) }
below { p = s32[] parameter(0)  n = s32[] constant(2000)  ROOT t = pred[] compare(p, n), direction=LT }
ENTRY main { x = s32[] parameter(0)  ROOT w = s32[] while(x), condition=below, body=body }
"""


def test_a_long_run_says_what_to_do_if_it_hangs(
    xla: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "long.hlo"
    path.write_text(LONG)
    np.save(tmp_path / "zero.npy", np.int32(0))
    assert "xla bisect" not in xla("run", path, "-b", "toy", "-i", tmp_path / "zero.npy").err
    monkeypatch.setattr(run, "_LONG_SECONDS", 0.0)
    result = xla("run", path, "-b", "toy", "-i", tmp_path / "zero.npy")
    assert result.code == 0
    assert "If it hangs, Ctrl-C ends it, and `xla bisect" in result.err


RANDOM = """\
func.func @main(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %low = stablehlo.constant dense<-1.0> : tensor<f32>
  %high = stablehlo.constant dense<1.0> : tensor<f32>
  %n = stablehlo.constant dense<[5]> : tensor<1xi64>
  %r = stablehlo.rng %low, %high, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<5xf32>
  %y = stablehlo.add %x, %x : tensor<5xf32>
  return %r, %y : tensor<5xf32>, tensor<5xf32>
}
"""


def test_what_is_drawn_at_random_is_not_compared(xla: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "rng.mlir"
    path.write_text(RANDOM)
    result = xla("run", path, "--backend", "cpu", "--check")
    assert result.code == 0, result.out + result.err
    verdicts = [
        line.rstrip().split("  ")[-1].strip() for line in result.out.splitlines() if line.startswith(("0", "1"))
    ]
    assert verdicts[-2:] == ["draws random numbers: not comparable", "right"]
    assert "agrees with the reference evaluator in all results that can be compared" in result.out


def test_where_all_is_drawn_at_random_nothing_is_claimed(xla: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "rng.mlir"
    path.write_text(RANDOM.replace("return %r, %y :", "return %r, %r :"))
    result = xla("run", path, "--backend", "cpu", "--check")
    assert result.code == 0, result.out + result.err
    assert "agrees" not in result.out
    assert "only types and sizes are compared with the reference evaluator" in result.out


def test_what_is_not_random_is_still_compared(
    xla: Callable[..., Any], toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rng.mlir"
    path.write_text(RANDOM)
    right = toy.evaluate
    monkeypatch.setattr(toy, "evaluate", lambda module, *a: [r + 1 for r in right(module, *a)])
    result = xla("run", path, "--backend", "toy", "--check")
    assert result.code == 1, result.out + result.err
    assert "draws random numbers: not comparable" in result.out
    assert "5 of 5 wrong" in result.out
    assert "differs from the reference evaluator" in result.out


def test_a_wrong_backend_fails_the_check(
    xla: Callable[..., Any], program: Path, toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = toy.evaluate
    monkeypatch.setattr(toy, "evaluate", lambda module, *a: [r + (r == r.max()) for r in right(module, *a)])
    result = xla("run", program, "--backend", "toy", "--check")
    assert result.code == 1
    assert "1 of 6 wrong" in result.out
    assert "differs from the reference evaluator" in result.out
    assert xla("run", program, "--backend", "toy").code == 0


@pytest.mark.parametrize(("op", "code"), [("negate", 1), ("tanh", 0)])
def test_what_no_op_rounds_differently_is_compared_exactly(
    xla: Callable[..., Any], toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, op: str, code: int
) -> None:
    """A small error beside a large element is wrong, unless an op on the way may be rounded differently."""
    path = tmp_path / "halves.hlo"
    path.write_text(
        f"HloModule m\n\nENTRY e {{\n  x = f32[2] parameter(0)\n  y = f32[2] {op}(x)\n  c = f32[2] constant({{1, 1e6}})\n"
        "  ROOT z = f32[2] multiply(y, c)\n}\n"
    )
    right = toy.evaluate
    monkeypatch.setattr(toy, "evaluate", lambda module, *a: [r + np.float32([0.01, 0]) for r in right(module, *a)])
    result = xla("run", path, "--backend", "toy", "--check")
    assert result.code == code, result.out + result.err
    assert ("tolerance: f32 equal, as no op rounds differently" in result.out) == bool(code)


def test_trace(xla: Callable[..., Any], program: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    assert xla("run", program, "-b", "toy", "--trace", trace).code == 0
    names = {event["name"] for event in json.loads(trace.read_text())["traceEvents"]}
    assert {"parse", "compile softplus", "execute softplus"} <= names


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere.mlir"], "cannot read the program nowhere.mlir"),
        (["PROGRAM", "--input", "nowhere.npy"], "NOT_FOUND: cannot read the array in nowhere.npy"),
        (["PROGRAM", "--input", "PROGRAM"], "softplus.hlo is not a .npy or .npz file"),
        (["PROGRAM", "--input", "WRONG"], "wrong.npz: argument 0 must be f32[2,3], not f64[2]"),
        (["PROGRAM", "--input", "WORDS"], "words.npy"),
        (["EMPTY"], "empty.mlir: INVALID_ARGUMENT: the program is empty"),
        (["LATIN"], "latin.mlir: INVALID_ARGUMENT: these bytes are neither MLIR bytecode, nor a serialized"),
        (["SERIALIZED"], "serialized.mlir: INVALID_ARGUMENT: these bytes are a serialized executable, not a program"),
        (["SERIALIZED"], "hint: Client.deserialize loads it"),
        (["TWO"], "two.mlir:1:1: INVALID_ARGUMENT: the module has no function @main and 2 public functions"),
        (["PROGRAM", "--backend", "nothing"], "there is no backend named 'nothing'"),
        (["PROGRAM", "--set", "optimization_level=9"], "optimization_level"),
        (["PROGRAM", "--set", "speed"], "has no value"),
        (["PROGRAM", "--set", "speeed=3"], "did you mean speed?"),
        (["PROGRAM", "--set", "zzz=3"], "the fields are: speed"),
        (["PROGRAM", "--set", "zzz=3"], "those of CompileOptions: num_replicas"),
    ],
)
def test_errors_have_no_traceback(
    xla: Callable[..., Any], program: Path, tmp_path: Path, words: list[str], said: str
) -> None:
    np.savez(tmp_path / "wrong.npz", a=np.zeros(2), b=np.zeros(2))
    np.save(tmp_path / "words.npy", np.array(["a", "b"]))
    (tmp_path / "empty.mlir").write_text(" \n")
    (tmp_path / "serialized.mlir").write_bytes(b"XLACORE\x01" + bytes(40))
    (tmp_path / "latin.mlir").write_bytes(b"// caf\xe9\n")
    function = "func.func @NAME(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }\n"
    (tmp_path / "two.mlir").write_text(function.replace("NAME", "f") + function.replace("NAME", "g"))
    paths = {"PROGRAM": str(program), "WRONG": str(tmp_path / "wrong.npz"), "WORDS": str(tmp_path / "words.npy")}
    paths |= {name.upper(): str(tmp_path / f"{name}.mlir") for name in ("empty", "latin", "two", "serialized")}
    words = [paths.get(w, w) for w in words]
    result = xla("run", *words, *([] if "--backend" in words else ["--backend", "toy"]))
    assert result.code == 2
    assert said in result.err
    assert "Traceback" not in result.err


def test_errors_show_the_line_that_they_name(xla: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text(
        "func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {\n"
        '  %z = "stablehlo.add"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>\n'
        "  return %z : tensor<2xf32>\n}\n"
    )
    result = xla("run", path, "--backend", "toy")
    assert result.code == 2
    lines = result.err.splitlines()
    assert lines[0].startswith(f"{path}:2:")
    assert lines[1].strip().startswith('%z = "stablehlo.add"(%x, %y)')
    assert lines[2].strip() == "^"


def test_syntax_errors_name_file_line_and_column(xla: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "bad.hlo"
    path.write_text("HloModule m\nENTRY main {\n  ROOT x = f32[2] frobnicate()\n}\n")
    result = xla("run", path, "--backend", "toy")
    assert result.code == 2
    assert f"{path}:3:" in result.err
    assert "frobnicate" in result.err
    assert "Traceback" in xla("run", path, "--debug", "--backend", "toy").err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "PROGRAM", "--trace", "/nowhere/t.json"], "there is no directory /nowhere"),
        (["run", "PROGRAM", "--output", "PROGRAM"], "softplus.hlo is a file"),
        (["run", "PROGRAM", "--output", "/proc/foo"], "cannot make the directory /proc/foo"),
        (["run", "PROGRAM", "--dump", "PROGRAM"], "softplus.hlo is a file"),
        (["compile", "PROGRAM", "--emit", "hlo", "-o", "/nowhere/x"], "there is no directory /nowhere"),
    ],
)
def test_what_cannot_be_written(
    xla: Callable[..., Any], toy_backend: str, program: Path, words: list[str], said: str
) -> None:
    result = xla(*[str(program) if w == "PROGRAM" else w for w in words], "--backend", toy_backend)
    assert result.code == 2
    assert said in result.err
    assert "Traceback" not in result.err
    assert "compiled in" not in result.out


@pytest.mark.parametrize("error", [OSError("ioctl failed"), TypeError("no such stream")])
def test_a_driver_that_raises(
    xla: Callable[..., Any],
    toy: Any,
    toy_backend: str,
    program: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    def fail(self: Any) -> int:
        raise error

    monkeypatch.setattr(toy.ToyPlatform, "visible_device_count", fail)
    result = xla("run", program, "--backend", toy_backend)
    assert result.code == 2
    said = f"UNAVAILABLE: backend '{toy_backend}' cannot open its devices: {type(error).__name__}: {error}"
    assert said in result.err
    assert "Traceback" not in result.err
    assert "Traceback" in xla("run", program, "--backend", toy_backend, "--debug").err


REPLICAS = """\
HloModule gather, replica_count=2

ENTRY main {
  x = f32[2] parameter(0)
  id = u32[] replica-id()
  number = f32[] convert(id)
  numbers = f32[2] broadcast(number), dimensions={}
  own = f32[2] add(x, numbers)
  ROOT all = f32[4] all-gather(own), replica_groups={}, dimensions={0}
}
"""


@pytest.mark.parametrize("root", ["all", "own"])
def test_a_program_of_several_devices_runs_on_them(
    xla: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, root: str
) -> None:
    pytest.importorskip("xla_backend_cpu")
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=2")
    text = REPLICAS if root == "all" else REPLICAS.replace("ROOT all", "all").replace("own =", "ROOT own =")
    (tmp_path / "gather.hlo").write_text(text)
    np.save(tmp_path / "x.npy", np.float32([1, 2]))
    out = tmp_path / "out"
    for repeat in (1, 3):
        words = ["-i", tmp_path / "x.npy", "--check", "-o", out, "--repeat", repeat]
        result = xla("run", tmp_path / "gather.hlo", "-b", "cpu", *words)
        assert result.code == 0, result.err
        assert "agrees with the reference evaluator" in result.out
        assert ("the same on all 2 devices" in result.out) == (root == "all")
        for device in range(2):
            own = np.float32([1, 2]) + device
            expected = np.float32([1, 2, 2, 3]) if root == "all" else own
            np.testing.assert_array_equal(np.load(out / f"device_{device}" / "result_0.npy"), expected)


def test_too_few_devices_are_an_error_that_says_how_to_have_more(
    xla: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("xla_backend_cpu")
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    (tmp_path / "gather.hlo").write_text(REPLICAS)
    result = xla("run", tmp_path / "gather.hlo", "-b", "cpu")
    assert result.code == 2
    assert "the program needs 2 x 1 devices, cpu has 1" in result.err
    assert "XLA_FLAGS=--xla_force_host_platform_device_count=2" in result.err


EIGH = """HloModule m

ENTRY e {
  x = f32[6,6] parameter(0)
  y = f32[6,6] transpose(x), dimensions={1,0}
  a = f32[6,6] add(x, y)
  call = (f32[6,6], f32[6], s32[]) custom-call(a), custom_call_target="lapack_ssyevd_ffi", api_version=API_VERSION_TYPED_FFI, backend_config={mode = 86 : ui8, uplo = 76 : ui8}
  v = f32[6,6] get-tuple-element(call), index=0
  w = f32[6] get-tuple-element(call), index=1
  ROOT t = (f32[6], f32[6,6], f32[6,6]) tuple(w, v, a)
}
"""


def test_signs_of_eigenvectors_are_free(
    xla: Callable[..., Any], toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_hlo_passes(self: Any, module: HloModule, options: Any, executor: Any = None) -> HloModule:
        create_pass("lapack-expander").run(module)
        return module

    monkeypatch.setattr(toy.ToyCompiler, "run_hlo_passes", run_hlo_passes)
    path = tmp_path / "eigh.hlo"
    path.write_text(EIGH)
    result = xla("run", path, "--backend", "toy", "--check")  # whose loops give other signs than LAPACK
    assert result.code == 0, result.out
    (line,) = [line for line in result.out.splitlines() if "signs" in line]
    assert line.split() == ["1", "right,", "up", "to", "the", "signs", "of", "vectors"]
    assert "agrees with the reference evaluator" in result.out


def test_ulp_are_told_of_floats_alone(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = [np.arange(2).astype(kind) for kind in (np.int32, np.bool_, np.float32, np.complex64)]
    assert check_results(Console(), wanted, wanted)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:5]]
    assert rows == [["0", "0", "right"], ["1", "0", "right"], ["2", "0", "0", "right"], ["3", "0", "0", "right"]]


@pytest.mark.parametrize("kind", [np.float32, np.complex64])
def test_only_signs_of_whole_vectors_are_free(kind: type, capsys: pytest.CaptureFixture[str]) -> None:
    def is_right(actual: np.ndarray, vectors: tuple[int, ...]) -> bool:
        return check_results(Console(), [actual], [expected], vectors=vectors)

    expected = (np.arange(9).reshape(3, 3) - 4).astype(kind)
    signs = np.array([1, -1, 1] if kind is np.float32 else [1j, -1, (3 + 4j) / 5], kind)
    assert is_right(expected * signs, (0,))
    assert is_right(expected * signs[:, None], (0,))
    assert not is_right(expected * signs, ())
    assert not is_right(expected * 2, (0,))
    assert not is_right(np.where(np.eye(3) > 0, -expected, expected), (0,))
    assert not is_right(expected[:, ::-1], (0,))
    assert "6 of 9 wrong" in capsys.readouterr().out
