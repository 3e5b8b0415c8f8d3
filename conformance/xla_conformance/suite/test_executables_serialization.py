"""Serialized executables: read again here, in another client and in another process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from xla_conformance.bench import ExecutableBench, compiled
from xla_conformance.bits import require_bits
from xla_conformance.claims import NotSupported, all_types, held_types, not_supported, require_devices
from xla_conformance.family_program import FamilyProgram
from xla_conformance.ops.values import patterns, special_values
from xla_conformance.other_process import random_of, reported, run_in_other_process
from xla_conformance.programs.family import FAMILY, SHARDED, donations, siblings
from xla_core import Client, FailedPreconditionError, InvalidArgumentError, Shape, XlaError
from xla_core.hlo import ElementType, HloComputation, HloModule, Opcode

Loaded: TypeAlias = tuple[dict[str, Any], dict[str, Any] | str]
"""What is reported of a program here and in another process, or how that process ended."""

ALL = [*FAMILY, *SHARDED, *siblings()]


@pytest.fixture(scope="session")  # a worker of `xla conform` keeps nothing else from test to test
def loaded(
    backend: str,
    settings: tuple[str, ...],
    brief_client: Callable[[], AbstractContextManager[Client]],
    seed: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Loaded | NotSupported]:
    """For each program, what is reported of it; or why it isn't supported."""
    blobs, here, skipped = {}, {}, {}
    with brief_client() as client:
        for program in ALL:
            try:
                require_devices(client, program.devices)
                executable = compiled(client, program)
            except NotSupported as reason:
                skipped[program.name] = reason
            else:
                blobs[program.name], here[program.name] = executable.serialize(), reported(executable)
    there = run_in_other_process(backend, settings, blobs, tmp_path_factory.mktemp("executables"), seed)
    return {**skipped, **{name: (here[name], there[name]) for name in blobs}}


@pytest.mark.promise("executable.serialize", "compiler.deserialize", "executable.fingerprint", "spec.version")
@pytest.mark.joint("run in another process")  # there is one such process for all of them
@pytest.mark.other_process
@pytest.mark.parametrize("program", ALL, ids=str)
def test_run_in_another_process(program: FamilyProgram, seed: int, loaded: dict[str, Loaded | NotSupported]) -> None:
    found = loaded[program.name]
    if isinstance(found, NotSupported):
        raise found
    here, there = found
    assert not isinstance(there, str), f"A serialized executable runs in another process: there it {there}"
    for what, value in here.items():
        assert there[what] == value, (
            f"A serialized executable keeps its {what}: {there[what]} in another process, {value} here."
        )
    rows = program.rows(random_of(program, seed))
    for got, expected in zip(there["results"], program.result_rows(rows), strict=True):
        arrays = [
            np.frombuffer(Path(file).read_bytes(), wanted.dtype)[: wanted.size].reshape(wanted.shape)
            for file, wanted in zip(got, expected, strict=True)
        ]
        require_bits(
            "A serialized executable gives the results of the program in another process.",
            arrays,
            expected,
            module=program.text,
            arguments=rows[0],
            promise="compiler.deserialize",
        )


@pytest.mark.promise("executable.serialize", "compiler.deserialize", "executable.parameter-shapes")
@pytest.mark.parametrize("program", FAMILY, ids=str)
def test_run_after_reading_it_again(client: Client, program: FamilyProgram, random: np.random.Generator) -> None:
    here = compiled(client, program)
    blob = here.serialize()
    assert here.serialize() == blob, "An executable is immutable, so it serializes to the same bytes each time."
    again = client.deserialize(blob)
    assert reported(again) == reported(here), "A serialized executable keeps what it says of itself."
    assert again.serialize() == blob, "An executable that was read again serializes to the same bytes."
    for executable in (again, client.deserialize(again.serialize())):
        arrays = program.arguments(random)
        with ExecutableBench(executable) as bench:
            require_bits(
                "A deserialized executable gives the results of the program.",
                bench.results_of(arrays),
                program.results(arrays),
                module=program.text,
                arguments=arrays,
                promise="compiler.deserialize",
            )


