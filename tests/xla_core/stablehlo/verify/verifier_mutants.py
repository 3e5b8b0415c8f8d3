"""Small programs, each with one thing changed: what MLIR's verifier says of them, and what ours says.

    python -m tests.xla_core.stablehlo.verify.verifier_mutants --mutants 2000 --seed 1

MLIR's verifier is the one in JAX's wheel. It divides by some attributes before it has checked them, which ends its
process: mutants run in children, and a child that ends so is left out.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from xla_core.errors import XlaError
from xla_core.stablehlo import OPS, DenseElements, FunctionType, Module, Op, TensorType, parse_text, verify
from xla_core.stablehlo.ir import DYNAMIC
from xla_core.stablehlo.ir.attributes import DenseArray, TypedInt
from xla_core.stablehlo.reference.examples import op_example
from xla_core.stablehlo.translate.text import write_text

ELEMENTS = ("f32", "i32", "i1", "ui8", "complex<f32>", "f64", "bf16")


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A changed program. `theirs` and `ours` are the errors; None where it is accepted."""

    op: str
    change: str
    text: str
    theirs: list[str] | None
    ours: str | None

    @property
    def verdict(self) -> str:
        if self.theirs is None or self.ours is None:
            both = self.theirs is None and self.ours is None
            return "accepted" if both else "ours refuses" if self.theirs is None else "ours accepts"
        said = " ".join(self.ours.split())
        wanted = [" ".join(re.sub(r"^'[\w.-]+' op ", "", message).split()) for message in self.theirs]
        return "same words" if any(w and w in said for w in wanted) else "other words"


def programs() -> dict[str, str]:
    """A program by op, without those that no form of MLIR's own reader has."""
    found = {}
    for name in OPS:
        if not name.startswith(("stablehlo.", "chlo.")):
            continue
        try:
            found[name] = op_example(name).program()
            verify(parse_text(found[name]))
        except XlaError:
            found.pop(name, None)  # it isn't for float32, or is a part of another op
    return found


def make(text: str, name: str, rng: random.Random) -> tuple[Module, str] | None:
    """The program with one thing changed, and what; None where the die fell on nothing to change."""
    module = parse_text(text)
    for function in module.functions.values():
        ops = [op for op in function.walk() if op.name == name and function.regions]
        if ops and ops[0] in function.regions[0].block.ops:
            break
    else:
        return None
    op, block = ops[0], function.regions[0].block
    block.ops[-1].operands = []
    function.attributes.pop("res_attrs", None)
    change = _CHANGES[rng.choice(list(_CHANGES))](op, block.arguments, rng)
    function.attributes["function_type"] = FunctionType(tuple(a.type for a in block.arguments), ())
    return None if change is None else (module, change)


def _operand(op: Op, arguments: list[Any], rng: random.Random) -> str | None:
    values = [v for v in op.operands if v in arguments]
    return _retype(rng.choice(values), rng) if values else None


def _result(op: Op, arguments: list[Any], rng: random.Random) -> str | None:
    return _retype(rng.choice(op.results), rng) if op.results else None


def _block_argument(op: Op, arguments: list[Any], rng: random.Random) -> str | None:
    values = [a for region in op.regions for block in region.blocks for a in block.arguments]
    return _retype(rng.choice(values), rng) if values else None


def _retype(value: Any, rng: random.Random) -> str | None:
    old = value.type
    if not isinstance(old, TensorType):
        return None
    shape = list(old.shape)
    kind = rng.randrange(5)
    if kind == 0 and shape:
        i = rng.randrange(len(shape))
        shape[i] = rng.choice([shape[i] + 1, max(0, shape[i] - 1), DYNAMIC, 1])
    elif kind == 1:
        shape.append(2)
    elif kind == 2 and shape:
        del shape[0]
    elif kind == 3 and len(shape) > 1:
        shape.reverse()
    element = rng.choice(ELEMENTS) if kind == 4 else old.element
    value.type = TensorType(tuple(shape), element, old.bounds if tuple(shape) == old.shape else ())
    return None if value.type == old else f"{old} to {value.type}"


def _attribute(op: Op, arguments: list[Any], rng: random.Random) -> str | None:
    if not op.attributes:
        return None
    name = rng.choice(sorted(op.attributes))
    old = op.attributes[name]
    new = _changed(old, rng)
    if new is None:
        return None
    op.attributes[name] = new
    return f"{name}: {old} to {new}"


