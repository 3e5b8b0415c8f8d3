"""Tests of `xla bisect`: it names the pass or the instruction that a faulty backend gets wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from xla_conformance.bisect.device_process import DeviceProcess
from xla_conformance.bisect.passes import changed_lines

import xla_core as xla
from xla_core.cli import main
from xla_core.errors import InternalError

compiler = pytest.importorskip("xla_backend_template.compiler")

Put = Callable[[str, str], str]

PROGRAM = """
func.func @main(%a: tensor<5x7xf32>, %b: tensor<7x3xf32>) -> tensor<3x5xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %limit = stablehlo.constant dense<4> : tensor<i32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<5x7xf32>, tensor<7x3xf32>) -> tensor<5x3xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<5x3xf32>) -> tensor<3x5xf32>
  %r:2 = stablehlo.while(%i = %zero, %x = %1) : tensor<i32>, tensor<3x5xf32>
    cond {
      %p = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %t = stablehlo.tanh %x : tensor<3x5xf32>
      %s = stablehlo.subtract %x, %t : tensor<3x5xf32>
      %u = stablehlo.add %s, %s : tensor<3x5xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %u : tensor<i32>, tensor<3x5xf32>
    }
  return %r#1 : tensor<3x5xf32>
}
"""
WRONG_TANH = """
from xla_core.hlo import Opcode

class Kernel(HloKernel):
    def __init__(self, instruction, *rest):
        if instruction.opcode == Opcode.TANH and instruction.shape.rank == 2:
            instruction = instruction.parent.add(Opcode.SINE, instruction.operand(0))
        super().__init__(instruction, *rest)

put(kernel=Kernel)
"""
FAILING_TANH = """
from xla_core.hlo import Opcode
from xla_core.errors import InternalError

class Kernel(HloKernel):
    def _run(self, stream, arguments):
        if self.computation.root.opcode == Opcode.TANH:
            raise InternalError("the tanh unit is stuck")
        super()._run(stream, arguments)

put(kernel=Kernel)
"""
REFUSED_TANH = """
from xla_core.hlo import Opcode
from xla_core.errors import InternalError

class Kernel(HloKernel):
    def __init__(self, instruction, *rest):
        if instruction.opcode == Opcode.TANH:
            raise InternalError("no [code] for it [/x]")
        super().__init__(instruction, *rest)

put(kernel=Kernel)
"""
OVERWRITING_TRANSPOSE = """
from xla_core.hlo import Opcode

class Kernel(HloKernel):
    def _run(self, stream, arguments):
        super()._run(stream, arguments)
        if self.computation.root.opcode == Opcode.TRANSPOSE:
            stream.fill(arguments[0], 0)

put(kernel=Kernel)
"""
ROUNDING_TOWARD_ZERO = """
from xla_core.target import to_device_layout
from xla_core.hlo import Opcode

class Kernel(HloKernel):
    def _run(self, stream, arguments):
        super()._run(stream, arguments)
        if self.computation.root.opcode == Opcode.MULTIPLY:
            (shape,) = self.result_shapes
            lower = np.nextafter(self._load(stream, arguments[-1], shape), np.float32(0))
            stream.write(arguments[-1], to_device_layout(lower, shape))

put(kernel=Kernel)
"""
MAXIMUM_WITHOUT_SIGN = """
from xla_core.target import to_device_layout
from xla_core.hlo import Opcode

class Kernel(HloKernel):
    def _run(self, stream, arguments):
        super()._run(stream, arguments)
        if self.computation.root.opcode == Opcode.MAXIMUM:
            x, y = (self._load(stream, m, s).view("u4") for m, s in zip(arguments, self.operand_shapes))
            stream.write(arguments[-1], to_device_layout(np.maximum(x, y).view("i4"), self.result_shapes[0]))

