"""The StableHLO verifier: what the op table says holds for every op of a module.

First what is the same for every op (known name, numbers and types of operands and results, attributes, regions with
one block and a terminator), then the op's own rule, then the inferred result types against the declared ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.errors import InvalidArgumentError, XlaError
from xla_core.stablehlo import ir, op_table
from xla_core.stablehlo.agreement import check_agreement
from xla_core.stablehlo.attribute_constraints import attribute_problem
from xla_core.stablehlo.compatibility import compatible, fail, types_text
from xla_core.stablehlo.op_table import REQUIRED, Arity, OpDef, Trait, Values

__all__ = ["verify", "verify_op"]

_DIALECTS = ("stablehlo.", "chlo.")


def verify(module: ir.Module) -> None:
    """Checks a module. Raises InvalidArgumentError (or UnimplementedError for an unknown op) at the first wrong op.

    Ops of other dialects are accepted: what nobody knows is an error of the lowering, if it is reached.
    """
    for function in module.functions.values():
        _verify_function(function)
    for op in module.walk():
        if op.name in op_table.OPS or op.name.startswith(_DIALECTS):
            verify_op(op, module)


def _verify_function(function: ir.Op) -> None:
    type = function.attributes.get("function_type")
    if not isinstance(type, ir.FunctionType) or not function.regions or not function.regions[0].blocks:
        return
    for t in (*type.inputs, *type.results):
        _check_bounds(function, t)
    block = function.regions[0].blocks[0]
    if tuple(a.type for a in block.arguments) != type.inputs:
        fail(
            function, f"entry block arguments {types_text([a.type for a in block.arguments])} must match the signature"
        )
    last = op_table.OPS.get(block.ops[-1].name) if block.ops else None
    if last is None or Trait.TERMINATOR not in last.traits:
        fail(function, "block must end with a terminator operation, func.return")
    _check_order(block)
    end = block.ops[-1]
    if end.name == "stablehlo.return":
        return
    if len(end.operands) != len(type.results):
        fail(end, f"has {len(end.operands)} operands, but enclosing function returns {len(type.results)}")
    for i, (value, declared) in enumerate(zip(end.operands, type.results, strict=True)):
        if value.type != declared:
            fail(end, f"type of return operand {i} ('{value.type}') doesn't match function result type ('{declared}')")


def _check_order(block: ir.Block) -> None:
    for op in block.ops[:-1]:
        definition = op_table.OPS.get(op.name)
        if definition is not None and Trait.TERMINATOR in definition.traits:
            fail(op, "must be the last operation in the parent block")


def _check_bounds(op: ir.Op, type: ir.Type) -> None:
    if not isinstance(type, ir.TensorType) or not type.bounds:
        return
    if len(type.bounds) != type.rank:
        fail(op, f"Bounds length is {len(type.bounds)}, expected to be equal to rank({type.rank}) of the tensor")
    for i, (size, bound) in enumerate(zip(type.shape, type.bounds, strict=True)):
        if size != ir.DYNAMIC and bound is not None:
            fail(op, f"Static dimension {i} cannot have a bound, use ShapedType::kDynamic to indicate a missing bound")


def verify_op(op: ir.Op, module: ir.Module) -> None:
    """Checks one op, not what is in its regions."""
    definition = op_table.OPS.get(op.name) or op_table.lookup(op)
    try:
        if definition.attributes:
            _check_attributes(op, definition)
        _check_values(op, definition.operands, definition.operand_count, [o.type for o in op.operands], "operand")
        _check_values(op, definition.results, definition.result_count, [r.type for r in op.results], "result")
        if op.regions or definition.regions:
            _check_regions(op, definition)
        if definition.agree:
            check_agreement(op, definition)
        inferred = definition.rule(op, module)
    except XlaError as error:
        error.location = error.location or op.location
        raise
    except (LookupError, TypeError, ValueError, AttributeError, AssertionError) as error:
        # A rule reads attributes whose parts may be anything: what it trips over is the program's fault.
        raise InvalidArgumentError(f"'{op.name}' op is not well formed: {error}", location=op.location) from error
    if inferred is not None:
        _check_inferred(op, inferred)


def _check_inferred(op: ir.Op, inferred: Sequence[ir.Type]) -> None:
    if len(inferred) == len(op.results):
        for a, r in zip(inferred, op.results, strict=True):
            if a is not r.type and not compatible(a, r.type):
                break
        else:
            return
    declared = types_text([r.type for r in op.results])
    fail(
        op,
        f"inferred type(s) {types_text(inferred)} are incompatible with return type(s) of operation {declared}",
    )


# -- operands and results --------------------------------------------------------------------------------------------


def _check_values(
    op: ir.Op, values: Sequence[Values], count: tuple[int, int | None], types: Sequence[ir.Type], what: str
) -> None:
    least, most = count
    given = len(types)
    if given < least or (most is not None and given > most):
        fail(op, _miscounted(least, most, given, what))
    if given == len(values) and most is not None:
        constraints: Sequence[Values] = values
    else:
        constraints = _spread(values, given)
    for index, (value, type) in enumerate(zip(constraints, types, strict=False)):
        if not value.types.accepts(type):
            run = "variadic of " if value.arity is Arity.VARIADIC else ""
            fail(op, f"{what} #{index} must be {run}{value.types}, but got '{type}'")


def _miscounted(least: int, most: int | None, given: int, what: str) -> str:
    if least == most == 1:
        return "requires a single operand" if what == "operand" else "requires one result"
    if least == most == 0:
        return f"requires zero {what}s"
    expected = f"{least} or more" if most is None else str(least) if least == most else f"{least} to {most}"
    return f"expected {expected} {what}s, but found {given}"


def _spread(values: Sequence[Values], given: int) -> list[Values]:
    """One entry a value: a single run takes what the others leave; of several runs, all take the first one's types."""
    single = [v for v in values if v.arity is Arity.ONE]
    runs = [v for v in values if v.arity is not Arity.ONE]
    if len(runs) != 1:
        return [v for v in values if v.arity is Arity.ONE] if not runs else []
    out: list[Values] = []
    for value in values:
        out += [value] if value.arity is Arity.ONE else [value] * (given - len(single))
    return out


# -- attributes ------------------------------------------------------------------------------------------------------


def _check_attributes(op: ir.Op, definition: OpDef) -> None:
    for name, attribute in definition.attributes.items():
        value = op.attributes.get(name)
        if value is None:
            if attribute.default is REQUIRED:
                fail(op, f"requires attribute '{name}'")
            continue
        problem = attribute_problem(name, attribute, value)
        if problem is not None:
            fail(op, problem)


# -- regions ---------------------------------------------------------------------------------------------------------


def _check_regions(op: ir.Op, definition: OpDef) -> None:
    if definition.regions is not None and len(op.regions) != definition.regions:
        one = definition.regions == 1
        fail(
            op, "requires one region" if one else f"expected {definition.regions} regions, but found {len(op.regions)}"
        )
    for i, region in enumerate(op.regions):
        if len(region.blocks) != 1:
            fail(op, f"region #{i} failed to verify constraint: region with 1 blocks")
        ops = region.blocks[0].ops
        last = op_table.OPS.get(ops[-1].name) if ops else None
        if last is None or Trait.TERMINATOR not in last.traits:
            fail(op, f"region #{i} must end with a terminator, stablehlo.return")
        _check_order(region.blocks[0])
