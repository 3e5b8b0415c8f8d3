"""Replaces the ops of StableHLO's interpreter that look at values: `check.*`, `interpreter.probe`, `interpreter.print`.

Here they are called instruments. Calls of functions with instruments are inlined, and the instruments are removed or
become custom calls that record their operands (`recording`). A number orders the records; a while loop carries it, and
an if or a case returns it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np

from xla_conformance.stablehlo.recording import ORDER, Recording
from xla_core.errors import UnimplementedError
from xla_core.stablehlo import Block, DenseElements, FunctionType, Module, Op, Region, Value

_CALLS = {"func.call": "callee", "call": "callee", "stablehlo.composite": "decomposition"}
"""Ops that run a function, and the attribute that names it."""

_BRANCHES = ("stablehlo.if", "stablehlo.case")


def is_instrument(op: Op) -> bool:
    return op.name in ("interpreter.probe", "interpreter.print") or is_check(op)


def is_check(op: Op) -> bool:
    """Whether the op compares values; it may be a custom call."""
    return op.name.startswith("check.") or (
        op.name == "stablehlo.custom_call" and str(op.attributes.get("call_target_name", "")).startswith("check.")
    )


def nests_instruments(op: Op) -> bool:
    """Whether the op's regions have an instrument."""
    return bool(op.regions) and any(is_instrument(inner) for inner in op.walk() if inner is not op)


# -- inlining ---------------------------------------------------------------------------------------------------------


def inlined(module: Module, block: Block) -> list[Op]:
    """Copies of a block's ops, with calls of functions that have instruments inlined."""
    return _copied(module, block.ops, {}, ())


def _callee(module: Module, op: Op) -> Block | None:
    """The body of the function that an op calls."""
    function = module.functions.get(str(op.attributes.get(_CALLS[op.name]))) if op.name in _CALLS else None
    return function.regions[0].block if function is not None and function.regions[0].blocks else None


def _has_instruments(module: Module, block: Block, seen: set[Block]) -> bool:
    """Whether the block, or a function that it calls, has an instrument."""
    seen.add(block)
    for op in (inner for outer in block.ops for inner in outer.walk()):
        callee = _callee(module, op)
        if is_instrument(op) or (callee is not None and callee not in seen and _has_instruments(module, callee, seen)):
            return True
    return False


def _copied(module: Module, ops: Iterable[Op], values: dict[Value, Value], callers: tuple[Block, ...]) -> list[Op]:
    """Copies the ops, with operands replaced as in `values`, and adds the new results to `values`."""
    made: list[Op] = []
    for op in ops:
        operands = [values.get(v, v) for v in op.operands]
        callee = _callee(module, op)
        if callee is not None and callee not in callers and _has_instruments(module, callee, set()):
            inner = dict(zip(callee.arguments, operands, strict=True))
            *body, end = _copied(module, callee.ops, inner, (*callers, callee))
            made += body
            values.update(zip(op.results, end.operands, strict=True))
            continue
        regions = [Region([_copied_block(module, b, values, callers) for b in r.blocks]) for r in op.regions]
        copy = Op(op.name, operands, [r.type for r in op.results], op.attributes, regions, op.location)
        _rename(op.results, copy.results, values)
        made.append(copy)
    return made


def _copied_block(module: Module, block: Block, values: dict[Value, Value], callers: tuple[Block, ...]) -> Block:
    made = Block([a.type for a in block.arguments])
    _rename(block.arguments, made.arguments, values)
    made.ops = _copied(module, block.ops, values, callers)
    return made


def _rename(olds: list[Value], news: list[Value], values: dict[Value, Value]) -> None:
    for old, new in zip(olds, news, strict=True):
        new.name = old.name
        values[old] = new


# -- what is run ------------------------------------------------------------------------------------------------------


def identities(op: Op) -> list[Op]:
    """Ops that define the results of an instrument as its operands."""
    made = []
    for result, operand in zip(op.results, op.operands, strict=False):
        barrier = Op("stablehlo.optimization_barrier", [operand], [operand.type])
        barrier.results = [result]
        made.append(barrier)
    return made


def without(ops: Iterable[Op]) -> list[Op]:
    """The ops without instruments, in regions too."""
    made: list[Op] = []
    for op in ops:
        if is_instrument(op):
            made += identities(op)
        elif nests_instruments(op):
            made.append(_with_blocks(op, [_block(r.block.arguments, without(r.block.ops)) for r in op.regions]))
        else:
            made.append(op)
    return made


