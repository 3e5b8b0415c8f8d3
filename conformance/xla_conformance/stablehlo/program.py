"""Splits a test function of StableHLO's files into a program with arguments, and comparisons of the program's results.

Inputs and constants become arguments where that keeps the meaning. Otherwise constant folding could compute the results
instead of the code under test. The comparisons are those of StableHLO's own interpreter.

StableHLO: stablehlo/tools/StablehloTranslateMain.cpp, `StablehloTranslateInterpreterFallback`;
stablehlo/tests/CheckOps.td
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xla_conformance.stablehlo.checks import almost_equal, close, equal
from xla_conformance.stablehlo.instruments import (
    identities,
    inlined,
    is_check,
    is_instrument,
    nests_instruments,
    plain,
    recorded,
    start,
    without,
)
from xla_conformance.stablehlo.parallel import ParallelPrograms, ParallelRun
from xla_conformance.stablehlo.proof import Computed, prove
from xla_conformance.stablehlo.recording import Event, Recording
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

Run = Callable[[HloModule, "list[np.ndarray]"], "Sequence[np.ndarray]"]
"""Runs a module: (module, an array for each flat entry parameter) -> an array for each flat result."""


def run_on_evaluator(module: HloModule, arrays: list[np.ndarray]) -> Sequence[np.ndarray]:
    """Runs a module on the reference evaluator."""
    return evaluate(module, *arrays)


def entries(module: Module) -> list[str]:
    """Returns the functions to run: `main`, or if there is none every function without arguments that checks values."""
    if "main" in module.functions:
        return ["main"] if any(any(map(_asks, f.walk())) for f in module.functions.values()) else []
    return [
        name
        for name, f in module.functions.items()
        if f.regions and f.regions[0].blocks and not f.regions[0].block.arguments and any(map(_asks, f.walk()))
    ]


def _asks(op: Op) -> bool:
    """Tells whether the op shows that its function is meant to be run."""
    return is_check(op) or op.name in ("interpreter.print", "interpreter.run_parallel")


@dataclasses.dataclass(frozen=True)
class _Check:
    """One comparison; `value` is the program's value that was compared."""

    kind: str
    value: Value
    got: np.ndarray
    want: np.ndarray
    attributes: Mapping[str, Any]