def _changed(value: Any, rng: random.Random) -> Any:
    step = rng.choice([-1, 1, 5, -7])
    if isinstance(value, bool):
        return not value
    if isinstance(value, TypedInt):
        return TypedInt(int(value) + step, value.type)
    if isinstance(value, int):
        return value + step
    if isinstance(value, DenseArray):
        values = _changed_list(list(value), rng)
        return None if values is None else DenseArray(values, value.element)
    if isinstance(value, DenseElements):
        array = np.array(value.array)
        if not array.size or array.dtype.kind != "i":
            return None
        array.reshape(-1)[rng.randrange(array.size)] += step
        return DenseElements(value.type, array)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        name = rng.choice([f.name for f in dataclasses.fields(value)])
        part = getattr(value, name)
        if isinstance(part, tuple):
            values = _changed_list(list(part), rng)
            return None if values is None else dataclasses.replace(value, **{name: tuple(values)})
        if isinstance(part, int) and not isinstance(part, bool):
            return dataclasses.replace(value, **{name: part + step})
    return None


def _changed_list(values: list[Any], rng: random.Random) -> list[Any] | None:
    if not values:
        return [0]
    if not all(isinstance(v, int) for v in values):
        return None
    i, kind = rng.randrange(len(values)), rng.randrange(3)
    if isinstance(values[i], bool):
        values[i] = not values[i]
    elif kind == 0:
        values[i] += rng.choice([-1, 1, -9, 9])
    elif kind == 1:
        values.append(values[i])
    else:
        del values[i]
    return values


def _dropped_attribute(op: Op, arguments: list[Any], rng: random.Random) -> str | None:
    if not op.attributes:
        return None
    name = rng.choice(sorted(op.attributes))
    del op.attributes[name]
    return f"without {name}"


def _other_count(op: Op, arguments: list[Any], rng: random.Random) -> str | None:
    if not op.operands:
        return None
    if rng.randrange(2):
        del op.operands[rng.randrange(len(op.operands))]
        return "an operand less"
    op.operands.append(rng.choice(op.operands))
    return "an operand more"


_CHANGES = {
    "operand": _operand,
    "operand again": _operand,
    "result": _result,
    "block argument": _block_argument,
    "attribute": _attribute,
    "attribute again": _attribute,
    "dropped attribute": _dropped_attribute,
    "count": _other_count,
}


def judge(count: int, seed: int) -> list[Mutant]:
    """Makes mutants, in this process, and asks both verifiers."""
    from jax._src.interpreters import mlir as jax_mlir
    from jaxlib.mlir import ir

    context = jax_mlir.make_ir_context()
    context.allow_unregistered_dialects = True

    def theirs(text: str) -> list[str] | None:
        with context:
            try:
                ir.Module.parse(text)
            except ir.MLIRError as error:
                return [d.message for d in error.error_diagnostics]
        return None

    def ours(text: str) -> str | None:
        try:
            verify(parse_text(text))
        except XlaError as error:
            return error.message
        return None

    rng = random.Random(seed)
    sources = {name: text for name, text in programs().items() if theirs(text) is None}
    made: list[Mutant] = []
    while len(made) < count:
        name = rng.choice(sorted(sources))
        mutant = make(sources[name], name, rng)
        if mutant is not None:
            text = write_text(mutant[0], generic=True)
            made.append(Mutant(name, mutant[1], text, theirs(text), ours(text)))
    return made


def judge_apart(count: int, seed: int, chunk: int = 100) -> list[Mutant]:
    """As `judge`, in children."""
    made: list[Mutant] = []
    for number in range(0, count, chunk):
        command = [sys.executable, "-m", __spec__.name if __spec__ else __name__, "--child"]
        command += ["--mutants", str(chunk), "--seed", str(seed * 100_000 + number)]
        root = Path(__file__).resolve().parents[4]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=root, timeout=300, env={**os.environ, "JAX_PLATFORMS": "cpu"}
        )
        if done.returncode > 0:
            raise RuntimeError(done.stderr[-2000:])
        if done.returncode == 0:
            made += [Mutant(**entry) for entry in json.loads(done.stdout)]
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", action="store_true", help="for this module itself: JSON to stdout")
    options = parser.parse_args()
    if options.child:
        json.dump([dataclasses.asdict(m) for m in judge(options.mutants, options.seed)], sys.stdout)
        return
    made = judge_apart(options.mutants, options.seed)
    for mutant in made:
        if mutant.verdict not in ("accepted", "same words"):
            print(f"{mutant.verdict}: {mutant.op}, {mutant.change}\n  {mutant.theirs}\n  {mutant.ours}")
    print(dict(collections.Counter(m.verdict for m in made)))


if __name__ == "__main__":
    main()
