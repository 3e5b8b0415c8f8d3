"""Custom calls by which frontends write dynamic ops that StableHLO lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import not_constant

Operands = Sequence[ir.Value]


def static_op(op: ir.Op, operands: Operands, module: ir.Module) -> ir.Op | None:
    """Returns the static op that a custom call represents, or None for any other custom call.

    Raises UnimplementedError if a shape operand is not a constant, InvalidArgumentError for operands, results or
    attributes that the op can't have.
    """
    make = _OPS.get(str(op.attributes.get("call_target_name", "")))
    if make is not None:
        return make(op, operands, module)
    return _with_result_shapes(op, operands) if "indices_of_shape_operands" in op.attributes else None


def _sizes(op: ir.Op, value: ir.Value) -> np.ndarray:
    known = ir.constant_of(value)
    if known is None:
        raise not_constant(op, f"a shape operand of {op.attributes['call_target_name']}")
    return known


def _require(op: ir.Op, operands: Operands, count: int, results: int) -> None:
    if (len(operands), len(op.results)) != (count, results):
        op.fail(
            f"@{op.attributes['call_target_name']} takes {count} operands and gives {results} results, but has "
            f"{len(operands)} and {len(op.results)}"
        )


def _count(op: ir.Op, value: ir.Value) -> int:
    sizes = _sizes(op, value)
    if sizes.size != 1:
        op.fail(f"takes one number as k, not {sizes.size}")
    return int(sizes.item())


def _ints(op: ir.Op, value: ir.Value) -> ir.DenseArray:
    return ir.DenseArray((int(n) for n in _sizes(op, value).reshape(-1)), "i64")


def _reduce_window(op: ir.Op, operands: Operands, module: ir.Module) -> ir.Op:
    """Takes inputs, initial values, window dimensions, strides, base dilations, window dilations, padding."""
    _require(op, operands, 2 * len(op.results) + 5, len(op.results))
    *data, size, stride, base, dilation, padding = operands
    amounts = _sizes(op, padding)
    if amounts.size % 2:
        op.fail(f"takes pairs of numbers as padding, not {amounts.size} numbers")
    attributes = {
        "window_dimensions": _ints(op, size),
        "window_strides": _ints(op, stride),
        "base_dilations": _ints(op, base),
        "window_dilations": _ints(op, dilation),
        "padding": ir.dense(amounts.reshape(-1, 2)),
    }
    called = [module.functions.get(str(name)) for name in op.attributes.get("called_computations") or ()]
    body = called[0].regions[0] if len(called) == 1 and called[0] is not None else ir.Region()
    if not body.blocks:
        op.fail("needs one function of the module in called_computations, which combines two elements")
    types = [r.type for r in op.results]
    return ir.Op("stablehlo.reduce_window", list(data), types, attributes, [_returning(body)], op.location)


def _returning(region: ir.Region) -> ir.Region:
    """Makes the body of a function a region of an op, ending in `stablehlo.return`."""
    block = ir.Block()
    block.arguments = region.block.arguments
    end = region.block.ops[-1]
    block.ops = [*region.block.ops[:-1], ir.Op("stablehlo.return", end.operands, [], location=end.location)]
    return ir.Region([block])


def _rng_bit_generator(op: ir.Op, operands: Operands, module: ir.Module) -> ir.Op:
    """Takes initial state and output shape."""
    _require(op, operands, 2, 2)
    state, shape = operands
    output = op.results[1].type
    if not isinstance(output, ir.TensorType) or "rng_algorithm" not in op.attributes:
        op.fail("gives a tensor, by the algorithm that rng_algorithm names")
    types = [state.type, ir.TensorType(tuple(_ints(op, shape)), output.element)]
    algorithm = ir.EnumAttribute(str(op.attributes["rng_algorithm"]), "rng_algorithm")
    return ir.Op("stablehlo.rng_bit_generator", [state], types, {"rng_algorithm": algorithm}, [], op.location)


def _top_k(op: ir.Op, operands: Operands, module: ir.Module) -> ir.Op:
    """Takes operand and k."""
    _require(op, operands, 2, 2)
    k = _count(op, operands[1])
    return ir.Op("chlo.top_k", [operands[0]], [r.type for r in op.results], {"k": k}, [], op.location)


def _approx_top_k(op: ir.Op, operands: Operands, module: ir.Module) -> ir.Op:
    """Takes operands, initial values, k and result shapes. It is XLA's ApproxTopK, which has k in its configuration."""
    count = 2 * len(op.results)
    if len(operands) <= count:
        op.fail(
            f"dynamic_approx_top_k with {len(op.results)} results takes {count} operands and k, not {len(operands)}"
        )
    made = _with_result_shapes(op, operands) if "indices_of_shape_operands" in op.attributes else op
    config = op.attributes.get("mhlo.backend_config") or op.attributes.get("backend_config")
    k = {"top_k": _count(op, operands[count])}
    attributes = {
        **made.attributes,
        "call_target_name": "ApproxTopK",
        "api_version": ir.TypedInt(4, "i32"),
        "backend_config": {**config, **k} if isinstance(config, Mapping) else k,
    }
    if attributes.get("operand_layouts") is not None:
        attributes["operand_layouts"] = tuple(attributes["operand_layouts"][:count])
    return ir.Op(op.name, list(operands[:count]), [r.type for r in made.results], attributes, [], op.location)


def _with_result_shapes(op: ir.Op, operands: Operands) -> ir.Op:
    """Replaces a custom call whose last operands are the shapes of its results."""
    given = op.attributes["indices_of_shape_operands"]
    listed = given.array.reshape(-1).tolist() if isinstance(given, ir.DenseElements) else given
    if not isinstance(listed, Sequence) or len(listed) != len(op.results) or not set(listed) <= {*range(len(operands))}:
        op.fail(
            f"needs the number of an operand for each of its {len(op.results)} results in indices_of_shape_operands"
        )
    indices = [int(i) for i in listed]
    types = [
        ir.TensorType(tuple(_ints(op, operands[i])), r.type.element) if isinstance(r.type, ir.TensorType) else r.type
        for i, r in zip(indices, op.results, strict=True)
    ]
    attributes = {k: v for k, v in op.attributes.items() if k != "indices_of_shape_operands"}
    if attributes.get("operand_layouts") is not None:
        layouts = enumerate(attributes["operand_layouts"])
        attributes["operand_layouts"] = tuple(x for i, x in layouts if i not in indices)
    kept = [v for i, v in enumerate(operands) if i not in indices]
    return ir.Op(op.name, kept, types, attributes, [], op.location)


_OPS: dict[str, Callable[[ir.Op, Operands, ir.Module], ir.Op]] = {
    "stablehlo.dynamic_approx_top_k": _approx_top_k,
    "stablehlo.dynamic_reduce_window": _reduce_window,
    "stablehlo.dynamic_rng_bit_generator": _rng_bit_generator,
    "stablehlo.dynamic_top_k": _top_k,
}