class Program:
    """A function without arguments that checks values."""

    def __init__(self, module: Module, name: str, run: Run, run_parallel: ParallelRun) -> None:
        self.module, self.run, self.run_parallel = module, run, run_parallel
        self.ops: list[Op] = inlined(module, module.functions[name].regions[0].block)[:-1]
        self.known: dict[Value, np.ndarray] = {}  # inputs, expected values, and results of parallel programs
        self.recording = Recording()
        self._ran: tuple[Module, list[np.ndarray], list[Value]] | None = None
        self._wrong: _Check | None = None

    def check(self) -> tuple[str | None, int]:
        """Runs the program and compares its values. Returns a problem or None, and how many values were right."""
        self._observe()
        probed: list[tuple[str, np.ndarray]] = []
        compared: list[Event] = []
        for event in self.recording.events():
            if event.op.name == "interpreter.probe":
                probed.append((str(event.op.attributes["probe_id"]), event.arrays[0]))
            elif event.op.name == "interpreter.print":
                print(f"%{event.op.operands[0].name} = {event.op.operands[0].type} {event.arrays[0].tolist()}")
            else:
                compared.append(event)
        number = 0
        for event in compared:
            check = _comparison(event, probed)
            if check is None:
                continue
            problem = check if isinstance(check, str) else _compare(check)
            if problem is not None:
                self._wrong = None if isinstance(check, str) else check
                return f"check {number}: {problem}", number
            number += 1
        return None, number

    def _observe(self) -> None:
        """Runs the program and records all values that instruments see.

        The values of instruments in the function itself are results of the program. If there are instruments in control
        flow too, the function's probes and prints are recorded while the program runs, which keeps the order of all.
        """
        zero = start()
        nested = any(map(nests_instruments, self.ops))
        order = zero.results[0]
        kept: list[Op] = [zero] if nested else []
        seen: list[tuple[int, Op]] = []
        for op in self.ops:
            if op.name == "interpreter.run_parallel":
                self.recording.stage += 1
                self._parallel(op)
                self.recording.stage += 1
            elif is_check(op) or (is_instrument(op) and not nested):
                seen.append((self.recording.site(op), op))
                kept += identities(op)
            elif is_instrument(op) or nests_instruments(op):
                made, order = recorded([op], self.recording, order)
                kept += made
            elif op.name in ("func.call", "call") and not op.operands:
                self._call(op)
            else:
                kept.append(op)
        wanted = [v for _, op in seen for v in op.operands if v not in self.known]
        results = self._execute(kept, list(dict.fromkeys([*wanted, order] if nested else wanted)))
        for site, op in seen:
            self.recording.record(site, [results[v] for v in op.operands])

    def proof(self) -> str:
        """Returns the proof that the file is wrong after a failed check, or an empty string."""
        if self._wrong is None or self._ran is None:
            return ""
        check = self._wrong
        module, arguments, computed = self._ran
        if check.value not in computed:
            return ""
        made = Computed(module, arguments, computed.index(check.value))
        return prove(made, check.got, check.want, **_allowed(check))

    def _call(self, op: Op) -> None:
        """Evaluates a call without arguments, which makes inputs or expected values, on the reference evaluator."""
        outputs = iter(evaluate(lower(self.module, str(op.attributes["callee"]))))
        self.known.update((r, next(outputs)) for r in op.results if not isinstance(r.type, TokenType))

    def _execute(self, ops: list[Op], wanted: list[Value]) -> dict[Value, np.ndarray]:
        """Runs the ops and returns the wanted values. Known values and constants are arguments where possible."""
        values = dict(self.known)
        used = {v for op in ops for inner in op.walk() for v in inner.operands}
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
        """Runs `interpreter.run_parallel`. The rows of `programs` are replicas, its columns partitions."""
        rows = op.attributes["programs"]
        partitions = max((len(row) for row in rows), default=1)
        names = [str(name) for row in rows for name in row]
        operands = iter(op.operands)
        arguments: list[list[np.ndarray]] = []
        for name in names:
            block = self.module.functions[name].regions[0].block
            given = [next(operands) for _ in block.arguments]
            arguments.append([self._value(v) for v in given if not isinstance(v.type, TokenType)])
        module = plain(self.module, self.recording, names)
        infeed = [list(evaluate(lower(module, str(name)))) for name in op.attributes.get("infeed") or ()]
        results = self.run_parallel(ParallelPrograms(module, names, arguments, partitions, infeed))
        types = [self.module.functions[name].attributes["function_type"].results for name in names]
        counts = [sum(not isinstance(t, TokenType) for t in row) for row in types]
        flat = (array for row, count in zip(results, counts, strict=True) for array in row[:count])
        self.known.update((r, next(flat)) for r in op.results if not isinstance(r.type, TokenType))

    def _value(self, value: Value) -> np.ndarray:
        """Computes an operand of `interpreter.run_parallel` with the ops that it depends on."""
        if value not in self.known:
            needed, before = {value}, []
            for op in reversed(self.ops):
                if not needed.isdisjoint(op.results):
                    before.append(op)
                    operands = (v for inner in op.walk() for v in inner.operands)
                    needed.update(v for v in operands if v not in self.known)
            self.known[value] = self._execute(without(reversed(before)), [value])[value]
        return self.known[value]


def _tensor(value: Value) -> TensorType:
    assert isinstance(value.type, TensorType)
    return value.type