@pytest.mark.promise("compiler.deserialize", "executable.serialize", "executable.fingerprint")
@pytest.mark.parametrize("backwards", [False, True], ids=["in order", "backwards"])
def test_programs_that_are_alike_are_told_apart(client: Client, random: np.random.Generator, backwards: bool) -> None:
    """Executables whose bytes have one length and mostly agree are all loaded before the first one runs."""
    programs = siblings()[:: -1 if backwards else 1]
    loaded = [client.deserialize(compiled(client, program).serialize()) for program in programs]
    for program, executable in zip(programs, loaded, strict=True):
        assert reported(executable) == reported(compiled(client, program)), (
            "A serialized executable keeps what it says of itself, whatever else was loaded."
        )
        arrays = program.arguments(random)
        program.require_results(
            "A deserialized executable gives the results of its own program, whatever else was loaded.",
            executable(*arrays),
            arrays,
            "compiler.deserialize",
        )


@pytest.mark.promise("executable.serialize", "compiler.deserialize")
@pytest.mark.parametrize("element", all_types(), ids=str)
def test_constants_of_every_type(
    backend: str, client: Client, element: ElementType, random: np.random.Generator
) -> None:
    """An array of special values and random bits, two that differ from it in one element alone, others whose elements
    are all equal but two or none, and two scalars.

    Devices may compute floats of 8 bits in a wider type, which keeps no bits of their NaNs.
    """
    if element not in held_types(backend):
        not_supported(f"the device holds no {element}")
    values = np.concatenate([special_values(element).reshape(-1), patterns(Shape(element, (41,)), random)])
    first, last = values.copy(), values.copy()
    first[0], last[-1] = values[-1], values[0]
    uniform = np.full((3, 100), values[0])
    nearly = uniform.copy()
    nearly[0, 70] = nearly[-1, -1] = values[-1]
    arrays = [values, first, last, uniform, nearly, values[0].reshape(()), values[-1].reshape(())]
    module, entry = HloModule("constants"), HloComputation("main")
    entry.set_root(entry.add(Opcode.TUPLE, *map(entry.constant, arrays)))
    module.add_computation(entry, entry=True)
    keeps_nans = element.bit_width > 8
    wanted = arrays if keeps_nans else [_with_one_nan(array) for array in arrays]
    here = client.compile(module)
    for executable in (here, client.deserialize(here.serialize())):
        results = [np.asarray(r) for r in executable()]
        require_bits(
            "A deserialized executable has the constants of the program, bit by bit.",
            results if keeps_nans else [_with_one_nan(result) for result in results],
            wanted,
            module=module,
            promise="compiler.deserialize",
        )


