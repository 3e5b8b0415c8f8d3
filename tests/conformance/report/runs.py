"""Runs to report."""

from __future__ import annotations

from xla_conformance.results import GROUPS, Result, Run, State

from xla_core.hlo import OPS

MODULE = "HloModule m\n\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] exponential(x)\n}\n"
ENVIRONMENT = {
    "suite_version": "0.1.0",
    "core_version": "0.1.0",
    "contract_version": "1.1",
    "backend_version": "3.2",
    "device": "Chip <1>",
    "devices": 2,
    "marks": ["simulated"],
    "settings": [],
}
FAILURE = {
    "module": MODULE,
    "result": 0,
    "index": [3],
    "operands": ["2.0 (0x40000000)"],
    "got": "1.5",
    "wanted": "1.25",
    "ulp": 12.0,
}
RESULTS = [
    Result("test_loading.py::test_probe", State.PASS, 0.5),
    Result(
        "test_ops.py::test_op[dot-f32]", State.PASS, 0.25, "", {"opcode": "dot", "element_type": "f32", "max_ulp": 3.0}
    ),
    Result("test_ops.py::test_op[dot-s4]", State.NOT_SUPPORTED, 0.0, "there is no dot of s4", {"opcode": "dot"}),
    Result(
        "test_ops.py::test_op[exp-f32]", State.FAIL, 0.1, "wrong \x1b & <b>.", {"opcode": "exponential"}, "", FAILURE
    ),
    Result(
        "test_streams.py::test_order",
        State.CRASH,
        1.0,
        "its process was ended by SIGSEGV",
        details="printed:\nchip on fire",
    ),
]


def run_of(*results: Result) -> Run:
    return Run("chip", "quick", list(results), 2.0, environment=ENVIRONMENT)


def whole_run(**states: State) -> Run:
    """A run in which everything passes but the named ops ("add"), and groups."""
    groups = [Result(f"test_{g}.py::test_it", states.get(g, State.PASS)) for g in GROUPS if g != "ops"]
    ops = [
        Result(
            f"test_ops.py::test_op[{op}-f32]",
            states.get(str(op).replace("-", "_"), State.PASS),
            0.0,
            "",
            {"opcode": str(op), "element_type": "f32", "max_ulp": 1.0},
        )
        for op in OPS
    ]
    return run_of(*groups, *ops)