put(kernel=Kernel)
"""
TWICE = """
func.func @main(%a: tensor<3x4xf32>) -> (tensor<4x3xf32>, tensor<3x4xf32>) {
  %0 = stablehlo.cosine %a : tensor<3x4xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %2 = stablehlo.sine %0 : tensor<3x4xf32>
  return %1, %2 : tensor<4x3xf32>, tensor<3x4xf32>
}
"""
WRONG_PASS = """
from xla_core.hlo import Opcode
from xla_core.passes import HloPass

class Halve(HloPass):
    name = "acme-strength-reduction"

    def run(self, module):
        changed = False
        for computation in module.computations:
            for i in list(computation.instructions):
                if i.opcode == Opcode.SUBTRACT:
                    computation.replace_with(i, computation.add(Opcode.ADD, *i.operands))
                    changed = True
        return changed

class Compiler(TemplateCompiler):
    def hlo_stages(self, options):
        return {"target": Halve()}

put(compiler=Compiler)
"""
WRONG_FUSION = """
from xla_core.hlo import Opcode
from xla_core.target import FusionPreferences

class Compiler(TemplateCompiler):
    @property
    def target_config(self):
        return super().target_config.model_copy(update={"fusion": FusionPreferences()})

class Kernel(HloKernel):
    def __init__(self, instruction, *rest):
        super().__init__(instruction, *rest)
        self.spoils = any(i.opcode == Opcode.TANH for c in instruction.called_computations for i in c.instructions)

    def _run(self, stream, arguments):
        super()._run(stream, arguments)
        if self.spoils:
            stream.fill(arguments[-1], 7)

put(kernel=Kernel, compiler=Compiler)
"""


OWN_COMPOSITE = """
from xla_core.hlo import Opcode

class Compiler(TemplateCompiler):
    @property
    def target_config(self):
        config = super().target_config
        own = config.capabilities.model_copy(update={"composites": frozenset({"acme.minus"})})
        return config.model_copy(update={"capabilities": own})

class Kernel(HloKernel):
    def __init__(self, instruction, *rest):
        if instruction.opcode == Opcode.CUSTOM_CALL:
            instruction = instruction.parent.add(Opcode.OPCODE, instruction.operand(0))
        super().__init__(instruction, *rest)

