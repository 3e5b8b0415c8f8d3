"""The StableHLO verifier: checks every op of a module against the op table.

The checks run in MLIR's order, so that a program with several errors gets the same message. For each op, the verifier
first checks the requirements of every op (a known name, the numbers of regions, results and operands, attributes,
types, regions with one block and a terminator), and then runs the op's rule. Next it checks the ops in the regions, and
then the declared result types against the inferred ones. References to symbols are checked last, for the whole module.
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.errors import InternalError, XlaError
from xla_core.stablehlo import ir
from xla_core.stablehlo.ir.quantized_types import quantized_hint
from xla_core.stablehlo.table import op_table
from xla_core.stablehlo.table.op_table import REQUIRED, Arity, OpDef, Rule, Trait, Values
from xla_core.stablehlo.verify.attribute_constraints import attribute_problem
from xla_core.stablehlo.verify.compatibility import compatible, fail_inferred, types_text
from xla_core.stablehlo.verify.type_traits import check_type_traits

_DIALECTS = ("stablehlo.", "chlo.")


def verify(module: ir.Module) -> None:
    """Checks a module. Raises InvalidArgumentError (or UnimplementedError for an unknown op) at the first wrong op.

    Unknown ops of other dialects are accepted here; the lowering raises an error if it reaches one.
    """
    ir.require_module(module)
    users: list[tuple[ir.Op, Rule]] = []
    for function in module.functions.values():
        type = function.attributes.get("function_type")
        if isinstance(type, ir.FunctionType) and function.regions and function.regions[0].blocks:
            _verify_head(function, type)
            _verify_nested(function, module, users)
            _verify_return(function, type)
            _check_definitions(function)
    for op in module.others:
        _verify_nested(op, module, users)
    for op, rule in users:
        _run(rule, op, module)


def verify_op(op: ir.Op, definition: OpDef, module: ir.Module) -> None:
    """Checks one op without regions against its entry in the table, as `verify` does."""
    _verify_exit(op, definition, _verify_entrance(op, definition, module), module)


def _verify_nested(root: ir.Op, module: ir.Module, users: list[tuple[ir.Op, Rule]]) -> None:
    """Verifies every op in the regions of `root`, and adds ops that refer to symbols to `users`.

    An op with regions is visited twice: before the ops in its regions and after them.
    """
    ops, known = op_table.OPS, op_table.OPS.keys()
    stack = _inner(root)
    rest: list[tuple[ir.Op, OpDef, Sequence[ir.Type] | None]] = []
    while stack:
        op = stack.pop()
        if op is None:
            _verify_exit(*rest.pop(), module)
            continue
        if op.name not in known:
            if op.name.startswith(_DIALECTS):
                op_table.lookup(op)
            stack += _inner(op)
            continue
        definition = ops[op.name]
        inferred = _verify_entrance(op, definition, module)
        if definition.symbols is not None:
            users.append((op, definition.symbols))
        if not op.regions:
            _verify_exit(op, definition, inferred, module)
            continue
        rest.append((op, definition, inferred))
        stack.append(None)
        stack += _inner(op)


def _inner(op: ir.Op) -> list[ir.Op | None]:
    """Returns the ops directly in an op's regions in reverse order."""
    return [
        inner for region in reversed(op.regions) for block in reversed(region.blocks) for inner in reversed(block.ops)
    ]


def _verify_head(function: ir.Op, type: ir.FunctionType) -> None:
    for t in (*type.inputs, *type.results):
        _check_bounds(function, t)
    block = function.regions[0].blocks[0]
    if tuple(a.type for a in block.arguments) != type.inputs:
        function.fail(f"entry block arguments {types_text([a.type for a in block.arguments])} must match the signature")
    if not block.ops:
        function.fail("empty block: expect at least a terminator, func.return")
    _check_terminator(block.ops[-1], "func.return")
    _check_order(block)


def _check_terminator(last: ir.Op, wanted: str) -> None:
    definition = op_table.OPS.get(last.name)
    if definition is None or Trait.TERMINATOR not in definition.traits:
        last.fail(f"block with no terminator, has {last.name}; it must end with {wanted}")


