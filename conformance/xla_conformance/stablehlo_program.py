"""A test function of StableHLO's files: cut into a program with arguments, and the comparisons of what it gives.

Inputs and constants become arguments where that changes nothing, so that constant folding can't hide what runs the
program. The comparisons are those of StableHLO's own interpreter (StableHLO:
stablehlo/tools/StablehloTranslateMain.cpp, `StablehloTranslateInterpreterFallback`; stablehlo/tests/CheckOps.td).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xla_conformance.stablehlo_checks import almost_equal, close, equal
from xla_conformance.stablehlo_parallel import ParallelPrograms, ParallelRun
from xla_conformance.stablehlo_proof import Computed, prove
from xla_core.hlo import HloModule, evaluate
from xla_core.stablehlo import (
    OPS,
    Block,
    DenseElements,
    FunctionType,
    Module,
    Op,
    QuantizedType,
    Region,
    TensorType,
    TokenType,
    Value,
    lower,
)

__all__ = ["Program", "Run", "entries", "run_on_evaluator"]

Run = Callable[[HloModule, "list[np.ndarray]"], "Sequence[np.ndarray]"]
"""(module, one array a flat entry parameter) -> one array a flat result."""


def run_on_evaluator(module: HloModule, arrays: list[np.ndarray]) -> Sequence[np.ndarray]:
    """The reference evaluator as a `Run`."""
    return evaluate(module, *arrays)


_CHECKS = ("check.", "interpreter.")


def _is_check(op: Op) -> bool:
    if op.name == "interpreter.probe":
        return False
    return op.name.startswith(_CHECKS) or (
        op.name == "stablehlo.custom_call" and str(op.attributes.get("call_target_name", "")).startswith("check.")
    )


def entries(module: Module) -> list[str]:
    """Functions to run: `main`, else every function without arguments that checks something."""
    if "main" in module.functions:
        return ["main"] if any(any(map(_is_check, f.walk())) for f in module.functions.values()) else []
    return [
        name
        for name, f in module.functions.items()
        if f.regions and f.regions[0].blocks and not f.regions[0].block.arguments and any(map(_is_check, f.walk()))
    ]


@dataclasses.dataclass
class _Check:
    """One comparison; each side is a value of the program, or an array that is known."""

    kind: str
    got: Value
    want: Value | np.ndarray
    attributes: Mapping[str, Any]


class Program:
    """A function without arguments that checks values."""

    def __init__(self, module: Module, name: str, run: Run, run_parallel: ParallelRun) -> None:
        self.module, self.run, self.run_parallel = module, run, run_parallel
        self.ops: list[Op] = _inlined(module, module.functions[name].regions[0].block)
        self.known: dict[Value, np.ndarray] = {}  # inputs, expectations, and what ran in parallel
        self._ran: tuple[Module, list[np.ndarray], list[Value]] | None = None
        self._wrong: tuple[_Check, np.ndarray, np.ndarray] | None = None

    def check(self) -> tuple[str | None, int]:
        """What is wrong (or None), and how many values were compared."""
        kept: list[Op] = []
        checks: list[_Check] = []
        probes: dict[str, Value] = {}
        for op in self.ops:
            if op.name == "interpreter.run_parallel":
                self._parallel(op)
            elif op.name == "interpreter.probe":
                probes[str(op.attributes["probe_id"])] = op.operands[0]
                kept.append(_identity(op))
            elif _is_check(op):
                checks += _comparisons(op, probes)
            elif op.name in ("func.call", "call") and not op.operands:
                self._call(op)
            else:
                kept.append(op)
        wanted = [v for c in checks for v in (c.got, c.want) if isinstance(v, Value) and v not in self.known]
        results = self._execute(kept, list(dict.fromkeys(wanted)))
        for number, check in enumerate(checks):
            got, want = (results[v] if isinstance(v, Value) else v for v in (check.got, check.want))
            problem = _compare(check, got, want)
            if problem is not None:
                self._wrong = (check, got, want)
                return f"check {number}: {problem}", number
        return None, len(checks)

    def proof(self) -> str:
        """After a check that failed: why it is the file that is wrong, or nothing."""
        if self._wrong is None or self._ran is None:
            return ""
        check, got, want = self._wrong
        module, arguments, computed = self._ran
        if check.got not in computed:
            return ""
        return prove(Computed(module, arguments, computed.index(check.got)), got, want, **_allowed(check))

    def _call(self, op: Op) -> None:
        """A call without arguments: inputs and expectations. The evaluator makes them, whatever runs the rest."""
        outputs = iter(evaluate(lower(self.module, str(op.attributes["callee"]))))
        self.known.update((r, next(outputs)) for r in op.results if not isinstance(r.type, TokenType))

    def _execute(self, ops: list[Op], wanted: list[Value]) -> dict[Value, np.ndarray]:
        """Runs the ops with what is known, and what constants allow, as arguments."""
        values = dict(self.known)
        used = {v for op in ops for v in op.operands}
        for op in ops:
            if op.name == "stablehlo.constant" and not isinstance(_tensor(op.results[0]).element, QuantizedType):
                values[op.results[0]] = op.attributes["value"].array
        fixed = _fixed(ops)
        arguments = {v: a for v, a in values.items() if v in used and v not in fixed}
        computed = [v for v in wanted if v not in values]
        kept = [op for op in ops if not (op.results and op.results[0] in arguments)]
        constants = [_constant(v, self.known[v]) for v in self.known if v in used and v in fixed]
        if computed:
            function = _function([*constants, *kept], list(arguments), computed, self.module)
            given = [np.array(a, order="C") for a in arguments.values()]
            self._ran = (function, given, computed)
            outputs = self.run(lower(function), given)
            values.update(zip(computed, outputs, strict=True))
        elif kept:
            lower(_function([*constants, *kept], list(arguments), [], self.module))
        return values

    def _parallel(self, op: Op) -> None:
        """`interpreter.run_parallel`: replicas are rows of `programs`, partitions its columns."""
        rows = op.attributes["programs"]
        partitions = max((len(row) for row in rows), default=1)
        names = [str(name) for row in rows for name in row]
        operands = iter(op.operands)
        arguments: list[list[np.ndarray]] = []
        for name in names:
            block = self.module.functions[name].regions[0].block
            given = [next(operands) for _ in block.arguments]
            arguments.append([self._value(v) for v in given if not isinstance(v.type, TokenType)])
        module = _without_checks(self.module)
        infeed = [list(evaluate(lower(module, str(name)))) for name in op.attributes.get("infeed") or ()]
        results = self.run_parallel(ParallelPrograms(module, names, arguments, partitions, infeed))
        flat = (array for row in results for array in row)
        self.known.update((r, next(flat)) for r in op.results if not isinstance(r.type, TokenType))

    def _value(self, value: Value) -> np.ndarray:
        if value not in self.known:
            before = [op for op in self.ops if not _is_check(op)]
            self.known[value] = self._execute(before, [value])[value]
        return self.known[value]


def _inlined(module: Module, block: Block, depth: int = 0) -> list[Op]:
    """A block's ops without its terminator; calls of functions that check something are their bodies."""
    ops: list[Op] = []
    for op in block.ops[:-1]:
        callee = module.functions.get(str(op.attributes.get("callee"))) if op.name in ("func.call", "call") else None
        if callee is None or depth > 8 or not any(map(_is_check, callee.walk())):
            ops.append(op)
            continue
        body = callee.regions[0].block
        values = dict(zip(body.arguments, op.operands, strict=True))
        for inner in _inlined(module, body, depth + 1):
            ops.append(_copied(inner, values))
        for result, value in zip(op.results, body.ops[-1].operands, strict=True):
            ops.append(_named(result, values.get(value, value)))
    return ops