def start() -> Op:
    """An op whose result is the order before the first record."""
    return Op("stablehlo.constant", [], [ORDER], {"value": DenseElements(ORDER, np.zeros((), np.int32))})


def recorded(ops: Iterable[Op], recording: Recording, order: Value) -> tuple[list[Op], Value]:
    """The ops with instruments replaced by records, in regions too, and the order after them.

    Raises:
        UnimplementedError: an instrument is in the region of an op other than while, if and case.
    """
    made: list[Op] = []
    for op in ops:
        if is_instrument(op):
            call = recording.call(op, order)
            (order,) = call.results
            made += [call, *identities(op)]
        elif nests_instruments(op):
            made.append(_control_flow(op, recording, order))
            order = made[-1].results[-1]
        else:
            made.append(op)
    return made, order


def _control_flow(op: Op, recording: Recording, order: Value) -> Op:
    """Returns a while, if or case with the order after it as an additional result."""
    if op.name == "stablehlo.while":
        condition, body = (region.block for region in op.regions)
        blocks = [_carrying(condition, recording, returns=False), _carrying(body, recording, returns=True)]
        made = _with_blocks(op, blocks, [*op.operands, order])
    elif op.name in _BRANCHES:
        made = _with_blocks(op, [_ended(r.block.arguments, r.block.ops, recording, order) for r in op.regions])
    else:
        inner = next(inner for inner in op.walk() if is_instrument(inner))
        raise UnimplementedError(
            f"{inner.name} inside {op.name}: an implementation may run its region in any order and number",
            op=inner.name,
            location=inner.location,
            hint="look at values in functions, while, if and case",
        )
    made.results.append(Value(ORDER, made, len(op.results)))
    return made


def _carrying(block: Block, recording: Recording, *, returns: bool) -> Block:
    """A block of a while with the order as its last argument. The condition doesn't return the order."""
    order = Value(ORDER, block, len(block.arguments))
    arguments = [*block.arguments, order]
    if returns:
        return _ended(arguments, block.ops, recording, order)
    return _block(arguments, recorded(block.ops, recording, order)[0])


def _ended(arguments: list[Value], ops: list[Op], recording: Recording, order: Value) -> Block:
    """A block with records that returns the order as its last result."""
    (*made, end), order = recorded(ops, recording, order)
    return _block(arguments, [*made, Op(end.name, [*end.operands, order], [], end.attributes, location=end.location)])


def _block(arguments: list[Value], ops: list[Op]) -> Block:
    made = Block()
    made.arguments, made.ops = arguments, ops
    return made


def _with_blocks(op: Op, blocks: list[Block], operands: list[Value] | None = None) -> Op:
    """The op with other regions, and with the op's results."""
    regions = [Region([block]) for block in blocks]
    made = Op(op.name, op.operands if operands is None else operands, [], op.attributes, regions, op.location)
    made.results = list(op.results)
    return made


# -- functions --------------------------------------------------------------------------------------------------------


def plain(module: Module, recording: Recording | None = None, names: Iterable[str] = ()) -> Module:
    """The module's functions without instruments, and those of `names` with them, which record the values of their
    operands.

    The latter have one more result, the order after all records. Once it is known, everything is recorded.
    """
    bodies = {n: f.regions[0].block for n, f in module.functions.items() if f.regions and f.regions[0].blocks}
    looking = {n for n, block in bodies.items() if _has_instruments(module, block, set())}
    made = {n: f for n, f in module.functions.items() if n not in looking}
    if recording is not None:
        for name in looking.intersection(names):
            made[name] = _recording_function(module.functions[name], inlined(module, bodies[name]), recording)
    return dataclasses.replace(module, functions=made)


def _recording_function(function: Op, ops: list[Op], recording: Recording) -> Op:
    zero = start()
    body = _ended(function.regions[0].block.arguments, ops, recording, zero.results[0])
    body.ops.insert(0, zero)
    type = function.attributes["function_type"]
    attributes = {k: v for k, v in function.attributes.items() if k != "res_attrs"}
    attributes["function_type"] = FunctionType(type.inputs, (*type.results, ORDER))
    return Op(function.name, [], [], attributes, [Region([body])], function.location)