def _verify_return(function: ir.Op, type: ir.FunctionType) -> None:
    end = function.regions[0].blocks[0].ops[-1]
    if end.name == "stablehlo.return":
        return
    name = f"@{function.attributes.get('sym_name', '')}"
    if len(end.operands) != len(type.results):
        end.fail(f"has {len(end.operands)} operands, but enclosing function ({name}) returns {len(type.results)}")
    for i, (value, declared) in enumerate(zip(end.operands, type.results, strict=True)):
        if value.type != declared:
            end.fail(
                f"type of return operand {i} ('{value.type}') doesn't match function result type ('{declared}') in "
                f"function {name}"
            )


def _check_definitions(function: ir.Op) -> None:
    """Checks that every value is defined before its use, in the same block or an enclosing one.

    The readers check this too.
    """
    defined: set[ir.Value] = set()
    stack: list[ir.Op | tuple[bool, Sequence[ir.Value]]] = [function]  # True: define the values; False: remove
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            is_defined, values = item
            (defined.update if is_defined else defined.difference_update)(values)
            continue
        for i, operand in enumerate(item.operands):
            if operand not in defined:
                item.fail(f"operand #{i} does not dominate this use", hint="an op that defines it must come before")
        if not item.regions:
            defined.update(item.results)
            continue
        stack.append((True, item.results))
        for region in reversed(item.regions):
            for block in reversed(region.blocks):
                inside = [*block.arguments, *(result for op in block.ops for result in op.results)]
                stack += [(False, inside), *reversed(block.ops), (True, block.arguments)]


def _check_order(block: ir.Block) -> None:
    for op in block.ops[:-1]:
        definition = op_table.OPS.get(op.name)
        if definition is not None and Trait.TERMINATOR in definition.traits:
            op.fail("must be the last operation in the parent block")


def _check_bounds(op: ir.Op, type: ir.Type) -> None:
    if isinstance(type, ir.TensorType) and (problem := ir.bounds_problem(type)) is not None:
        op.fail(problem)


def _verify_entrance(op: ir.Op, definition: OpDef, module: ir.Module) -> Sequence[ir.Type] | None:
    """Checks the properties of an op that don't depend on the ops in its regions.

    Returns the result types that the rule infers, or None if it infers none or needs the regions to be verified first.
    """
    if op.regions or definition.regions:
        _check_region_count(op, definition)
    _check_count(op, definition.result_count, len(op.results), "result")
    _check_count(op, definition.operand_count, len(op.operands), "operand")
    if definition.attributes:
        _check_attributes(op, definition)
    _check_values(op, definition.operands, definition.operand_count, [o.type for o in op.operands], "operand")
    _check_values(op, definition.results, definition.result_count, [r.type for r in op.results], "result")
    for i, region in enumerate(op.regions):
        _check_region(op, i, region)
    if definition.type_traits:
        check_type_traits(op, definition)
    return None if Trait.INFERRED_FROM_REGIONS in definition.traits else _run(definition.rule, op, module)


def _verify_exit(op: ir.Op, definition: OpDef, inferred: Sequence[ir.Type] | None, module: ir.Module) -> None:
    """Checks the properties that depend on the ops in the regions: isolation and the inferred result types."""
    if Trait.ISOLATED_REGIONS in definition.traits:
        for region in op.regions:
            _check_isolation(region)
    if Trait.INFERRED_FROM_REGIONS in definition.traits:
        inferred = _run(definition.rule, op, module)
    if inferred is not None:
        _check_inferred(op, inferred)