def _copied(op: Op, values: dict[Value, Value]) -> Op:
    """The op with other operands; `values` gets its new results. What its regions take from outside stays as it is."""
    made = Op(op.name, [values.get(v, v) for v in op.operands], [r.type for r in op.results], op.attributes, op.regions)
    values.update(zip(op.results, made.results, strict=True))
    return made


def _named(result: Value, value: Value) -> Op:
    """An op that makes `result`, which is `value`."""
    op = Op("stablehlo.optimization_barrier", [value], [value.type])
    op.results = [result]
    return op


def _identity(probe: Op) -> Op:
    return _named(probe.results[0], probe.operands[0])


def _tensor(value: Value) -> TensorType:
    assert isinstance(value.type, TensorType)
    return value.type


def _comparisons(op: Op, probes: dict[str, Value]) -> list[_Check]:
    """The comparisons of a check op; of `interpreter.print` and the like, none."""
    is_call = op.name == "stablehlo.custom_call"
    name = str(op.attributes.get("call_target_name", "")) if is_call else op.name
    kind = name.removeprefix("check.").removeprefix("expect_")
    if kind == "serialized_eq":
        probed = probes.get(str(op.attributes["probe_id"]))
        return [] if probed is None else [_Check("eq", probed, op.operands[0], {})]
    if kind.removesuffix("_const") not in ("eq", "almost_eq", "close"):
        return []
    if kind.endswith("_const"):
        value = op.attributes["value"]
        return [_Check(kind.removesuffix("_const"), op.operands[0], value.array, op.attributes)]
    if name == "check.eq":  # (expected, actual); integers exactly, others within 1e-4
        element = _tensor(op.operands[0]).element
        is_integer = isinstance(element, str) and element.startswith(("i", "ui"))
        return [_Check("eq" if is_integer else "almost_eq", op.operands[1], op.operands[0], {})]
    # As a custom call, almost_eq is within 0.001; as an op of its own, within its attribute, by default 1e-4.
    attributes = {"tolerance": 1e-3} if is_call else op.attributes
    return [_Check(kind, op.operands[0], op.operands[1], attributes)]


