"""Custom calls: those that the host defines, that fail, that nobody defines, and that the target declares."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from xla_conformance.bits import require_bits
from xla_conformance.claims import not_supported
from xla_conformance.offers import compile_unclaimed, offer
from xla_conformance.refusals import Refuse
from xla_core import Client, CompileOptions, LoadedExecutable, UnimplementedError, XlaError, evaluate, parse
from xla_core.hlo import HloInstruction, Opcode, is_custom_call_registered, register_custom_call
from xla_core.target import TargetConfig

OWN_CALL = "xla_conformance.triple"
CALLED: list[int] = []
"""Has an element for each call of OWN_CALL."""


@register_custom_call(OWN_CALL)
def _triple(context: object, instruction: HloInstruction, values: list[np.ndarray]) -> np.ndarray:
    CALLED.append(1)
    return np.asarray(values[0] * values[0].dtype.type(3))


FAILING_CALL = "xla_conformance.fails"


@register_custom_call(FAILING_CALL)
def _fails(context: object, instruction: HloInstruction, values: list[np.ndarray]) -> np.ndarray:
    raise XlaError("the definition's failure")


def _compile_for_host(client: Client, text: str) -> LoadedExecutable:
    """Compiles a program whose custom calls the host may run. Without a host that does, the test is not supported."""
    try:
        return compile_unclaimed(client, text, CompileOptions(fallback="host"))
    except UnimplementedError:
        not_supported("the host runs no custom calls for it")


def _offer_text(client: Client, text: str) -> LoadedExecutable:
    made = offer(client, parse(text))
    if made is None:
        raise UnimplementedError("refused")
    return made


def custom_call(target: str, count: int = 1, dtype: str = "f32", size: int = 8) -> str:
    operands = [f"x{i}" for i in range(count)]
    parameters = "".join(f"  x{i} = {dtype}[{size}] parameter({i})\n" for i in range(count))
    call = f'custom-call({", ".join(operands)}), custom_call_target="{target}"'
    return f"HloModule m\n\nENTRY e {{\n{parameters}  ROOT r = {dtype}[{size}] {call}\n}}\n"


@pytest.mark.promise("compiler.run-backend")
def test_a_custom_call_that_nobody_defines(client: Client, second_client: Client) -> None:
    """The compilation after the one that fails succeeds."""
    text = custom_call("xla_conformance.nobody_defines_this")
    right = "HloModule m\n\nENTRY e {\n  x = f32[8] parameter(0)\n  ROOT r = f32[8] copy(x)\n}\n"
    x = np.arange(8, dtype=np.float32)
    for compile_it, by in ((compile_unclaimed, client), (_offer_text, second_client)):
        try:
            got = [np.asarray(r) for r in compile_it(by, text)(x)]
        except XlaError:
            continue
        raise AssertionError(f"A custom call that nobody defines is an error, not a result: {got}")
    results = [np.asarray(r) for r in client.compile(right)(x)]
    require_bits(
        "A compilation that fails leaves the next one alone.",
        results,
        [x],
        module=right,
        promise="compiler.run-backend",
    )


@pytest.mark.promise("compiler.host-fallback", "compiler.run-backend")
@pytest.mark.parametrize("fallback", ["none", "host"])
@pytest.mark.parametrize("dtype", ["f32", "s32"])
def test_a_custom_call_that_the_host_defines(client: Client, fallback: Literal["none", "host"], dtype: str) -> None:
    text = custom_call(OWN_CALL, dtype=dtype)
    x = np.arange(8).astype({"f32": np.float32, "s32": np.int32}[dtype])
    try:
        executable = compile_unclaimed(client, text, CompileOptions(fallback=fallback))
    except UnimplementedError as error:
        if fallback == "host" and client.platform.compiler.host_fallback:
            raise AssertionError(f'With fallback="host", the host runs it: {error.message}') from error
        return
    require_bits(
        "A custom call computes what its definition says.",
        [np.asarray(r) for r in executable(x)],
        [x * 3],
        promise="compiler.host-fallback",
    )


@pytest.mark.promise("compiler.host-fallback", "executable.run")
def test_a_custom_call_with_an_effect_is_called_once(client: Client) -> None:
    text = custom_call(OWN_CALL).replace("custom_call_target", "custom_call_has_side_effect=true, custom_call_target")
    executable = _compile_for_host(client, text)
    for _ in range(3):
        CALLED.clear()
        np.asarray(executable(np.arange(8, dtype=np.float32))[0])
        assert len(CALLED) == 1, f"A custom call with an effect is called once in a run, not {len(CALLED)} times."


@pytest.mark.promise("executable.failure-poisons", "compiler.host-fallback", "stream.failure-poisons")
@pytest.mark.parametrize("place", ["device", "host"])
def test_a_custom_call_that_fails(client: Client, refuse: Refuse, place: str) -> None:
    """If a call fails while a program runs, the results of this run have its error, and those of other runs don't."""
    client = refuse(Opcode.CUSTOM_CALL) if place == "host" else client
    x = np.arange(8, dtype=np.float32)
    fails, works = (_compile_for_host(client, custom_call(target)) for target in (FAILING_CALL, OWN_CALL))
    for _ in range(2):
        results = fails(x)
        with pytest.raises(XlaError, match="the definition's failure"):
            np.asarray(results[0])
        require_bits(
            "A run after a failure gives its own results.",
            [np.asarray(r) for r in works(x)],
            [x * 3],
            promise="executable.failure-poisons",
        )


@pytest.mark.promise("compiler.target-is-data", "compiler.run-backend")
def test_declared_custom_calls_and_composites_compile(client: Client, target: TargetConfig) -> None:
    declared = sorted(target.capabilities.custom_calls | target.capabilities.composites)
    if not declared:
        not_supported("it declares no custom call and no composite")
    x = np.linspace(-2, 2, 8, dtype=np.float32)
    for name in declared:
        ran = []
        for count in (1, 2, 3):
            text = custom_call(name, count)
            values = [x + i for i in range(count)]
            expected = None
            if is_custom_call_registered(name):
                try:
                    expected = [np.asarray(r) for r in evaluate(parse(text), *values)]
                except XlaError:  # its definition takes another number of operands
                    continue
            try:
                results = [np.asarray(r) for r in compile_unclaimed(client, text)(*values)]
            except XlaError as error:
                ran.append(f"{count} operands: {error.message}")
                continue
            ran.append("")
            if expected is None:
                continue
            for got, wanted in zip(results, expected, strict=True):
                assert np.allclose(got, wanted, rtol=1e-5, atol=1e-6, equal_nan=True), (
                    f"The declared {name!r} computes what its definition says: got {got}, wanted {wanted}."
                )
        if not ran:  # its definition takes none of these operands, as that of a call which only a pass makes
            continue
        assert "" in ran, f"The target declares {name!r}, so a program with it compiles and runs: {'; '.join(ran)}"