@pytest.mark.promise("executable.serialize", "compiler.deserialize", "executable.fingerprint")
@pytest.mark.profile("full")
def test_megabytes_of_constants(backend: str, client: Client, random: np.random.Generator) -> None:
    """Random bits, and numbers that are all equal but one in the middle and the last one."""
    held = [element for element in (ElementType.S32, ElementType.F32, ElementType.U8) if element in held_types(backend)]
    if not held:
        not_supported("the device holds neither s32, f32 nor u8")
    element = held[0]
    count = (5 << 18) // element.dtype.itemsize + 1
    nearly = np.zeros(count, element.dtype)
    nearly[[count // 2, -1]] = 1
    numbers = random.integers(0, 128, count).astype(element.dtype)
    module, entry = HloModule("megabytes"), HloComputation("main")
    entry.set_root(entry.add(Opcode.TUPLE, *map(entry.constant, (numbers, nearly))))
    module.add_computation(entry, entry=True)
    here = client.compile(module)
    again = client.deserialize(here.serialize())
    assert reported(again) == reported(here), "A serialized executable keeps what it says of itself."
    require_bits(
        "A deserialized executable has all of its constants.",
        [np.asarray(r) for r in again()],
        [numbers, nearly],
        promise="compiler.deserialize",
    )


def _with_one_nan(array: np.ndarray) -> np.ndarray:
    """Returns the array with the same bits in all NaNs."""
    if not ElementType.from_numpy(array.dtype).is_floating:
        return array
    return np.where(np.isnan(array), np.array(np.nan, array.dtype), array)


@pytest.mark.promise("executable.fingerprint")
def test_fingerprints_tell_programs_apart(client: Client) -> None:
    programs = [*siblings(), *FAMILY, *donations()]
    prints = []
    for program in programs:
        executable = compiled(client, program)
        prints.append(executable.fingerprint())
        assert executable.executable.fingerprint() == executable.executable.fingerprint(), (
            "The fingerprint of an executable does not change."
        )
    assert len(set(prints)) == len(prints), "Programs that do different things have different fingerprints."
    for program in programs[:3]:
        assert client.compile(program.module).fingerprint() == compiled(client, program).fingerprint(), (
            "Equivalent executables of a target have equal fingerprints."
        )


@pytest.mark.promise("executable.fingerprint")
@pytest.mark.parametrize("element", all_types(), ids=str)
def test_fingerprints_tell_constants_apart(
    backend: str, client: Client, element: ElementType, random: np.random.Generator
) -> None:
    """A short and a long constant, of which one differs in its first or in its last element."""
    if element not in held_types(backend):
        not_supported(f"the device holds no {element}")
    numbers = special_values(element).reshape(-1)
    numbers = numbers[numbers == numbers]  # without NaNs
    given = [numbers[random.integers(0, numbers.size, count)] for count in (30, 3001)]
    prints = [_fingerprint_of(client, given)]
    for number, array in enumerate(given):
        for place in (0, -1):
            changed = array.copy()
            changed[place] = numbers[numbers != array[place]][0]
            prints.append(_fingerprint_of(client, [*given[:number], changed, *given[number + 1 :]]))
    assert len(set(prints)) == len(prints), "Programs that differ in one element of a constant have other fingerprints."


def _fingerprint_of(client: Client, constants: Sequence[np.ndarray]) -> str:
    module, entry = HloModule("constants"), HloComputation("main")
    entry.set_root(entry.add(Opcode.TUPLE, *map(entry.constant, constants)))
    module.add_computation(entry, entry=True)
    return client.compile(module).fingerprint()


@pytest.mark.promise("compiler.ahead-of-time", "compiler.needs-no-device", "compiler.deserialize")
@pytest.mark.parametrize("name", ["temporaries", "large_constants", "donated_and_swapped", "loop", "nothing"])
def test_compiled_ahead_of_time(client: Client, name: str, random: np.random.Generator) -> None:
    program = next(p for p in FAMILY if p.name == name)
    compiled(client, program)  # ends the test where the backend doesn't claim the program
    compiler = client.platform.compiler
    try:
        data = compiler.compile_ahead_of_time(program.module.clone())
    except FailedPreconditionError as error:
        not_supported(f"its compiler needs a device: {error.message}")
    assert isinstance(data, bytes), "compile_ahead_of_time returns the bytes that deserialize loads."
    device = client.devices[-1]
    executable = compiler.deserialize(data, None, device.executor)
    arrays = program.arguments(random)
    with ExecutableBench(executable, device) as bench:
        require_bits(
            "What was compiled ahead of time gives the results of the program.",
            bench.results_of(arrays),
            program.results(arrays),
            module=program.text,
            arguments=arrays,
            promise="compiler.ahead-of-time",
        )


@pytest.mark.promise("executable.serialize")
def test_for_another_client(open_client: Callable[[], Client], client: Client, random: np.random.Generator) -> None:
    program = next(p for p in FAMILY if p.name == "temporaries")
    blob = compiled(client, program).serialize()
    arrays = program.arguments(random)
    with open_client() as other:
        got = [np.asarray(r) for r in other.deserialize(blob)(*arrays)]
    require_bits(
        "Another client of the backend runs a serialized executable.",
        got,
        program.results(arrays),
        promise="executable.serialize",
    )


@pytest.mark.promise("compiler.deserialize")
@pytest.mark.parametrize("name", ["elementwise", "large_constants"])
def test_damaged_bytes_are_refused(client: Client, name: str, random: np.random.Generator) -> None:
    program = next(p for p in FAMILY if p.name == name)
    executable = compiled(client, program)
    blob = executable.serialize()
    wrong = [b"", b"nonsense", blob[:9], blob[: len(blob) // 2], blob[:-1]]
    for place in random.integers(0, len(blob), 12):
        flipped = bytearray(blob)
        flipped[place] ^= 1 << int(random.integers(8))
        wrong.append(bytes(flipped))
    for data in wrong:
        try:
            client.deserialize(data)
        except (InvalidArgumentError, FailedPreconditionError):
            continue
        except XlaError as error:
            raise AssertionError(f"Damaged bytes are INVALID_ARGUMENT or FAILED_PRECONDITION, not {error!r}") from error
        raise AssertionError("Damaged bytes of an executable are refused.")
    arrays = program.arguments(random)
    require_bits(
        "The client stays usable.",
        [np.asarray(r) for r in executable(*arrays)],
        program.results(arrays),
        promise="compiler.deserialize",
    )
