"""Checks custom calls that use buffers (`memref`): CreateBuffer, Pin, Unpin, and the buffer aliases of other calls.

(StableHLO: stablehlo/dialect/StablehloOps.cpp, `verifyKnownCustomCalls`.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xla_core.stablehlo import ir


def check_buffer_call(op: ir.Op) -> None:
    """Checks the buffers of a custom call. The caller has already checked the indices in `output_operand_aliases`."""
    target = str(op.attributes.get("call_target_name", ""))
    operands, results = [o.type for o in op.operands], [r.type for r in op.results]
    if target == "CreateBuffer":
        if operands:
            op.fail("CreateBuffer custom_call shouldn't have any inputs")
        if len(results) != 1:
            op.fail("CreateBuffer custom_call should have one result")
        if not _is_buffer(results[0]):
            op.fail("CreateBuffer custom_call should have a memref result")
    elif target in ("Pin", "Unpin"):
        _check_pin(op, target, operands, results)
    else:
        _check_aliased_once(op, results)


def _is_buffer(type: ir.Type) -> bool:
    return isinstance(type, ir.OpaqueType) and type.text.startswith("memref<")


def _check_pin(op: ir.Op, target: str, operands: Sequence[ir.Type], results: Sequence[ir.Type]) -> None:
    kinds = ("tensor", "memref") if target == "Pin" else ("memref", "tensor")
    for what, types, kind in (("input", operands, kinds[0]), ("output", results, kinds[1])):
        if len(types) != 1:
            op.fail(f"{target} custom_call should have one {what}")
        if _is_buffer(types[0]) != (kind == "memref"):
            op.fail(f"{target} custom_call should have a {kind} {what}")
    texts = {str(t).removeprefix("memref").removeprefix("tensor") for t in (*operands, *results)}
    if len(texts) > 1:
        op.fail(f"{target} custom_call should have compatible input and output types")


def _check_aliased_once(op: ir.Op, results: Sequence[ir.Type]) -> None:
    """Checks that every result that is a buffer aliases an operand's buffer, and that each buffer is aliased once."""
    outputs: set[tuple[int, ...]] = set()
    inputs: set[tuple[int, ...]] = set()
    for alias in op.attributes.get("output_operand_aliases") or ():
        assert isinstance(alias, ir.OutputOperandAlias)
        type = op.operands[alias.operand_index].type
        for index in alias.operand_tuple_indices:
            assert isinstance(type, ir.TupleType)
            type = type.elements[index]
        if not _is_buffer(type):
            continue
        output, part = tuple(alias.output_tuple_indices), tuple(alias.operand_tuple_indices)
        if output in outputs:
            op.fail(f"buffer output {list(output)} is used in output_operand_alias more than once")
        if (alias.operand_index, *part) in inputs:
            op.fail(f"buffer operand {alias.operand_index}{list(part)} is used in output_operand_alias more than once")
        outputs.add(output)
        inputs.add((alias.operand_index, *part))
    whole = results[0] if len(results) == 1 else ir.TupleType(tuple(results))
    for indices, leaf in _leaves(whole):
        if _is_buffer(leaf) and indices not in outputs:
            op.fail(f"buffer output {list(indices)} is not used in output_operand_alias")


def _leaves(type: ir.Type, at: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], ir.Type]]:
    if not isinstance(type, ir.TupleType):
        yield at, type
        return
    for i, element in enumerate(type.elements):
        yield from _leaves(element, (*at, i))
