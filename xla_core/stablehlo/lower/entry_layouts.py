"""The layouts that a program gives its entry's parameters and results in the attribute `mhlo.layout_mode`.

"default" is row-major. "{0,1}" is an order of dimensions, the minor one first. "auto" leaves it to the compiler: it is
row-major too, but a result that is a transpose keeps the order of its operand in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.text.shapes import parse_layout
from xla_core.hlo.values.shape import Layout, Shape
from xla_core.stablehlo import ir

_MODE = "mhlo.layout_mode"
_CHOSEN = ("default", "auto")


def set_entry_layouts(
    hlo: HloModule, function: ir.Op, parameters: Sequence[Sequence[int]], results: Sequence[Sequence[int]]
) -> None:
    """Sets the layouts of an entry, if the function names one that is not the default.

    Args:
        parameters: for each argument of the function the numbers of its flat parameters.
        results: likewise for the results.

    Raises:
        InvalidArgumentError: for text that is no layout of the array.
    """
    given, made = _modes(function, "arg_attrs", parameters), _modes(function, "res_attrs", results)
    if not any(mode != "default" for mode in (*given.values(), *made.values())):
        return
    shapes = [_with_mode(p.shape, given.get(p.parameter_number, "default"), function) for p in hlo.entry.parameters]
    root = hlo.entry.root
    if root.opcode == Opcode.PARAMETER:  # a parameter and a result may differ
        root = hlo.entry.add(Opcode.COPY, root)
        hlo.entry.set_root(root)
    leaves = root.shape.tuple_shapes if root.shape.is_tuple else [root.shape]
    returned = function.regions[0].block.ops[-1].operands
    sources = {numbers[0]: value for value, numbers in zip(returned, results, strict=True) if len(numbers) == 1}
    outputs = [
        _result(leaf, made.get(number, "default"), sources.get(number), function) for number, leaf in enumerate(leaves)
    ]
    hlo.set_entry_layout(shapes, Shape.tuple(outputs) if root.shape.is_tuple else outputs[0])


def _modes(function: ir.Op, attribute: str, numbers: Sequence[Sequence[int]]) -> dict[int, str]:
    """Returns the modes of flat parameters or results by their numbers."""
    given: Sequence[Mapping[str, Any] | None] = function.attributes.get(attribute) or ()
    return {
        number: str((attributes or {})[_MODE])
        for attributes, flat in zip(given, numbers, strict=False)
        if _MODE in (attributes or {})
        for number in flat
    }


def _with_mode(shape: Shape, mode: str, function: ir.Op) -> Shape:
    if mode in _CHOSEN:
        return shape.with_default_layout()
    try:
        made = shape.with_layout(parse_layout(mode))
        made.validate()
    except InvalidArgumentError as error:
        raise InvalidArgumentError(
            f"{_MODE} is {mode!r}: {error.message}", op=function.name, location=function.location
        ) from None
    return made


def _result(shape: Shape, mode: str, source: ir.Value | None, function: ir.Op) -> Shape:
    owner = source.owner if source is not None else None
    if mode == "auto" and isinstance(owner, ir.Op) and owner.name == "stablehlo.transpose":
        order = [int(dimension) for dimension in owner.attributes["permutation"]]
        return shape.with_layout(Layout(tuple(order.index(d) for d in reversed(range(shape.rank)))))
    return _with_mode(shape, mode, function)
