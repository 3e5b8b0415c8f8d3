"""StableHLO's own test files, run against anything that runs HLO.

    for case in cases(find_tests() / "interpret" / "add.mlir"):
        outcome = run_case(case, run=lambda module, arrays: xla.evaluate(module, *arrays))

A file is split at `// -----`. A part with `expected-error` must be refused at the line it names, with the message it
names; a part with checks is run, and its values are compared; any other part must read and verify. Inputs and constants
become arguments where that changes nothing, so that constant folding can't hide what runs the program.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from xla_conformance.stablehlo_checks import almost_equal, close, equal
from xla_core.errors import XlaError
from xla_core.hlo import HloModule, evaluate, evaluate_parallel
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
    parse_text,
    split_modules,
    verify,
)

__all__ = ["Case", "Outcome", "ParallelRun", "Run", "cases", "find_tests", "run_case", "suite_files"]

Run = Callable[[HloModule, "list[np.ndarray]"], "Sequence[np.ndarray]"]
"""(module, one array a flat entry parameter) -> one array a flat result."""

ParallelRun = Callable[["list[HloModule]", "list[list[np.ndarray]]", int], "Sequence[Sequence[np.ndarray]]"]
"""(a module a device, its arrays, number of partitions) -> results a device."""


def _evaluate(module: HloModule, arrays: list[np.ndarray]) -> Sequence[np.ndarray]:
    return evaluate(module, *arrays)


def _evaluate_parallel(
    modules: list[HloModule], arrays: list[list[np.ndarray]], partitions: int
) -> Sequence[Sequence[np.ndarray]]:
    return evaluate_parallel([m.entry for m in modules], arrays, num_partitions=partitions)


@dataclasses.dataclass(frozen=True)
class Case:
    """One part of a file. `errors` are (line, pattern) pairs that it must be refused with."""

    file: Path
    index: int
    source: str = dataclasses.field(repr=False)
    errors: tuple[tuple[int, re.Pattern[str]], ...] = ()

    @property
    def name(self) -> str:
        return f"{self.file.parent.name}/{self.file.name}:{self.index}"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a case: `passed`, how many values were compared, and else what was wrong."""

    case: Case
    passed: bool
    checks: int = 0
    detail: str = ""


def find_tests() -> Path | None:
    """The folder of StableHLO's tests: $STABLEHLO_TESTS, else ../shared/stablehlo-tests; None if neither is there."""
    given = os.environ.get("STABLEHLO_TESTS")
    path = Path(given) if given else Path(__file__).resolve().parents[3] / "shared" / "stablehlo-tests"
    return path if path.is_dir() else None


def suite_files(root: Path) -> list[Path]:
    """Every test file below the folder, in order; those of vhlo are bytecode's."""
    return sorted(p for p in root.rglob("*.mlir") if "vhlo" not in p.relative_to(root).parts)


def cases(file: Path) -> list[Case]:
    """The parts of a file; their line numbers are those of the file."""
    text = file.read_text(encoding="utf-8")
    return [Case(file, i, part, _expected_errors(part)) for i, part in enumerate(split_modules(text))]


def _expected_errors(part: str) -> tuple[tuple[int, re.Pattern[str]], ...]:
    found = []
    for number, line in enumerate(part.split("\n"), 1):
        match = re.search(r"expected-error(-re)?\s*@?\s*([+-]\d+|above|below)?\s*\{\{(.*)\}\}", line)
        if match is None:
            continue
        regex, offset, text = match.groups()
        target = number + {"above": -1, "below": 1, None: 0}.get(
            offset, 0 if offset is None or offset.isalpha() else int(offset)
        )
        found.append((target, re.compile(_pattern(text) if regex else re.escape(text), re.S)))
    return tuple(found)


def _pattern(text: str) -> str:
    """FileCheck's form: regular expressions stand in double braces, the rest is literal."""
    parts = re.split(r"\{\{(.*?)\}\}", text)
    return "".join(p if i % 2 else re.escape(p) for i, p in enumerate(parts))


def run_case(case: Case, run: Run = _evaluate, run_parallel: ParallelRun = _evaluate_parallel) -> Outcome:
    """Runs a case. Errors of the library become an outcome that failed; any other exception is raised."""
    if case.errors:
        return _run_refused(case)
    try:
        module = parse_text(case.source, str(case.file))
        verify(module)
        checks = 0
        for name in _entries(module):
            problem, done = _Program(module, name, run, run_parallel).check()
            checks += done
            if problem is not None:
                return Outcome(case, False, checks, f"@{name}: {problem}")
        return Outcome(case, True, checks)
    except XlaError as error:
        return Outcome(case, False, 0, str(error))