def _comparison(event: Event, probed: Sequence[tuple[str, np.ndarray]]) -> _Check | str | None:
    """Returns the comparison of a check op, the reason why it can't compare, or None for any other op."""
    op, arrays = event
    is_call = op.name == "stablehlo.custom_call"
    name = str(op.attributes.get("call_target_name", "")) if is_call else op.name
    kind = name.removeprefix("check.").removeprefix("expect_")
    if kind == "serialized_eq":
        got = _serialized(op, probed)
        return got if isinstance(got, str) else _Check("eq", op.operands[0], got, arrays[0], {})
    if kind.removesuffix("_const") not in ("eq", "almost_eq", "close"):
        return None
    if kind.endswith("_const"):
        want = op.attributes["value"].array
        return _Check(kind.removesuffix("_const"), op.operands[0], arrays[0], want, op.attributes)
    if name == "check.eq":  # (expected, actual); integers exactly, others within 1e-4
        element = _tensor(op.operands[0]).element
        is_integer = isinstance(element, str) and element.startswith(("i", "ui"))
        return _Check("eq" if is_integer else "almost_eq", op.operands[1], arrays[1], arrays[0], {})
    # The tolerance of almost_eq is 0.001 as a custom call; as an op it is an attribute, by default 1e-4.
    attributes = {"tolerance": 1e-3} if is_call else op.attributes
    return _Check(kind, op.operands[0], arrays[0], arrays[1], attributes)


def _serialized(op: Op, probed: Sequence[tuple[str, np.ndarray]]) -> np.ndarray | str:
    """Returns the value that a probe saw, or the reason why there is none.

    `iter` counts from 0. StableHLO's code counts the values of all probes (CheckOps.cpp, `getSerializedTensorMetadata`:
    the lines of index.csv) and fails if that value is another probe's. In that case `iter` counts the probe's own
    values here, as StableHLO's documentation says.
    """
    id = str(op.attributes["probe_id"])
    number = int(op.attributes.get("iteration", op.attributes.get("iter", 0)))
    own = [array for name, array in probed if name == id]
    if number < len(probed) and probed[number][0] == id:
        return probed[number][1]
    if number < len(own):
        return own[number]
    if own:
        return f"probe {id!r} ran {len(own)} times, so that it has no iteration {number}: they count from 0"
    others = ", ".join(sorted({repr(name) for name, _ in probed}))
    return f"no probe {id!r} ran{f'; {others} did' if others else ''}"


def _allowed(check: _Check) -> dict[str, Any]:
    if check.kind == "almost_eq":
        return {"tolerance": float(check.attributes.get("tolerance", 1e-4))}
    return {"most": int(check.attributes.get("max_ulp_difference", 3)) % (1 << 64)} if check.kind == "close" else {}


def _compare(check: _Check) -> str | None:
    got, want = check.got, check.want
    if check.kind == "almost_eq":
        return almost_equal(got, want, **_allowed(check))
    if check.kind == "close":
        return close(got, want, int(check.attributes.get("min_ulp_difference", 0)) % (1 << 64), **_allowed(check))
    return equal(got, want)


def _fixed(ops: Sequence[Op]) -> set[Value]:
    """Returns values that must stay constants: shape operands with all that they depend on, and captured values."""
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
    """Makes a constant op for a known value; the value becomes the op's result."""
    op = Op("stablehlo.constant", [], [value.type], {"value": DenseElements(_tensor(value), np.array(array))})
    op.results = [value]
    value.owner = op
    return op


def _function(ops: list[Op], arguments: list[Value], results: list[Value], module: Module) -> Module:
    """Makes a module whose `main` runs the ops and takes the argument values as block arguments."""
    block = Block()
    block.arguments = arguments
    block.ops = [*ops, Op("func.return", list(results), [])]
    type = FunctionType(tuple(v.type for v in arguments), tuple(v.type for v in results))
    function = Op("func.func", [], [], {"sym_name": "main", "function_type": type}, [Region([block])])
    others = {n: f for n, f in plain(module).functions.items() if n != "main"}
    return Module("test", module.attributes, {"main": function, **others}, module.others)
