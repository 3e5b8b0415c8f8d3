"""Converts the attributes of VHLO's ops to StableHLO's, by their names and kinds.

Defaults are left out, tensors of integers become arrays, structures are put together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from xla_core.stablehlo import ir
from xla_core.stablehlo.table.op_table import OPS, Kind
from xla_core.stablehlo.vhlo.ops import ConversionError, VhloOp


def _array(value: Any, element: str) -> ir.DenseArray:
    if not isinstance(value, ir.DenseElements) or value.type.element != element:
        raise ConversionError(f"expected a tensor of {element}")
    if value.size > _MAX_LIST:
        raise ConversionError(f"a list of {value.size} numbers is too long")
    return ir.DenseArray(value.array.reshape(-1).tolist(), element)


def _integers(value: Any) -> ir.DenseArray:
    return _array(value, "i64")


def _symbol(value: Any) -> ir.SymbolRef:
    if not isinstance(value, str):
        raise ConversionError("expected a string that names a function")
    return ir.SymbolRef(value)


def _symbols(value: Any) -> tuple[ir.SymbolRef, ...]:
    if not isinstance(value, tuple):
        raise ConversionError("expected an array of strings that name functions")
    return tuple([_symbol(item) for item in value])


def _unit(value: Any) -> Any:
    if not isinstance(value, bool):
        raise ConversionError("expected true or false")
    return ir.UNIT


_MAX_LIST = 1 << 16

_CONVERSIONS: dict[Kind, Callable[[Any], Any]] = {
    Kind.INTS: _integers,
    Kind.BOOLS: lambda value: _array(value, "i1"),
    Kind.SYMBOL: _symbol,
    Kind.SYMBOLS: _symbols,
}
"""Conversions of the kinds of attributes that VHLO and StableHLO write differently."""

_UNITS = ("has_dynamic_root", "use_global_device_ids")
"""Attributes that VHLO always writes, as true or false."""


@dataclasses.dataclass(frozen=True)
class PerDimension:
    """The default of a list or matrix: `number` for each dimension of the op's windows."""

    number: int


EMPTY = object()
"""The default of a list or matrix that has no elements."""

DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(("arg_attrs", "res_attrs", "called_computations", "layout", "output_operand_aliases"), ()),
    **dict.fromkeys(("operand_layouts", "result_layouts", "result_tilings"), ()),
    **dict.fromkeys(
        ("base_dilations", "lhs_dilation", "rhs_dilation", "window_dilations", "window_strides"), PerDimension(1)
    ),
    **dict.fromkeys(("padding", "window_reversal"), PerDimension(0)),
    **dict.fromkeys(("has_dynamic_root", "has_side_effect", "indices_are_sorted", "is_host_transfer"), False),
    **dict.fromkeys(("is_stable", "lower", "unique_indices", "use_global_device_ids"), False),
    **dict.fromkeys(("known_expanding_dimensions", "known_nonexpanding_dimensions", "source_target_pairs"), EMPTY),
    **dict.fromkeys(("infeed_config", "outfeed_config", "sym_visibility"), ""),
    **dict.fromkeys(("channel_id", "version"), 0),
    "api_version": 1,
    "backend_config": "",
    "compare_type": ir.EnumAttribute("NOTYPE", "comparison_type"),
    "composite_attributes": {},
    "dimension": -1,
    "precision_config": (ir.EnumAttribute("DEFAULT", "precision"),) * 2,
    "result_accuracy": ir.ResultAccuracy(),
}
"""The defaults of attributes, which VHLO writes and StableHLO leaves out."""


def is_default(name: str, value: Any) -> bool:
    """Tells whether a VHLO attribute has the default value, which StableHLO leaves out."""
    default = DEFAULTS.get(name)
    if default is EMPTY:
        return isinstance(value, ir.DenseElements) and value.size == 0
    if isinstance(default, PerDimension):
        is_full = isinstance(value, ir.DenseElements) and bool(value.size and value.data.size)
        return is_full and bool((value.data == default.number).all())
    if name == "precision_config":
        return isinstance(value, tuple) and all(item == "DEFAULT" for item in value)
    if name == "backend_config":
        return value in ("", {})
    return name in DEFAULTS and _equals(value, default)


def _equals(value: Any, default: Any) -> bool:
    """Tells whether a value equals the default and has its type, so that True is not 1."""
    kind = bool if isinstance(default, bool) else int if isinstance(default, int) else type(default)
    return isinstance(value, kind) and value == default


def convert_attributes(op: VhloOp, values: Mapping[str, Any]) -> dict[str, Any]:
    """Converts the attributes of a VHLO op to StableHLO's. Raises ConversionError, which names the attribute."""
    result: dict[str, Any] = {}
    rest = dict(values)
    for name in op.dropped:
        rest.pop(name, None)
    for name, cls in op.structs:
        struct = _struct(cls, rest)
        if struct is not None:
            result[name] = struct
    if "channel_id" in rest and ("channel_type" in rest or not _equals(rest["channel_id"], 0)):
        channel = rest.pop("channel_id"), rest.pop("channel_type", 0)
        if not all(type(number) is int for number in channel):
            raise ConversionError("channel_id: expected an integer")
        result["channel_handle"] = ir.ChannelHandle(*channel)
    if rest.get("operand_layouts") == () == rest.get("result_layouts"):
        del rest["operand_layouts"], rest["result_layouts"]
    defined = OPS[op.name].attributes if op.name in OPS else {}
    for name, value in rest.items():
        if name in op.optional and is_default(name, value):
            continue
        convert = None
        if name in op.attributes and name in defined:
            convert = _unit if name in _UNITS else _CONVERSIONS.get(defined[name].kind)
        try:
            result[name] = value if convert is None else convert(value)
        except ConversionError as error:
            raise ConversionError(f"{name}: {error}") from None
    return result


def _struct(cls: Any, values: dict[str, Any]) -> Any:
    """Builds a struct from the attributes that have its fields' names, and removes these from `values`.

    Returns None for a dot algorithm whose fields are all absent or the type `none`.
    """
    fields = {name: values.pop(name, None) for name in cls.__dataclass_fields__}
    if cls is ir.DotAlgorithm:
        if all(value is None or value == "none" for value in fields.values()):
            return None
        if any(value is None or value == "none" for value in fields.values()):
            raise ConversionError("an algorithm of dot_general must have all of its attributes")
        kinds = (str, str, str, int, int, int, bool)
        values_in_order = [str(v) if isinstance(v, str) else v for v in fields.values()]
        if not all(type(v) is kind for v, kind in zip(values_in_order, kinds, strict=True)):
            raise ConversionError("malformed algorithm of dot_general")
        algorithm: Any = cls
        return algorithm(*values_in_order)
    for name, field in cls.__dataclass_fields__.items():
        value = fields[name]
        is_list = isinstance(field.default, tuple)
        if is_list and value is None and "batching" in name:  # version 1 of the op lacks the field
            fields[name] = ()
        elif is_list:
            try:
                fields[name] = tuple(_integers(value))
            except ConversionError as error:
                raise ConversionError(f"{name}: {error}") from None
        elif type(value) is not int:
            raise ConversionError(f"{name}: expected an integer")
    return cls(**fields)
