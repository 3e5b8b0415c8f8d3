"""A wrong argument of a public function is an XlaError that says what is expected."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_core as xla
from xla_core import hlo, stablehlo
from xla_core.backend import load_backend
from xla_core.errors import InvalidArgumentError, NotFoundError
from xla_core.passes import create_pass, register_pass, run_hlo_passes
from xla_core.target import Capabilities, TargetConfig

HLO = "HloModule m\n\nENTRY main {\n  x = f32[3] parameter(0)\n  ROOT y = f32[3] sqrt(x)\n}\n"
OPEN = "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n  return %x : tensor<?xf32>\n}"
TEXT = OPEN.replace("?", "3")
X = np.ones(3, np.float32)
ANY = TargetConfig(name="any", capabilities=Capabilities.all_of())


@pytest.fixture(scope="module")
def client() -> Iterator[xla.Client]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=2")
        with xla.Client("cpu") as made:
            yield made


NOT_A_DEVICE: list[Any] = [9, -1, 2.5, "cpu:9", "cpu", b"x", True, [0], object(), X]
NO_LIMIT: list[Any] = [-1, -0.5, math.nan, "x", b"x", [1], X, object()]
NO_TEXT: list[Any] = [None, 5, -1, [], ["x"], object()]


@pytest.mark.parametrize("device", NOT_A_DEVICE)
def test_what_is_no_device(client: xla.Client, device: Any) -> None:
    buffer = client.buffer_from_host(X)
    for call in (
        lambda: client.buffer_from_host(X, device),
        lambda: client.transfer_to_infeed(X, device),
        lambda: client.transfer_from_outfeed(device),
        lambda: buffer.copy_to_device(device),
    ):
        with pytest.raises(
            InvalidArgumentError, match="device must be a Device, its number or its name, not "
        ) as caught:
            call()
        assert caught.value.hint == "this client has cpu:0, cpu:1"


def test_devices_by_number_and_name(client: xla.Client) -> None:
    first, second = client.devices
    for device in (second, 1, "cpu:1"):
        assert client.buffer_from_host(X, device).device is second
        assert client.buffer_from_host(X).copy_to_device(device).device is second
        client.transfer_to_infeed(X, device)
        assert len(client.platform.transfer_manager.infeed(1)) == 1
        client.platform.transfer_manager.infeed(1).get()
    assert client.buffer_from_host(X).device is first


def test_a_device_of_another_client(client: xla.Client) -> None:
    with xla.Client("cpu") as other:
        for call in (client.buffer_from_host, client.transfer_to_infeed):
            with pytest.raises(InvalidArgumentError, match="<Device cpu:0> is not a device of this client"):
                call(X, other.devices[0])


@pytest.mark.parametrize("limit", NO_LIMIT)
def test_what_is_no_limit(client: xla.Client, limit: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="timeout must be a number of seconds, not below 0, or None, not "):
        client.transfer_from_outfeed(timeout=limit)
    with pytest.raises(
        InvalidArgumentError, match="memory_limit must be a number of bytes, not below 0, or None, not "
    ):
        client.devices[0].memory_limit = limit
    module = xla.parse(HLO)
    for name in ("timeout", "max_steps", "max_bytes"):
        limits: dict[str, Any] = {name: limit}
        with pytest.raises(InvalidArgumentError, match=f"{name} must be a number of "):
            xla.evaluate(module, X, **limits)
        if name != "max_bytes":
            with pytest.raises(InvalidArgumentError, match=f"{name} must be a number of "):
                hlo.evaluate_replicas(module, [[X]], **limits)


def test_no_limit_at_all() -> None:
    assert hlo.evaluate_replicas(xla.parse(HLO), [[X]], timeout=None)[0][0].tolist() == [1, 1, 1]


def _computation() -> hlo.HloComputation:
    return xla.parse(HLO).entry


def _buffer() -> xla.Buffer:
    return xla.Client("cpu").buffer_from_host(X)


MODULE = "module must be an HloModule, not "
STABLEHLO = "module must be a StableHLO module, not "
CALLS: dict[str, tuple[Callable[[Any], object], list[Any], str]] = {
    "Client": (xla.Client, [5, [], X], "platform must be a backend's name or None, not "),
    "parse": (xla.parse, NO_TEXT, "is not a program"),
    "parse file": (lambda v: xla.parse(TEXT + "(", file=v), [5, None, b"x", [3]], "file must be the program's name"),
    "parse_hlo": (hlo.parse_hlo, [*NO_TEXT, b"x"], "text must be HLO text, not "),
    "hlo.verify": (hlo.verify, [*NO_TEXT, HLO], MODULE),
    "hlo.to_dot": (hlo.to_dot, [*NO_TEXT, HLO], MODULE),
    "hlo.lookup": (hlo.lookup, NO_TEXT, "opcode must be text, not "),
    "evaluate_replicas": (lambda v: hlo.evaluate_replicas(v, [[X]]), [*NO_TEXT, HLO], MODULE),
    "evaluate_replicas arguments": (
        lambda v: hlo.evaluate_replicas(xla.parse(HLO), v),
        [None, 5, [None], [5]],
        "arguments must be a list of arrays for each device",
    ),
    "evaluate_replicas partitions": (
        lambda v: hlo.evaluate_replicas(xla.parse(HLO), [[X]], num_partitions=v),
        ["x", -1, 0, 2.5, []],
        "num_partitions must be a number of at least 1, not ",
    ),
    "evaluate_replicas environments": (
        lambda v: hlo.evaluate_replicas(xla.parse(HLO), [[X]], environments=v),
        [5, [5], [], [hlo.Environment(), hlo.Environment()]],
        "environments must be an Environment for each of the 1 devices",
    ),
    "evaluate environment": (
        lambda v: xla.evaluate(HLO, X, environment=v),
        [5, "x", []],
        "environment must be an Environment or None, not ",
    ),
    "parameter number": (
        lambda v: hlo.HloComputation("c").parameter(v, hlo.Shape(hlo.ElementType.F32)),
        [None, -1, 2.5, "x"],
        "number must be a number of at least 0, not ",
    ),
    "parameter shape": (
        lambda v: hlo.HloComputation("c").parameter(0, v),
        [None, 5, "f32[]", (2, 3)],
        "shape must be a Shape, not ",
    ),
    "add operand": (
        lambda v: hlo.HloComputation("c").add("negate", v),
        [None, 5, "x", X],
        "an operand of negate must be an HloInstruction, not ",
    ),
    "add shape": (
        lambda v: _computation().add("negate", _computation().root, shape=v),
        [5, "f32[3]", (3,)],
        "shape must be a Shape or None, not ",
    ),
    "set_root": (
        lambda v: _computation().set_root(v),
        [None, 5, "x", []],
        "root must be an HloInstruction, not ",
    ),
    "HloModule": (hlo.HloModule, NO_TEXT, "a name must be text, not "),
    "HloComputation": (hlo.HloComputation, NO_TEXT, "a name must be text, not "),
    "Literal": (lambda v: hlo.Literal(X, v), [5, "f32[3]"], "shape must be a Shape or None, not "),
    "Literal.splat": (lambda v: hlo.Literal.splat(1, v), [None, 5, "f32[3]"], "shape must be a Shape, not "),
    "stablehlo.read": (stablehlo.read, NO_TEXT, "source must be StableHLO text or bytecode, not "),
    "stablehlo.to_hlo": (stablehlo.to_hlo, NO_TEXT, "source must be StableHLO text or bytecode, not "),
    "parse_text": (stablehlo.parse_text, [*NO_TEXT, b"x"], "source must be StableHLO text, not "),
    "parse_bytecode": (stablehlo.parse_bytecode, [*NO_TEXT, "x"], "data must be MLIR bytecode, not "),
    "split_modules": (stablehlo.split_modules, [*NO_TEXT, b"x"], "source must be StableHLO text, not "),
    "stablehlo.verify": (stablehlo.verify, [*NO_TEXT, TEXT], STABLEHLO),
    "stablehlo.lower": (stablehlo.lower, [*NO_TEXT, TEXT], STABLEHLO),
    "lower entry": (
        lambda v: stablehlo.lower(stablehlo.read(TEXT), v),
        [5, "nobody", [5]],
        "the module has no function @",
    ),
    "refine types": (
        lambda v: stablehlo.refine(stablehlo.read(OPEN), v),
        [5, object()],
        "argument_types must be a list of types or None, not ",
    ),
    "PolymorphicProgram.lower": (
        lambda v: stablehlo.PolymorphicProgram(stablehlo.read(OPEN)).lower(v),
        [None, 5, [5], [None], "x"],
        "shapes must be a list of Shapes, not ",
    ),
    "load_backend": (load_backend, [None, 5, X, ["cpu"]], "name must be a backend's, not "),
    "register_pass": (lambda v: register_pass(v, object), [None, 5, []], "name must be a pass's, not "),  # type: ignore[arg-type]
    "dlpack device": (
        lambda v: _buffer().__dlpack__(dl_device=v),
        [5, "x", (1,), object()],
        "dl_device must be a pair of numbers or None, not ",
    ),
    "dlpack version": (
        lambda v: _buffer().__dlpack__(max_version=v),
        [5, "x", (1,), {}],
        "max_version must be a pair of numbers or None, not ",
    ),
    "stablehlo.refine": (stablehlo.refine, [*NO_TEXT, TEXT], STABLEHLO),
    "refine entry": (
        lambda v: stablehlo.refine(stablehlo.read(TEXT), entry=v),
        [5, "nobody", []],
        "there is no function",
    ),
    "PolymorphicProgram": (stablehlo.PolymorphicProgram, [*NO_TEXT, TEXT], STABLEHLO),
    "write_text": (stablehlo.write_text, [*NO_TEXT, TEXT], STABLEHLO),
    "write_text version": (
        lambda v: stablehlo.write_text(stablehlo.read(TEXT), version=v),
        [5, 1.2, b"1.0.0", []],
        "version of StableHLO",
    ),
    "write_portable_artifact": (stablehlo.write_portable_artifact, [*NO_TEXT, TEXT], STABLEHLO),
    "write_portable_artifact version": (
        lambda v: stablehlo.write_portable_artifact(stablehlo.read(TEXT), v),
        [None, 5, "new"],
        "version of StableHLO",
    ),
    "from_hlo": (stablehlo.from_hlo, [*NO_TEXT, HLO], MODULE),
    "create_pass": (create_pass, NO_TEXT, "name must be a pass's, not "),
    "run_hlo_passes": (lambda v: run_hlo_passes(v, ANY), [*NO_TEXT, HLO], MODULE),
    "run_hlo_passes target": (
        lambda v: run_hlo_passes(xla.parse(HLO), v),
        NO_TEXT,
        "target must be a TargetConfig, not ",
    ),
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, (_, values, _) in CALLS.items() for value in values]
)
def test_what_is_no_argument(name: str, value: Any) -> None:
    call, _, expected = CALLS[name]
    with pytest.raises(InvalidArgumentError, match=expected) as caught:
        call(value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("program", [HLO, OPEN])
@pytest.mark.parametrize("arguments", [None, 5, 2.5, object()])
def test_what_is_no_list_of_arguments(client: xla.Client, program: str, arguments: Any) -> None:
    executable = client.compile(program)
    with pytest.raises(InvalidArgumentError, match="arguments must be a list of Buffers, not "):
        executable.execute(arguments)
    with pytest.raises(InvalidArgumentError, match="arguments must be a list of arguments for each device, not "):
        executable.execute_sharded(arguments)
    with pytest.raises(InvalidArgumentError, match="arguments of device 0 must be a list, not "):
        executable.execute_sharded([arguments])
    assert np.asarray(executable(X)[0]).tolist() == [1, 1, 1]


@pytest.mark.parametrize("value", [None, 5, 2.5, object(), [3], "x"])
def test_what_was_not_serialized(client: xla.Client, value: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="not a serialized executable"):
        client.deserialize(value)


@pytest.mark.parametrize("path", [5.5, b"x", [], object()])
def test_a_trace_goes_to_a_path(path: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="path must be a file's path or None, not "), xla.trace(path):
        pass


def test_a_trace_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    ran = []
    with pytest.raises(NotFoundError, match="there is no directory"), xla.trace(tmp_path / "none" / "trace.json"):
        ran.append(1)
    assert not ran