def _run(rule: Rule, op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    try:
        return rule(op, module)
    except XlaError as error:
        error.op, error.location = error.op or op.name, error.location or op.location
        raise
    except (LookupError, TypeError, ValueError, AttributeError, AssertionError, ArithmeticError) as error:
        raise InternalError(
            f"the rule of '{op.name}' failed with {type(error).__name__}: {error}",
            op=op.name,
            location=op.location,
            hint="this is a bug of xla-core: report it with the program",
        ) from error


def _check_inferred(op: ir.Op, inferred: Sequence[ir.Type]) -> None:
    if len(inferred) == len(op.results):
        for a, r in zip(inferred, op.results, strict=True):
            if a is not r.type and a != r.type and (isinstance(a, ir.TupleType) or not compatible(a, r.type)):
                break
        else:
            return
    fail_inferred(op, types_text(inferred))


# -- operands and results --------------------------------------------------------------------------------------------


def _check_count(op: ir.Op, count: tuple[int, int | None], given: int, what: str) -> None:
    least, most = count
    if given < least or (most is not None and given > most):
        op.fail(_miscounted(least, most, given, what))


def _check_values(
    op: ir.Op, values: Sequence[Values], count: tuple[int, int | None], types: Sequence[ir.Type], what: str
) -> None:
    given = len(types)
    if given == len(values) and count[1] is not None:
        constraints: Sequence[Values] = values
    else:
        constraints = _spread(values, given)
    for index, (value, type) in enumerate(zip(constraints, types, strict=False)):
        if not value.types.accepts(type):
            run = "variadic of " if value.arity is Arity.VARIADIC else ""
            hint = quantized_hint(type)
            op.fail(f"{what} #{index} must be {run}{value.types}, but got '{type}'", hint=hint)


def _miscounted(least: int, most: int | None, given: int, what: str) -> str:
    if least == most == 1:
        return "requires a single operand" if what == "operand" else "requires one result"
    if least == most == 0:
        return f"requires zero {what}s"
    expected = f"{least} or more" if most is None else str(least) if least == most else f"{least} to {most}"
    return f"expected {expected} {what}s, but found {given}"


def _spread(values: Sequence[Values], given: int) -> list[Values]:
    """Returns the constraint of each of the `given` values. All variadic entries get the same number of values."""
    runs = sum(v.arity is not Arity.ONE for v in values)
    length = (given - len(values) + runs) // runs if runs else 0
    return [value for value in values for _ in range(1 if value.arity is Arity.ONE else length)]


# -- attributes ------------------------------------------------------------------------------------------------------


def _check_attributes(op: ir.Op, definition: OpDef) -> None:
    for name, attribute in sorted(definition.attributes.items()):
        if attribute.default is REQUIRED and op.attributes.get(name) is None:
            op.fail(f"requires attribute '{name}'")
    for name, attribute in definition.attributes.items():
        value = op.attributes.get(name)
        problem = None if value is None else attribute_problem(name, attribute, value)
        if problem is not None:
            op.fail(problem)


# -- regions ---------------------------------------------------------------------------------------------------------


def _check_region_count(op: ir.Op, definition: OpDef) -> None:
    if definition.regions in (None, len(op.regions)):
        return
    wanted = {0: "requires zero regions", 1: "requires one region"}
    op.fail(wanted.get(definition.regions or 0, f"expected {definition.regions} regions"))


def _check_region(op: ir.Op, index: int, region: ir.Region) -> None:
    if len(region.blocks) != 1:
        op.fail(f"region #{index} failed to verify constraint: region with 1 blocks")
    ops = region.blocks[0].ops
    if not ops:
        op.fail(f"expects a non-empty block: region #{index} must end with stablehlo.return")
    _check_terminator(ops[-1], "stablehlo.return")
    if ops[-1].name == "func.return":
        ops[-1].fail("expects parent op 'func.func'")
    _check_order(region.blocks[0])


def _check_isolation(region: ir.Region) -> None:
    """Checks that the ops of a region use only values that are defined in it."""
    inside: set[ir.Value] = set()
    used: list[tuple[ir.Op, ir.Value]] = []
    regions = [region]
    while regions:
        for block in regions.pop().blocks:
            inside.update(block.arguments)
            for op in block.ops:
                inside.update(op.results)
                used += [(op, value) for value in op.operands]
                regions += op.regions
    for op, value in used:
        if value not in inside:
            op.fail("using value defined outside the region")
