"""Prints attributes as MLIR text: for the text writer, and for backend_config and composites in HLO."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_core.errors import InvalidArgumentError, SourceLocation
from xla_core.hlo.values.scalar_types import BIT_WIDTHS, DTYPES
from xla_core.stablehlo import ir

_BARE_KEY = re.compile(r"[A-Za-z_][\w$.]*\Z", re.ASCII).match
_BARE_SYMBOL = re.compile(r"[A-Za-z_][\w$.]*\Z", re.ASCII).match
_MLIR_TYPES = (ir.TensorType, ir.TokenType, ir.TupleType, ir.FunctionType, ir.OpaqueType, ir.ScalarType)
_LONGEST_LIST = 64
"""Tensors of more elements are written as a dump of their bytes."""

_SUB_BYTE = frozenset(name for name, bits in BIT_WIDTHS.items() if bits < 8)
"""Elements smaller than a byte. MLIR's versions read dumps of them in different ways."""


def attribute_text(value: Any, dialect: str = "stablehlo") -> str:
    """Writes an attribute as MLIR prints it. `dialect` is the dialect of the enums in it."""
    if isinstance(value, dict):
        return dictionary_text(value, dialect)
    if isinstance(value, ir.DenseArray):
        body = ", ".join(_scalar(v, value.element) for v in value)
        return f"array<{value.element}: {body}>" if value else f"array<{value.element}>"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join([attribute_text(item, dialect) for item in value]) + "]"
    if isinstance(value, ir.MissingElements):
        name = value.name if _BARE_KEY(value.name) else quoted(value.name)
        return f"dense_resource<{name}> : {value.type}"
    if isinstance(value, ir.DenseElements):
        return f"dense<{_payload(value)}> : {value.type}"
    if isinstance(value, ir.Unit):
        return "unit"
    if isinstance(value, ir.SymbolRef):
        return "::".join(symbol_text(part) for part in value.split("::@"))
    if isinstance(value, ir.EnumAttribute):
        return f"#{dialect}<{value.kind} {value}>"
    if isinstance(value, _MLIR_TYPES):
        return str(value)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{int(value)} : {value.type if isinstance(value, ir.TypedInt) else 'i64'}"
    if isinstance(value, float):
        element = value.type if isinstance(value, ir.TypedFloat) else "f64"
        return f"{_scalar(float(value), element)} : {element}"
    if isinstance(value, SourceLocation) or hasattr(value, "resolve"):
        return location_text(value if isinstance(value, SourceLocation) else value.resolve())
    struct = _STRUCTS.get(type(value))
    if struct is not None:
        return f"#{struct[0]}{struct[1](value)}"
    if isinstance(value, ir.OpaqueAttribute):
        return str(value)
    raise InvalidArgumentError(
        f"a value of the class {type(value).__name__} is no attribute",
        hint="numbers, strings, tuples, dictionaries and the classes of xla_core.stablehlo.ir are attributes",
    )


def dictionary_text(values: dict[str, Any], dialect: str = "stablehlo") -> str:
    """Writes `{name = value, unit}`, sorted by name."""
    parts = []
    for name in sorted(values):
        key = name if _BARE_KEY(name) else quoted(name)
        value = values[name]
        parts.append(key if isinstance(value, ir.Unit) else f"{key} = {attribute_text(value, dialect)}")
    return "{" + ", ".join(parts) + "}"


def struct_text(value: Any) -> str:
    """Writes the fields of a struct, which follow its name: `<handle = 1, type = 0>`."""
    return _STRUCTS[type(value)][1](value)


def quoted(text: str) -> str:
    """Writes a string with MLIR's escapes: bytes that don't print in hexadecimal."""
    if text.isascii() and text.isprintable():
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    out = []
    for byte in text.encode("utf-8", "surrogateescape"):
        char = chr(byte)
        out.append(f"\\{char}" if char in '\\"' else char if 32 <= byte < 127 else f"\\{byte:02X}")
    return '"' + "".join(out) + '"'


def symbol_text(name: str) -> str:
    """Writes `@name`, or `@"any name"`."""
    return f"@{name}" if _BARE_SYMBOL(name) else f"@{quoted(name)}"


def location_text(location: SourceLocation | None) -> str:
    """Writes `loc("name"("file":1:2))`, without the parts that are unknown."""
    if location is None or not (location.file or location.line or location.name):
        return "loc(unknown)"
    place = f"{quoted(location.file)}:{location.line}:{location.column}" if location.file or location.line else ""
    if not location.name:
        return f"loc({place})"
    return f"loc({quoted(location.name)}({place}))" if place else f"loc({quoted(location.name)})"


# Numbers


def _payload(value: ir.DenseElements) -> str:
    """Writes the text between the brackets of `dense<...>`."""
    element, data = str(value.type.element), value.data
    if not data.size:
        return ""
    numbers = _finite_numbers(data, element)
    if data.size == 1 and numbers is not None:
        return _scalar(numbers.item(), element)
    if numbers is not None and (data.size <= _LONGEST_LIST or element in _SUB_BYTE):
        return _nested(numbers.tolist(), element)
    if numbers is None and data.ndim == 0 and data.dtype.kind != "c":
        return _bits(data)
    return f'"0x{data.astype(data.dtype.newbyteorder("<"), copy=False).tobytes().hex().upper()}"'


def _finite_numbers(data: np.ndarray, element: str) -> np.ndarray | None:
    """Returns the data as numbers that Python prints, or None if some are infinite or NaN."""
    if data.dtype.kind in "biu":
        return data
    if element.lstrip("u").startswith("i"):  # of ml_dtypes
        return data.astype(np.int64)
    with np.errstate(invalid="ignore"):
        wide = data if data.dtype.kind == "c" else data.astype(np.float64)
    return wide if bool(np.isfinite(wide).all()) else None


