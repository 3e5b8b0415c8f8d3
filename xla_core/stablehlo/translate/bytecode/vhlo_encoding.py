"""Encodes attributes and types of the dialect vhlo: the inverse of `bytecode/vhlo_dialect.py`.

Source: openxla/stablehlo, stablehlo/dialect/VhloBytecode.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_core.errors import UnimplementedError
from xla_core.hlo.values.scalar_types import integer_format
from xla_core.stablehlo import ir
from xla_core.stablehlo.bytecode.codes import ENUM_CODES, SCALAR_CODES, BuiltinAttribute, VhloAttribute, VhloType
from xla_core.stablehlo.ir.attribute_text import attribute_text
from xla_core.stablehlo.translate.bytecode.builtin_encoding import BuiltinEncoder, float_bits, number_bits
from xla_core.stablehlo.translate.bytecode.foreign_ops import BuiltinType
from xla_core.stablehlo.translate.bytecode.output import signed, varint
from xla_core.stablehlo.vhlo.versions import MIXED_DIALECTS, TYPE_VERSIONS, Version

_DYNAMIC = -(1 << 63)
_LARGE = 256
_MLIR_TYPES = (ir.TensorType, ir.TokenType, ir.TupleType, ir.FunctionType, ir.OpaqueType, ir.ScalarType)
_ACCURACY, _MESHES = Version(1, 9), Version(1, 16)
_BUFFER = re.compile(r"memref<((?:\d+x)*)([^<>,]+(?:<[^<>]*>)?)>\Z").match


class Encoder(BuiltinEncoder):
    """The attributes, types and locations of one file for a release of StableHLO."""

    def __init__(self, version: Version) -> None:
        super().__init__(version)
        self._types: dict[Any, int] = {}

    # Attributes

    def attribute(self, value: Any) -> int:
        encode = _ENCODERS.get(value.__class__)
        if encode is None:
            return self._foreign(value)
        return encode(self, value)

    def _own(self, code: int, *parts: bytes) -> int:
        return self.attributes.number(self.vhlo, varint(code) + b"".join(parts))

    def _foreign(self, value: Any) -> int:
        """Encodes an attribute of another dialect as its text."""
        if isinstance(value, _MLIR_TYPES):
            return self._own(VhloAttribute.TYPE, varint(self.type(value)))
        if isinstance(value, ir.Unit):
            return self._builtin(BuiltinAttribute.UNIT)
        text = attribute_text(value)
        match = re.match(r"#([a-z_]+)[.<]", text)
        if match is None or match[1] in ("stablehlo", "chlo"):
            raise UnimplementedError(f"the attribute {text[:80]} has no form in portable artifacts")
        self.require(f"the attribute {text[:80]} of another dialect", MIXED_DIALECTS)
        encoding = text.encode("utf-8", "surrogateescape") + b"\0"
        return self.attributes.number(self.dialect(match[1]), encoding, is_custom=False)

    def boolean(self, value: bool) -> int:
        return self._own(VhloAttribute.BOOLEAN, varint(value))

    def string(self, value: str) -> int:
        return self._own(VhloAttribute.STRING, varint(self.strings.number(str(value))))

    def number(self, value: float) -> int:
        element, bits = number_bits(value)
        code = VhloAttribute.INTEGER if isinstance(value, int) else VhloAttribute.FLOAT
        return self._own(code, varint(self.type(ir.ScalarType(element))), bits)

    def array(self, value: Sequence[Any]) -> int:
        return self._own(VhloAttribute.ARRAY, self._list([self.attribute(item) for item in value]))

    def dense_array(self, value: ir.DenseArray) -> int:
        return self.tensor(ir.dense(value, value.element))

    def dictionary(self, value: dict[str, Any]) -> int:
        numbers = [number for k in sorted(value) for number in (self.string(k), self.attribute(value[k]))]
        return self._own(VhloAttribute.DICTIONARY, varint(len(value)), *map(varint, numbers))

    def enum(self, value: ir.EnumAttribute) -> int:
        case = ir.ENUMS[value.kind].index(str(value))
        if value.kind == "custom_call_api_version":
            return self._own(VhloAttribute.CUSTOM_CALL_API_VERSION, varint(case))
        code, first = ENUM_CODES[value.kind]
        return self._own(code, varint(case + first))

    def tensor(self, value: ir.DenseElements) -> int:
        """Encodes a tensor. A large one shares its bytes with the array; booleans are packed eight to a byte."""
        head = varint(VhloAttribute.TENSOR) + varint(self.type(value.type))
        data = value.data
        if value.type.element == "i1":
            if data.ndim == 0 and value.size > 1:
                return self.attributes.number(self.vhlo, head + varint(1) + (b"\xff" if data else b"\0"))
            raw = np.packbits(value.array.reshape(-1), bitorder="little").tobytes()
            return self.attributes.number(self.vhlo, head + varint(len(raw)) + raw)
        head += varint(data.nbytes)
        if data.nbytes <= _LARGE:
            return self.attributes.number(self.vhlo, head + data.tobytes())
        contiguous = np.ascontiguousarray(data)
        return self.attributes.add(self.vhlo, [head, contiguous.reshape(-1).view(np.uint8).data])

    def alias(self, value: ir.OutputOperandAlias) -> int:
        output, operand = _integers(value.output_tuple_indices), _integers(value.operand_tuple_indices)
        return self._own(VhloAttribute.OUTPUT_OPERAND_ALIAS, output, signed(value.operand_index), operand)

    def accuracy(self, value: ir.ResultAccuracy) -> int:
        self.require("result_accuracy", _ACCURACY)
        mode = varint(self.enum(ir.EnumAttribute(value.mode, "result_accuracy_mode")))
        tolerances = float_bits(value.atol, "f64"), float_bits(value.rtol, "f64")
        return self._own(VhloAttribute.RESULT_ACCURACY, *tolerances, signed(value.ulps), mode)

    def extensions(self, value: ir.TypeExtensions) -> int:
        bounds = [_DYNAMIC if bound is None else bound for bound in value.bounds]
        return self._own(VhloAttribute.TYPE_EXTENSIONS, _integers(bounds))

    def axis(self, value: ir.AxisRef) -> int:
        name = varint(self.string(value.name))
        if value.size is None:
            return self._own(VhloAttribute.AXIS_REF, name, varint(0))
        sub_axis = self._own(VhloAttribute.SUB_AXIS_INFO, signed(value.pre_size or 1), signed(value.size))
        return self._own(VhloAttribute.AXIS_REF, name, varint(1), varint(sub_axis))

    def mesh_groups(self, value: ir.ReplicaGroupMeshAxes) -> int:
        self.require("replica groups by the axes of a mesh", _MESHES)
        mesh = self.mesh(value.mesh) if isinstance(value.mesh, ir.Mesh) else self.string(value.mesh)
        return self._own(VhloAttribute.REPLICA_GROUP_MESH_AXES, varint(mesh), varint(self.array(value.axes)))

    def mesh(self, value: ir.Mesh) -> int:
        self.require("a mesh", _MESHES)
        axes = [
            self._own(VhloAttribute.MESH_AXIS, varint(self.string(name)), signed(size)) for name, size in value.axes
        ]
        devices = varint(0) if value.device_ids is None else varint(self.tensor(value.device_ids) << 1 | 1)
        return self._own(VhloAttribute.MESH, varint(self._own(VhloAttribute.ARRAY, self._list(axes))), devices)

    # Types

    def type(self, type: ir.Type | ir.QuantizedType) -> int:
        key = (type.__class__, type)
        found = self._types.get(key)
        if found is None:
            if isinstance(type, BuiltinType):
                found = self.builtin_type(type.text)
            else:
                found = self.types.number(self.vhlo, self._type(type))
            self._types[key] = found
        return found

    def _type(self, type: ir.Type | ir.QuantizedType) -> bytes:
        if isinstance(type, ir.TensorType):
            return self._tensor_type(type)
        if isinstance(type, ir.ScalarType):
            return self._scalar(str(type))
        if isinstance(type, ir.QuantizedType):
            return self._quantized(type)
        if isinstance(type, ir.TokenType):
            return varint(VhloType.TOKEN)
        if isinstance(type, ir.TupleType):
            return varint(VhloType.TUPLE) + self._list(map(self.type, type.elements))
        if isinstance(type, ir.FunctionType):
            inputs, results = ([self.type(t) for t in types] for types in (type.inputs, type.results))
            return varint(VhloType.FUNCTION) + self._list(inputs) + self._list(results)
        return self._opaque(type)

    def _scalar(self, name: str) -> bytes:
        if name in TYPE_VERSIONS:
            self.require(f"the type {name}", TYPE_VERSIONS[name])
        if name.startswith("complex<"):
            return varint(VhloType.COMPLEX) + varint(self.type(ir.ScalarType(name[len("complex<") : -1])))
        code = SCALAR_CODES.get(name)
        if code is None:
            raise UnimplementedError(f"the type {name} has no form in portable artifacts")
        return varint(code)

    def _tensor_type(self, type: ir.TensorType) -> bytes:
        element = type.element
        if isinstance(element, str) and element.startswith("!"):
            inner = self.type(ir.TokenType() if element == "!stablehlo.token" else ir.OpaqueType(element))
        else:
            inner = self.type(ir.ScalarType(element) if isinstance(element, str) else element)
        encoding = ir.TypeExtensions(type.bounds) if type.bounds else type.encoding
        head = varint(VhloType.RANKED_TENSOR)
        if encoding is not None:
            head = varint(VhloType.RANKED_TENSOR_WITH_ENCODING) + varint(self.attribute(encoding))
        return head + self._dims(type.shape) + varint(inner)

    def _dims(self, shape: Sequence[int]) -> bytes:
        return _integers([_DYNAMIC if size < 0 else size for size in shape])

    def _quantized(self, type: ir.QuantizedType) -> bytes:
        kind, width = integer_format(type.storage) or ("", 0)
        if type.storage[:1] == "u" and not kind:  # u8: the text's name of an unsigned i8
            kind, width = "u", int(type.storage[1:])
        if type.block_sizes:
            raise UnimplementedError(
                f"the type {ir.TensorType((), type)} has no form in portable artifacts: no release of VHLO has types "
                "that are quantized by blocks",
                hint="quantize per tensor or per axis, or write StableHLO text",
            )
        if not kind:
            raise UnimplementedError(f"the type {ir.TensorType((), type)} has no form in portable artifacts")
        is_signed = kind == "i"
        low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if is_signed else (0, (1 << width) - 1)
        bounds = signed(low if type.storage_min is None else type.storage_min)
        bounds += signed(high if type.storage_max is None else type.storage_max)
        storage = self.type(ir.ScalarType(f"i{width}" if kind == "u" else type.storage))
        head = varint(int(is_signed)) + varint(storage) + varint(self.type(ir.ScalarType(type.expressed)))
        if type.axis is None:
            return (
                varint(VhloType.UNIFORM_QUANTIZED)
                + head
                + float_bits(type.scales[0], "f64")
                + signed(type.zero_points[0])
                + bounds
            )
        self.require("a type that is quantized per axis", TYPE_VERSIONS["quantized per axis"])
        scales = varint(len(type.scales)) + b"".join([float_bits(scale, "f64") for scale in type.scales])
        places = head + varint(type.axis) + bounds
        return varint(VhloType.UNIFORM_QUANTIZED_PER_AXIS) + places + scales + _integers(type.zero_points)

    def _opaque(self, type: ir.OpaqueType) -> bytes:
        text = type.text
        if text.startswith("!stablehlo.future<"):
            self.require("the type !stablehlo.future", TYPE_VERSIONS["!stablehlo.future"])
            return varint(VhloType.FUTURE) + self._list(map(self.type, type.elements))
        if text.startswith("tensor<*x"):
            return varint(VhloType.UNRANKED_TENSOR) + varint(self.type(ir.ScalarType(text[len("tensor<*x") : -1])))
        if text == "!shape.witness":
            return varint(VhloType.WITNESS)
        if (match := _BUFFER(text)) is not None:
            self.require("the type memref", TYPE_VERSIONS["memref"])
            return (
                varint(VhloType.BUFFER)
                + self._dims(list(map(int, match[1].split("x")[:-1])))
                + varint(self.type(ir.ScalarType(match[2])))
            )
        raise UnimplementedError(f"the type {text[:80]} has no form in portable artifacts")


def _integers(values: Sequence[int]) -> bytes:
    return varint(len(values)) + b"".join(map(signed, values))


_ENCODERS: dict[type, Callable[[Encoder, Any], int]] = {
    ir.AxisRef: Encoder.axis,
    ir.DenseArray: Encoder.dense_array,
    ir.DenseElements: Encoder.tensor,
    ir.EnumAttribute: Encoder.enum,
    ir.Mesh: Encoder.mesh,
    ir.OutputOperandAlias: Encoder.alias,
    ir.ReplicaGroupMeshAxes: Encoder.mesh_groups,
    ir.ResultAccuracy: Encoder.accuracy,
    ir.TypeExtensions: Encoder.extensions,
    ir.TypedFloat: Encoder.number,
    ir.TypedInt: Encoder.number,
    bool: Encoder.boolean,
    dict: Encoder.dictionary,
    float: Encoder.number,
    int: Encoder.number,
    list: Encoder.array,
    str: Encoder.string,
    ir.SymbolRef: Encoder.string,
    tuple: Encoder.array,
}
"""How the values of attributes are encoded, by their class."""