def _run_refused(case: Case) -> Outcome:
    try:
        verify(parse_text(case.source, str(case.file)))
    except XlaError as error:
        line = error.location.line if error.location is not None else 0
        message = error.message
        for target, pattern in case.errors:
            if pattern.search(message) and target == line:
                return Outcome(case, True, 1)
        wanted = "; ".join(f"line {t}: {p.pattern}" for t, p in case.errors)
        return Outcome(case, False, 0, f"refused at line {line}: {message}; expected {wanted}")
    return Outcome(case, False, 0, f"accepted; expected {case.errors[0][1].pattern}")


_CHECKS = ("check.", "interpreter.")


def _is_check(op: Op) -> bool:
    return op.name.startswith(_CHECKS) or (
        op.name == "stablehlo.custom_call" and str(op.attributes.get("call_target_name", "")).startswith("check.")
    )


def _entries(module: Module) -> list[str]:
    """Functions to run: `main`, else every function without arguments that checks something."""
    if "main" in module.functions:
        return ["main"] if any(_is_check(op) for op in module.functions["main"].walk()) else []
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
    attributes: dict[str, Any]


class _Program:
    """A function without arguments that checks values: cut into a program with arguments, and the comparisons."""

    def __init__(self, module: Module, name: str, run: Run, run_parallel: ParallelRun) -> None:
        self.module, self.run, self.run_parallel = module, run, run_parallel
        self.block = module.functions[name].regions[0].block
        self.known: dict[Value, np.ndarray] = {}  # inputs, expectations, and what ran in parallel

    def check(self) -> tuple[str | None, int]:
        """What is wrong (or None), and how many values were compared."""
        kept: list[Op] = []
        checks: list[_Check] = []
        for op in self.block.ops[:-1]:
            if op.name == "interpreter.run_parallel":
                self._parallel(op)
            elif _is_check(op):
                checks += _comparisons(op)
            elif op.name in ("func.call", "call") and not op.operands and not _has_check(self.module, op):
                self._call(op)
            else:
                kept.append(op)
        wanted = [v for c in checks for v in (c.got, c.want) if isinstance(v, Value) and v not in self.known]
        results = self._execute(kept, list(dict.fromkeys(wanted)))
        for number, check in enumerate(checks):
            got, want = (results[v] if isinstance(v, Value) else v for v in (check.got, check.want))
            problem = _compare(check, got, want)
            if problem is not None:
                return f"check {number}: {problem}", number
        return None, len(checks)

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
            outputs = self.run(lower(function), [np.array(a, order="C") for a in arguments.values()])
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
        modules = {name: lower(_without_checks(self.module), name) for name in dict.fromkeys(names)}
        rows_of_results = self.run_parallel([modules[n] for n in names], arguments, partitions)
        flat = (array for row in rows_of_results for array in row)
        self.known.update((r, next(flat)) for r in op.results if not isinstance(r.type, TokenType))

    def _value(self, value: Value) -> np.ndarray:
        if value not in self.known:
            before = [op for op in self.block.ops[:-1] if not _is_check(op)]
            self.known[value] = self._execute(before, [value])[value]
        return self.known[value]


def _tensor(value: Value) -> TensorType:
    assert isinstance(value.type, TensorType)
    return value.type


def _has_check(module: Module, call: Op) -> bool:
    function = module.functions.get(str(call.attributes["callee"]))
    return function is not None and any(map(_is_check, function.walk()))


def _comparisons(op: Op) -> list[_Check]:
    """The comparisons of a check op; of `interpreter.print` and the like, none."""
    name = op.name if op.name.startswith("check.") else str(op.attributes.get("call_target_name", ""))
    kind = name.removeprefix("check.").removeprefix("expect_")
    if kind.removesuffix("_const") not in ("eq", "almost_eq", "close"):
        return []
    if kind.endswith("_const"):
        value = op.attributes["value"]
        return [_Check(kind.removesuffix("_const"), op.operands[0], value.array, op.attributes)]
    if name == "check.eq":
        return [_Check(kind, op.operands[1], op.operands[0], op.attributes)]
    return [_Check(kind, op.operands[0], op.operands[1], op.attributes)]


def _compare(check: _Check, got: np.ndarray, want: np.ndarray) -> str | None:
    if check.kind == "almost_eq":
        return almost_equal(got, want, float(check.attributes.get("tolerance", 1e-4)))
    if check.kind == "close":
        least, most = (int(check.attributes.get(f"{n}_ulp_difference", d)) for n, d in (("min", 0), ("max", 3)))
        return close(got, want, least % (1 << 64), most % (1 << 64))
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