def _bits(data: np.ndarray) -> str:
    """Writes the bits of one float, the form of infinities and NaNs."""
    return f"0x{int.from_bytes(data.tobytes(), 'little'):0{2 * data.dtype.itemsize}X}"


def _nested(values: Any, element: str) -> str:
    if isinstance(values, list):
        return "[" + ", ".join([_nested(item, element) for item in values]) + "]"
    return _scalar(values, element)


def _scalar(value: Any, element: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, complex):
        return f"({_scalar(value.real, 'f64')}, {_scalar(value.imag, 'f64')})"
    if not isinstance(value, float):
        return str(int(value))
    if value - value != 0:  # an infinity or a NaN
        return _bits(np.array(value).astype(DTYPES.get(element, np.dtype(np.float64))))
    mantissa, exponent, rest = repr(float(value)).partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{exponent}{rest}"


# Structs


def _fields(value: Any, names: Sequence[str] = ()) -> str:
    """Writes `<name = value, ...>`. Fields with their default value are left out unless they are in `names`."""
    parts = []
    for name, field in type(value).__dataclass_fields__.items():
        item = getattr(value, name)
        if name in names or item != field.default:
            parts.append(f"{name} = {_field(item)}")
    return f"<{', '.join(parts)}>"


def _field(item: Any) -> str:
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, tuple):
        return f"[{', '.join(map(str, item))}]"
    return str(item)


def _convolution(value: ir.ConvDimensionNumbers) -> str:
    sides = (
        ("b", "f", value.input_batch_dimension, value.input_feature_dimension, value.input_spatial_dimensions),
        (
            "i",
            "o",
            value.kernel_input_feature_dimension,
            value.kernel_output_feature_dimension,
            value.kernel_spatial_dimensions,
        ),
        ("b", "f", value.output_batch_dimension, value.output_feature_dimension, value.output_spatial_dimensions),
    )
    texts = []
    for first, second, first_place, second_place, spatial in sides:
        places = {first_place: first, second_place: second, **{place: str(i) for i, place in enumerate(spatial)}}
        if sorted(places) != list(range(len(spatial) + 2)):  # the raw form takes any
            return f"<raw {_fields(value, tuple(type(value).__dataclass_fields__))[1:]}"
        texts.append("[" + ", ".join(places[i] for i in range(len(places))) + "]")
    return f"<{texts[0]}x{texts[1]}->{texts[2]}>"


def _accuracy(value: ir.ResultAccuracy) -> str:
    parts = [f"{name} = {_scalar(number, 'f64')}" for name in ("atol", "rtol") if (number := getattr(value, name))]
    if value.ulps:
        parts.append(f"ulps = {value.ulps}")
    return f"<{', '.join([*parts, f'mode = #stablehlo.result_accuracy_mode<{value.mode}>'])}>"


def _extensions(value: ir.TypeExtensions) -> str:
    return f"<{', '.join('?' if bound is None else str(bound) for bound in value.bounds)}>"


def _mesh(value: ir.Mesh) -> str:
    axes = ", ".join(f"#stablehlo.mesh_axis<name = {quoted(name)}, size = {size}>" for name, size in value.axes)
    ids = "" if value.device_ids is None else f", device_ids = {attribute_text(value.device_ids)}"
    return f"<axes = [{axes}]{ids}>"


def _axis(value: ir.AxisRef) -> str:
    part = "" if value.size is None else f", sub_axis_info = ({value.pre_size}){value.size}"
    return f"<name = {quoted(value.name)}{part}>"


def _mesh_groups(value: ir.ReplicaGroupMeshAxes) -> str:
    return f"<mesh = {attribute_text(value.mesh)}, axes = {attribute_text(value.axes)}>"


def _alias(value: ir.OutputOperandAlias) -> str:
    output, operand = (_field(indices) for indices in (value.output_tuple_indices, value.operand_tuple_indices))
    return (
        f"<output_tuple_indices = {output}, operand_index = {value.operand_index}, operand_tuple_indices = {operand}>"
    )


_ALL_OF_ALGORITHM = tuple(ir.DotAlgorithm.__dataclass_fields__)

_STRUCTS: dict[type, tuple[str, Callable[[Any], str]]] = {
    ir.AxisRef: ("stablehlo.axis_ref", _axis),
    ir.ChannelHandle: ("stablehlo.channel_handle", lambda value: _fields(value, ("handle", "type"))),
    ir.ConvDimensionNumbers: ("stablehlo.conv", _convolution),
    ir.DotAlgorithm: ("stablehlo.dot_algorithm", lambda value: _fields(value, _ALL_OF_ALGORITHM)),
    ir.DotDimensionNumbers: ("stablehlo.dot", _fields),
    ir.GatherDimensionNumbers: ("stablehlo.gather", _fields),
    ir.Mesh: ("stablehlo.mesh", _mesh),
    ir.OutputOperandAlias: ("stablehlo.output_operand_alias", _alias),
    ir.RaggedDotDimensionNumbers: ("chlo.ragged_dot", _fields),
    ir.ReplicaGroupMeshAxes: ("stablehlo.replica_group_mesh_axes", _mesh_groups),
    ir.ResultAccuracy: ("stablehlo.result_accuracy", _accuracy),
    ir.ScatterDimensionNumbers: ("stablehlo.scatter", _fields),
    ir.TypeExtensions: ("stablehlo.bounds", _extensions),
}
"""Structs: the name of each, and the writer of its fields."""
