"""top_k, scan and ragged_dot of CHLO."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.contraction import group_axes
from xla_core.hlo.table.opcode import Opcode
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import LoweringContext
from xla_core.stablehlo.ops.common import FALSE, INDEX, PRECISION, OneOp, fields_of, ints, tensor
from xla_core.stablehlo.ops.contraction import check_dot_dimensions, check_result_shape, dot_attributes
from xla_core.stablehlo.ops.dimension_lists import check_disjoint
from xla_core.stablehlo.table.op_table import Arity, Attribute, Kind, OpGroup, Trait, Values
from xla_core.stablehlo.table.type_constraints import ANY_TENSOR, INTEGER
from xla_core.stablehlo.verify.attribute_constraints import attribute_problem
from xla_core.stablehlo.verify.compatibility import compatible, compatible_dimensions, list_text

define = OpGroup("chlo_structured").define

# -- top_k -----------------------------------------------------------------------------------------------------------


def _top_k_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    operand, k = op.operands[0].type, int(op.attributes["k"])
    if not isinstance(operand, ir.TensorType):
        return [operand, ir.unranked("i32")]
    if operand.rank < 1:
        op.fail("operand's rank must be at least 1")
    if operand.shape[-1] != ir.DYNAMIC and operand.shape[-1] < k:
        op.fail(f"operand's last dimension must be at least {k}")
    shape, bounds = (*operand.shape[:-1], k), (*operand.bounds[:-1], None) if any(operand.bounds[:-1]) else ()
    return [ir.TensorType(shape, operand.element, bounds), ir.TensorType(shape, "i32", bounds)]


define(
    "chlo.top_k",
    "operand",
    (Values("values", ANY_TENSOR), Values("indices", ANY_TENSOR)),
    rule=_top_k_rule,
    lower=OneOp(Opcode.TOPK, "k"),
    attributes={"k": Attribute(Kind.INT, minimum=0), "is_stable": Attribute(Kind.BOOL, True, since=2)},
    assembly="( % , k = k:int (? , is_stable = is_stable:bool ?) ) attr-dict : :arrow:",
    doc=(
        "The `k` largest elements of each row of the last dimension, in descending order, and their positions. Among "
        "equal elements, the first ones are taken. NaN counts as the largest."
    ),
)


# -- scan ------------------------------------------------------------------------------------------------------------

_SEGMENTS = Attribute(Kind.INT32S)


def _scan_segments(op: ir.Op, kind: str, count: int) -> tuple[int, int]:
    """Returns how many operands are inputs and how many carries; of results, how many are outputs and carries.

    `kind` is `operand` or `result`, and `count` is their number.
    """
    names = (f"{kind}SegmentSizes", f"{kind}_segment_sizes")
    for name in names:
        given = op.attributes.get(name)
        problem = None if given is None else attribute_problem(name, _SEGMENTS, given)
        if problem is not None:
            op.fail(problem)
    segments = ints(op, names[0]) or ints(op, names[1])
    if len(segments) != 2 or sum(segments) != count:
        op.fail(
            f"{kind} count ({count}) does not match with the total size ({sum(segments)}) specified in "
            f"attribute '{kind}SegmentSizes'"
        )
    return segments[0], segments[1]


def _check_scan_inputs(op: ir.Op, inputs: int) -> int:
    """Checks that the scanned dimension exists in all inputs and has one size; returns that size."""
    dim, given = int(op.attributes["dimension"]), op.attributes.get("scan_dim_size")
    length = ir.DYNAMIC if given is None else int(given)
    for i, type in enumerate(operand.type for operand in op.operands[:inputs]):
        if not isinstance(type, ir.TensorType):
            op.fail(f"operand {i} is not ranked")
        if dim >= type.rank:
            op.fail(f"scan dimension of operand {i} is out of bounds")
        if not compatible_dimensions(length, type.shape[dim]):
            op.fail(f"invalid scan dimension size of operand {i}")
        length = max(length, type.shape[dim])
    return length


def _scan_results(op: ir.Op, carries: int, length: int) -> list[ir.Type]:
    """Infers the result types from the region's results.

    An output gains the scanned dimension; a carry keeps its shape. Element types are taken from the declared results.
    """
    returned, dim = [v.type for v in op.regions[0].block.ops[-1].operands], int(op.attributes["dimension"])
    if len(returned) < carries:
        op.fail(f"ScanOp body must return at least {carries} values (carries)")
    declared = [r.type for r in op.results] if len(op.results) == len(returned) else returned
    results: list[ir.Type] = []
    for i, (part, type) in enumerate(zip(returned, declared, strict=True)):
        if not isinstance(part, ir.TensorType):
            op.fail(f"terminator operand {i} is not ranked")
        is_output = i < len(returned) - carries
        if is_output and dim > part.rank:
            op.fail(f"scan dimension of output {i} is out of bounds")
        shape = (*part.shape[:dim], length, *part.shape[dim:]) if is_output else part.shape
        results.append(ir.TensorType(shape, type.element if isinstance(type, ir.TensorType) else part.element))
    return results


def _scan_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type]:
    inputs, carries = _scan_segments(op, "operand", len(op.operands))
    _scan_segments(op, "result", len(op.results))
    if not inputs and len(op.results) == carries:
        op.fail("at least one of inputs or outputs must be present")
    dim, block, length = int(op.attributes["dimension"]), op.regions[0].block, _check_scan_inputs(op, inputs)
    if len(block.arguments) != len(op.operands):
        op.fail(f"expects {len(op.operands)} arguments in the body, but got {len(block.arguments)}")
    for i, (argument, operand) in enumerate(zip(block.arguments, op.operands, strict=True)):
        type = operand.type
        if not isinstance(type, ir.TensorType):
            op.fail(f"operand {i} is not ranked")
        if i < inputs:
            type = ir.TensorType((*type.shape[:dim], *type.shape[dim + 1 :]), type.element)
        if not compatible(type, argument.type):
            op.fail(f"operand and body argument {i} are incompatible")
    return _scan_results(op, carries, length)


def _lower_scan(ctx: LoweringContext, op: ir.Op, *operands: HloInstruction) -> Sequence[HloInstruction]:
    """HLO `scan`."""
    _, carries = _scan_segments(op, "operand", len(op.operands))
    flags: dict[str, Any] = {name: True for name in ("is_reverse", "is_associative") if op.attributes.get(name)}
    made = ctx.add(
        Opcode.SCAN,
        *operands,
        shape=ctx.result_shape(op),
        dimensions=(int(op.attributes["dimension"]),),
        num_carries=carries,
        to_apply=ctx.region(op.regions[0], "scan_step"),
        **flags,
    )
    return ctx.results(made, op)


define(
    "chlo.scan",
    (Values("inputs", ANY_TENSOR, Arity.VARIADIC), Values("inits", ANY_TENSOR, Arity.VARIADIC)),
    (Values("outputs", ANY_TENSOR, Arity.VARIADIC), Values("carries", ANY_TENSOR, Arity.VARIADIC)),
    rule=_scan_rule,
    lower=_lower_scan,
    regions=1,
    traits=(Trait.ISOLATED_REGIONS, Trait.SEGMENTED),
    attributes={
        "dimension": INDEX,
        "scan_dim_size": Attribute(Kind.INT, None, minimum=0, since=2),
        "is_reverse": FALSE,
        "is_associative": Attribute(Kind.BOOL, None),
    },
    assembly="<scan>",
    doc=(
        "Runs the region along `dimension`: it takes a slice of each input and the carries, and returns a slice of "
        "each output and the next carries. The outputs are stacked; the last carries are results too. `scan_dim_size` "
        "is the number of steps, which is needed where there are no inputs."
    ),
)


# -- ragged_dot ------------------------------------------------------------------------------------------------------


def _ragged_dot_rule(op: ir.Op, module: ir.Module) -> Sequence[ir.Type] | None:
    lhs, rhs, groups = (tensor(op, i) for i in range(3))
    dims: ir.RaggedDotDimensionNumbers = op.attributes["ragged_dot_dimension_numbers"]
    check_dot_dimensions(op, lhs, rhs, dims)
    if len(dims.lhs_ragged_dimensions) != 1:
        op.fail("There must be exactly one ragged dimension in the lhs.")
    ragged = dims.lhs_ragged_dimensions[0]
    if not 0 <= ragged < lhs.rank:
        op.fail(f"Expects lhs_ragged_dim to be in range [0, lhs_rank) i.e. [0, {lhs.rank}). got: {ragged}.")
    _check_group_sizes(op, lhs, groups, dims)
    _check_group_dimensions(op, rhs, groups, dims)
    contract = dims.lhs_contracting_dimensions
    taken = {*dims.rhs_batching_dimensions, *dims.rhs_contracting_dimensions, *dims.rhs_group_dimensions}
    sizes = [lhs.shape[d] for d in dims.lhs_batching_dimensions]
    sizes += [n for d, n in enumerate(lhs.shape) if d not in dims.lhs_batching_dimensions and d not in contract]
    sizes += [n for d, n in enumerate(rhs.shape) if d not in taken]
    if ragged in contract:
        sizes.insert(0, groups.shape[-1])
    return check_result_shape(op, sizes, op.results[0].type)


def _check_group_sizes(
    op: ir.Op, lhs: ir.TensorType, groups: ir.TensorType, dims: ir.RaggedDotDimensionNumbers
) -> None:
    """Checks the shape of group_sizes: [groups], or the sizes of the dimensions before the ragged one, then groups."""
    if groups.rank == 1:
        return
    prefix = [lhs.shape[d] for d in group_axes(fields_of(dims), lhs.rank)]
    if groups.rank != len(prefix) + 1:
        op.fail(f"expected group_sizes to have rank {len(prefix) + 1}, got {groups.rank}")
    if list(groups.shape[:-1]) != prefix:
        op.fail(
            f"group_sizes is expected to have shape [{list_text([*prefix, groups.shape[-1]])}], got "
            f"[{list_text(groups.shape)}]"
        )


def _check_group_dimensions(
    op: ir.Op, rhs: ir.TensorType, groups: ir.TensorType, dims: ir.RaggedDotDimensionNumbers
) -> None:
    """Checks that rhs has one group dimension if the ragged dimension is an lhs row dimension, and otherwise none."""
    ragged, group_dims = dims.lhs_ragged_dimensions[0], dims.rhs_group_dimensions
    for dim in group_dims:
        if not 0 <= dim < rhs.rank:
            op.fail(f"Expects rhs_group_dim to be in range [0, rhs_rank) i.e. [0, {rhs.rank}). got: {dim}.")
    for name in ("rhs_batching_dimensions", "rhs_contracting_dimensions"):
        check_disjoint(op, "rhs_group_dimensions", group_dims, name, getattr(dims, name))
    if ragged in dims.lhs_batching_dimensions or ragged in dims.lhs_contracting_dimensions:
        if group_dims:
            op.fail("There must be zero group dimensions in the rhs when the ragged dimension is batch or contracting.")
        return
    if len(group_dims) != 1:
        op.fail(
            "There must be exactly one group dimension in the rhs when the lhs ragged dimension is non-contracting."
        )
    if not compatible_dimensions(groups.shape[-1], rhs.shape[group_dims[0]]):
        op.fail(f"rhs group dimension is expected to have size={groups.shape[-1]}, got {rhs.shape[group_dims[0]]}")


def _lower_ragged_dot(
    ctx: LoweringContext, op: ir.Op, lhs: HloInstruction, rhs: HloInstruction, groups: HloInstruction
) -> HloInstruction:
    """HLO `ragged-dot`."""
    numbers = fields_of(op.attributes["ragged_dot_dimension_numbers"])
    return ctx.add(Opcode.RAGGED_DOT, lhs, rhs, groups, shape=ctx.result_shape(op), **numbers, **dot_attributes(op))


define(
    "chlo.ragged_dot",
    (Values("lhs", ANY_TENSOR), Values("rhs", ANY_TENSOR), Values("group_sizes", INTEGER)),
    rule=_ragged_dot_rule,
    lower=_lower_ragged_dot,
    attributes={
        "ragged_dot_dimension_numbers": Attribute(Kind.STRUCT, classes=(ir.RaggedDotDimensionNumbers,)),
        "precision_config": PRECISION,
    },
    doc=(
        "A dot of groups. `group_sizes` says how many rows of lhs (or of the contracted dimension) belong to each "
        "group. The rows of a group are multiplied with the group's own slice of rhs."
    ),
)