put(kernel=Kernel, compiler=Compiler)
"""
COMPOSITES = """
func.func private @minus(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @minus_two(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.negate %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @main(%x: tensor<4xf32>, %y: tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
  %0 = stablehlo.composite "acme.minus" %x {decomposition = @minus} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.composite "acme.minus" %y {decomposition = @minus_two} : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<4xf32>, tensor<2xf32>
}
"""


ADDS_CALLS = """
from xla_core.hlo import Opcode
from xla_core.passes import HloPass

class Calls(HloPass):
    name = "acme-calls"

    def run(self, module):
        found = [i for c in module.computations for i in c.instructions if i.opcode == Opcode.TANH]
        for i in found:
            call = i.parent.add(Opcode.CUSTOM_CALL, i.operand(0), shape=i.shape, custom_call_target="acme.tanh")
            i.parent.replace_with(i, call)
        return bool(found)

class Compiler(TemplateCompiler):
    @property
    def target_config(self):
        config = super().target_config
        own = config.capabilities.model_copy(update={"custom_calls": frozenset({"acme.tanh"})})
        return config.model_copy(update={"capabilities": own})

    def hlo_stages(self, options):
        return {"target": Calls()}

class Kernel(HloKernel):
    def __init__(self, instruction, *rest):
        if instruction.opcode == Opcode.CUSTOM_CALL:
            instruction = instruction.parent.add(Opcode.KERNEL, instruction.operand(0))
        super().__init__(instruction, *rest)

put(kernel=Kernel, compiler=Compiler)
"""


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives the template its own kernel back after each test, because faulty backends replace it."""
    monkeypatch.setattr(compiler, "HloKernel", compiler.HloKernel)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    return path


def bisect(backend: str, program: Path, *more: object) -> int:
    return main(["bisect", str(program), "--backend", backend, *map(str, more)])


@pytest.mark.parametrize("backend", ["template", "cpu"])
def test_right_backends_agree(backend: str, program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bisect(backend, program) == 0
    printed = capsys.readouterr().out
    assert "No pass changes the answer" in printed
    assert "agrees with the reference evaluator" in printed


def test_agreement_names_the_seed_of_random_arguments(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bisect("template", program, "--seed", 3) == 0
    assert "The arguments are random, of --seed 3. A fault may need other values" in capsys.readouterr().out
    shapes = xla.parse(PROGRAM).parameter_shapes
    np.savez(tmp_path / "arguments.npz", *(np.ones(s.dimensions, s.dtype) for s in shapes))
    assert bisect("template", program, "--input", tmp_path / "arguments.npz") == 0
    assert "are random" not in capsys.readouterr().out


def test_common_options_can_be_set(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bisect("template", program, "--set", "optimization_level=0") == 0, capsys.readouterr().out


def test_parts_of_a_tuple_keep_their_layouts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bits.hlo"
    path.write_text(
        "HloModule m\n\nENTRY e {\n  s = u64[3] parameter(0)\n"
        "  ROOT r = (u64[3], u2[5]) rng-bit-generator(s), algorithm=rng_default\n}\n"
    )
    assert bisect("template", path) == 0, capsys.readouterr().out


def test_a_wrong_instruction_is_found_within_a_loop(
    put_backend: Put, program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    assert bisect(put_backend("wrong", WRONG_TANH), program, "--output", folder) == 1
    printed = capsys.readouterr().out
    assert "No pass changes the answer" in printed
    assert "iteration 0" in printed
    assert "tanh" in printed
    reduced = xla.parse((folder / "program.hlo").read_text())
    with np.load(folder / "arguments.npz") as stored:
        arguments = list(stored.values())
    (expected,) = xla.evaluate(reduced, *arguments)
    assert (expected == np.load(folder / "expected_0.npy")).all()
    assert np.allclose(np.load(folder / "result_0.npy"), np.sin(arguments[0]))


def test_a_fault_of_negative_integers_is_found(
    put_backend: Put, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "largest.hlo"
    path.write_text(
        "HloModule m\n\nENTRY e {\n  x = s32[40] parameter(0)\n  y = s32[40] parameter(1)\n"
        "  ROOT r = s32[40] maximum(x, y)\n}\n"
    )
    assert bisect(put_backend("unsigned", MAXIMUM_WITHOUT_SIGN), path) == 1
    assert "The device computes" in capsys.readouterr().out


def test_an_error_of_the_device_names_its_instruction(
    put_backend: Put, program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bisect(put_backend("failing", FAILING_TANH), program) == 1
    printed = capsys.readouterr().out
    assert "the tanh unit is stuck" in printed
    assert "tanh(" in printed
    assert "The smallest program found that fails has" in printed


def test_an_exception_of_the_compiler_names_the_backend(
    put_backend: Put, program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backend = put_backend(
        "refusing", REFUSED_TANH.replace('InternalError("no [code] for it [/x]")', 'KeyError("tanh")')
    )
    assert bisect(backend, program) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "tanh wrongly: INTERNAL: the backend 'refusing' failed with KeyError: 'tanh'" in printed


@pytest.mark.parametrize("opcode", ["NEGATE", "ABS"])
def test_a_composite_of_the_device_means_its_decomposition(
    put_backend: Put, tmp_path: Path, capsys: pytest.CaptureFixture[str], opcode: str
) -> None:
    path = tmp_path / "composites.mlir"
    path.write_text(COMPOSITES)
    backend = put_backend(f"composites_{opcode.lower()}", OWN_COMPOSITE.replace("OPCODE", opcode))
    assert bisect(backend, path) == (opcode != "NEGATE")
    printed = capsys.readouterr().out
    assert "No pass changes the answer" in printed
    assert ("custom-call(" in printed) == (opcode != "NEGATE")


@pytest.mark.parametrize("right", [True, False])
def test_a_pass_that_adds_an_unknown_call_is_named(
    put_backend: Put, tmp_path: Path, capsys: pytest.CaptureFixture[str], right: bool
) -> None:
    path, folder = tmp_path / "long.mlir", tmp_path / "out"
    path.write_text(LONG)
    backend = put_backend(f"calls_{right}", ADDS_CALLS.replace("KERNEL", "TANH" if right else "SINE"))
    assert bisect(backend, path, "--output", folder) == (not right)
    printed = capsys.readouterr().out
    assert "No pass before optimization/acme-calls changes the answer" in printed
    assert "adds a custom call to 'acme.tanh'" in printed
    assert ("a later one or the device is wrong" in printed) == (not right)
    if not right:
        assert "tanh(" in (folder / "program.hlo").read_text()
        assert "custom-call(" in (folder / "after.hlo").read_text()


def test_an_instruction_that_does_not_compile_is_named(
    put_backend: Put, program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bisect(put_backend("refusing", REFUSED_TANH), program) == 1
    printed = capsys.readouterr().out
    assert "no [code] for it [/x]" in printed
    assert "tanh(" in printed


CRASHING_TANH = """
class Compiler(TemplateCompiler):
    def run_backend(self, module, options, executor=None):
        if any(i.opcode == "tanh" for c in module.computations for i in c.instructions):
            os.write(2, b"acme: no tanh unit\\n")
            os.abort()
        return super().run_backend(module, options, executor)

put(compiler=Compiler)
"""
CRASHING_PASS = """
from xla_core.passes import HloPass

class Crash(HloPass):
    name = "acme-crash"

    def run(self, module):
        if any(i.opcode == "tanh" for c in module.computations for i in c.instructions):
            os.abort()
        return False

class Compiler(TemplateCompiler):
    def hlo_stages(self, options):
        return {"target": Crash()}

put(compiler=Compiler)
"""
CRASHING_RUN = CRASHING_TANH.replace("class Compiler", "class Unused").replace(
    "put(compiler=Compiler)",
    """
class Kernel(HloKernel):
    def _run(self, stream, arguments):
        if self.computation.root.opcode == "tanh":
            os.kill(os.getpid(), 11)
        super()._run(stream, arguments)

put(kernel=Kernel)
""",
)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (CRASHING_TANH, "run_backend ended the process by SIGABRT, and printed: acme: no tanh unit %tanh ="),
        (CRASHING_RUN, "the run ended the process by SIGSEGV"),
        (CRASHING_PASS, "The pass optimization/acme-crash fails: INTERNAL: the pass optimization/acme-crash ended"),
    ],
    ids=["run_backend", "run", "pass"],
)
def test_a_crash_is_of_the_pass_or_the_instruction(
    put_backend: Put, tmp_path: Path, capsys: pytest.CaptureFixture[str], fault: str, said: str
) -> None:
    path, folder = tmp_path / "long.mlir", tmp_path / "out"
    path.write_text(LONG)
    assert bisect(put_backend("crashing", fault), path, "--output", folder) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert said in printed
    for reduced in (folder / "program.hlo", folder / "reduced" / "program.hlo"):
        assert "tanh(" in reduced.read_text()
    assert (folder / "reduced" / "program.hlo").read_text().count("f32[4,6]{1,0} ") <= 3


LONG = """
func.func @main(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>) -> (tensor<6x4xf32>, tensor<4x6xf32>) {
  %0 = stablehlo.cosine %a : tensor<4x6xf32>
  %1 = stablehlo.add %0, %b : tensor<4x6xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<4x6xf32>
  %3 = stablehlo.tanh %2 : tensor<4x6xf32>
  %4 = stablehlo.subtract %3, %a : tensor<4x6xf32>
  %5 = stablehlo.sine %4 : tensor<4x6xf32>
  %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %6, %1 : tensor<6x4xf32>, tensor<4x6xf32>
}
"""


def test_an_exact_instruction_is_compared_exactly(
    put_backend: Put, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, folder = tmp_path / "long.mlir", tmp_path / "out"
    path.write_text(LONG)
    backend = put_backend("rounding", ROUNDING_TOWARD_ZERO)
    assert bisect(backend, path, "--output", folder) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "wrongly: the rule of multiply is exact. 24 of 24 elements are wrong" in printed
    assert "Tolerance of whole programs: f32 within 4 ULP" in printed
    assert "multiply(" in (folder / "program.hlo").read_text()


@pytest.mark.parametrize("fault", ["WRONG_TANH", "WRONG_PASS"])
def test_a_whole_program_is_reduced(put_backend: Put, tmp_path: Path, fault: str) -> None:
    path, folder = tmp_path / "long.mlir", tmp_path / "out"
    path.write_text(LONG)
    assert bisect(put_backend(fault.lower(), globals()[fault]), path, "--output", folder) == 1
    reduced = xla.parse((folder / "reduced" / "program.hlo").read_text())
    opcodes = [i.opcode.value for i in reduced.entry.instructions if i.opcode.value not in ("parameter", "tuple")]
    assert opcodes == [{"WRONG_TANH": "tanh", "WRONG_PASS": "subtract"}[fault]]
    with np.load(folder / "reduced" / "arguments.npz") as stored:
        (expected,) = xla.evaluate(reduced, *stored.values())
    assert (expected == np.load(folder / "reduced" / "expected_0.npy")).all()
    assert not np.allclose(expected, np.load(folder / "reduced" / "result_0.npy"))


def test_a_program_with_a_right_result_beside_the_wrong_one_is_reduced(put_backend: Put, tmp_path: Path) -> None:
    path, folder = tmp_path / "both.mlir", tmp_path / "out"
    path.write_text(
        PROGRAM.replace("-> tensor<3x5xf32> {", "-> (tensor<i32>, tensor<3x5xf32>) {", 1).replace(
            "return %r#1 : tensor", "return %r#0, %r#1 : tensor<i32>, tensor"
        )
    )
    assert bisect(put_backend("wrong", WRONG_TANH), path, "--output", folder) == 1
    assert "tanh" in (folder / "reduced" / "program.hlo").read_text()


def test_a_fault_between_instructions_is_reduced_too(put_backend: Put, tmp_path: Path) -> None:
    path, folder = tmp_path / "twice.mlir", tmp_path / "out"
    path.write_text(TWICE)
    assert bisect(put_backend("overwriting", OVERWRITING_TRANSPOSE), path, "--output", folder) == 1
    reduced = xla.parse((folder / "reduced" / "program.hlo").read_text())
    assert {i.opcode.value for i in reduced.entry.instructions} >= {"transpose"}


def test_few_lines_of_what_a_pass_changed_are_shown() -> None:
    assert changed_lines("a\nb\nc", "a\nB\n\nc") == ["-b", "+B"]
    long = changed_lines("", "\n".join(map(str, range(100))))
    assert (len(long), long[-1]) == (31, "... and 70 more")


def test_a_wrong_pass_is_named(
    put_backend: Put, program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    assert bisect(put_backend("rewriting", WRONG_PASS), program, "--output", folder) == 1
    printed = capsys.readouterr().out
    assert "The pass optimization/acme-strength-reduction changes the answer" in printed
    changes = printed.partition("What it changed:\n")[2].partition("The program before this pass:")[0].splitlines()
    assert [line for line in changes if line.startswith("  -") and " subtract(" in line]
    assert not [line for line in changes if line.startswith("  +") and " subtract(" in line]
    assert "subtract" in (folder / "program.hlo").read_text()
    assert "subtract" not in (folder / "after.hlo").read_text()


def test_a_wrong_fusion_is_reduced(put_backend: Put, program: Path, tmp_path: Path) -> None:
    assert bisect(put_backend("fusing", WRONG_FUSION), program, "--output", tmp_path / "out") == 1
    reduced = (tmp_path / "out" / "program.hlo").read_text()
    assert "tanh" in reduced
    assert "subtract(" not in reduced


def test_a_fault_between_instructions_ends_at_the_first_wrong_one(
    put_backend: Put, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "twice.mlir"
    path.write_text(TWICE)
    backend = put_backend("overwriting", OVERWRITING_TRANSPOSE)
    assert bisect(backend, path) == 1
    printed = capsys.readouterr().out
    assert "each instruction rightly alone, but sine wrongly after others" in " ".join(printed.split())


def test_what_cannot_be_repeated_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "infeed.hlo"
    path.write_text(
        "HloModule m\n\nENTRY e {\n  t = token[] after-all()\n  i = ((f32[4]), token[]) infeed(t)\n"
        "  d = (f32[4]) get-tuple-element(i), index=0\n  ROOT r = f32[4] get-tuple-element(d), index=0\n}\n"
    )
    assert bisect("template", path) == 2
    assert "can't repeat infeed" in " ".join(capsys.readouterr().err.split())


HANGING_TANH = """
import time

class Kernel(HloKernel):
    def launch(self, *rest):
        if "tanh" in self.name:
            time.sleep(1000)
        super().launch(*rest)

put(kernel=Kernel)
"""


def test_after_a_hang_a_step_hangs_that_takes_much_longer_than_those_before(put_backend: Put) -> None:
    hanging, right = (
        xla.parse(f"HloModule m\n\nENTRY e {{\n  x = f32[4] parameter(0)\n  ROOT {op} = f32[4] {op}(x)\n}}\n")
        for op in ("tanh", "sine")
    )
    x = np.zeros(4, np.float32)
    with DeviceProcess(put_backend("hanging", HANGING_TANH), seconds=5) as device:

        def find() -> str | None:
            try:
                device.run(hanging, [x])
            except InternalError as error:
                return error.message
            return None

        np.testing.assert_array_equal(device.run(right, [x])[0], x)
        assert device.confirmed(find, lambda message: None) == "the run did not end in 5 s"
        assert device.hurries
        device._slowest = 0.1
        assert find() == "the run did not end in 2 s"
        device._slowest = 0.3
        assert find() == "the run did not end in 3 s"
        np.testing.assert_array_equal(device.run(right, [x])[0], x)
        assert (
            device.confirmed(lambda: "slow", lambda found: f"{found}, {find()}") == "slow, the run did not end in 5 s"
        )
        device._seconds = 3.5
        with device.patiently():  # also after a hang within it
            assert [find(), find()] == ["the run did not end in 3.5 s"] * 2


LATER = """
compiled = []

class Compiler(TemplateCompiler):
    def run_backend(self, module, *rest):
        compiled.append(module.name)
        if len(compiled) % 2 == 0:
            raise RuntimeError("the second program finds the first one's tables")
        return super().run_backend(module, *rest)

put(compiler=Compiler)
"""


@pytest.mark.parametrize(("fault", "depends"), [(LATER, True), (WRONG_TANH, False)], ids=["on others", "on itself"])
def test_a_fault_that_depends_on_programs_before_is_said_to(
    fault: str, depends: bool, put_backend: Put, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wave.mlir"
    path.write_text(
        "func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {\n"
        "  %0 = stablehlo.tanh %x : tensor<4x4xf32>\n  %1 = stablehlo.add %0, %x : tensor<4x4xf32>\n"
        "  return %1 : tensor<4x4xf32>\n}\n"
    )
    assert bisect(put_backend("later", fault), path) == 1
    printed = capsys.readouterr().out
    assert "The device computes tanh wrongly" in printed
    assert ("As the first program of a process it is right" in printed) == depends


@pytest.mark.slow  # several processes wait for 10 seconds each
def test_a_kernel_that_hangs_is_found_within_the_seconds_that_are_given(
    put_backend: Put, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wave.mlir"
    path.write_text(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = stablehlo.tanh %x : tensor<4xf32>\n  %1 = stablehlo.add %0, %x : tensor<4xf32>\n"
        "  return %1 : tensor<4xf32>\n}\n"
    )
    assert bisect(put_backend("hanging", HANGING_TANH), path, "--seconds", 10) == 1
    printed = capsys.readouterr().out
    assert "did not end in 10 s" in printed
    assert "tanh" in printed
