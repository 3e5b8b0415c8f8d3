"""Wrong results grouped by root."""

from __future__ import annotations

from xla_conformance.results import Result, State
from xla_conformance.roots import find_roots


def wrong(opcode: str, *runs_as: str, case: str = "f32", state: State = State.FAIL) -> Result:
    return Result(f"test_op[{opcode}-{case}]", state, properties={"opcode": opcode, "runs_as": list(runs_as)})


def test_an_op_that_others_are_compiled_to_is_their_root() -> None:
    results = [
        wrong("tanh", "convert", "exponential"),
        wrong("convert", "convert"),
        wrong("cbrt", "convert", "power"),
        wrong("power", "power"),
        wrong("sine", "sine"),
    ]
    found = {root.opcode: root for root in find_roots(results)}
    assert set(found) == {"convert", "power"}
    assert found["convert"].tests == ("test_op[convert-f32]",)
    assert found["convert"].dependents == ("test_op[tanh-f32]", "test_op[cbrt-f32]")
    assert found["power"].dependents == ("test_op[cbrt-f32]",)


def test_an_op_that_is_wrong_alone_too_is_no_dependent() -> None:
    """Its cases in fusions have neighbours, which are not the cause if it is wrong without them."""
    results = [wrong("sine", "sine", "add"), wrong("sine", "sine", case="alone"), wrong("add", "add")]
    assert find_roots(results) == []


def test_what_passes_is_no_root() -> None:
    assert find_roots([wrong("tanh", "convert"), wrong("convert", "convert", state=State.PASS)]) == []