def _allowed(check: _Check) -> dict[str, Any]:
    if check.kind == "almost_eq":
        return {"tolerance": float(check.attributes.get("tolerance", 1e-4))}
    return {"most": int(check.attributes.get("max_ulp_difference", 3)) % (1 << 64)} if check.kind == "close" else {}


def _compare(check: _Check, got: np.ndarray, want: np.ndarray) -> str | None:
    if check.kind == "almost_eq":
        return almost_equal(got, want, **_allowed(check))
    if check.kind == "close":
        return close(got, want, int(check.attributes.get("min_ulp_difference", 0)) % (1 << 64), **_allowed(check))
    return equal(got, want)


def _fixed(ops: Sequence[Op]) -> set[Value]:
    """Values that must stay constants: shape operands and what they come from, and what regions take from outside."""
    fixed: set[Value] = set()
    for op in reversed(ops):
        definition = OPS.get(op.name)
        if definition is not None and len(definition.operands) == len(op.operands):
            fixed.update(v for v, spec in zip(op.operands, definition.operands, strict=True) if spec.static)
        if any(r in fixed for r in op.results):
            fixed.update(op.operands)
        for region in op.regions:
            fixed.update(v for block in region.blocks for inner in block.ops for o in inner.walk() for v in o.operands)
    return fixed


def _constant(value: Value, array: np.ndarray) -> Op:
    """An op that makes a known value; the value becomes its result."""
    op = Op("stablehlo.constant", [], [value.type], {"value": DenseElements(_tensor(value), np.array(array))})
    op.results = [value]
    value.owner = op
    return op


def _function(ops: list[Op], arguments: list[Value], results: list[Value], module: Module) -> Module:
    """A module whose `main` runs the ops: the argument values are its block's arguments."""
    block = Block()
    block.arguments = arguments
    block.ops = [*ops, Op("func.return", list(results), [])]
    type = FunctionType(tuple(v.type for v in arguments), tuple(v.type for v in results))
    function = Op("func.func", [], [], {"sym_name": "main", "function_type": type}, [Region([block])])
    others = {n: f for n, f in _without_checks(module).functions.items() if n != "main"}
    return Module("test", module.attributes, {"main": function, **others}, module.others)


def _without_checks(module: Module) -> Module:
    """The module with `check` and `interpreter` ops left out of its functions."""
    functions = {}
    for name, function in module.functions.items():
        if (
            not function.regions
            or not function.regions[0].blocks
            or not any(map(_is_check, function.regions[0].block.ops))
        ):
            functions[name] = function
            continue
        block = Block()
        block.arguments = function.regions[0].block.arguments
        block.ops = [op for op in function.regions[0].block.ops if not _is_check(op)]
        functions[name] = Op(function.name, [], [], function.attributes, [Region([block])])
    return dataclasses.replace(module, functions=functions)
