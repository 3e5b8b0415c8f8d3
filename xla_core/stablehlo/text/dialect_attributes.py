"""Reads attributes of the dialects stablehlo and chlo. Attributes of other dialects are kept as text."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from xla_core.checks import did_you_mean
from xla_core.stablehlo import ir
from xla_core.stablehlo.ir.dot_algorithms import algorithm_problem
from xla_core.stablehlo.text.attribute_reader import AttributeReader

_Struct = TypeVar("_Struct")
_DIGITS_AND_SIGN = tuple("0123456789-")
_CONV_LETTERS = (("b", "f"), ("i", "o"), ("b", "f"))


class DialectAttributeReader(AttributeReader):
    """Reads `#dialect.name<...>` and `#dialect<name ...>`."""

    def dialect_attribute(self, name: str, start: int) -> Any:
        dialect, _, mnemonic = name.partition(".")
        if dialect == "vhlo":
            return self.vhlo_attribute(mnemonic, start)
        has_brackets = self.source.startswith("<", self.position)
        if not mnemonic and not has_brackets:
            raise self.error(f"undefined symbol alias id '{name}'", start, hint=f"write #{name} = value before it")
        if dialect not in ("stablehlo", "chlo"):
            if has_brackets:
                self.balanced()
            return ir.OpaqueAttribute(self.source[start : self.position])
        if mnemonic and mnemonic not in ir.ENUMS:
            return self._struct(mnemonic, start)
        self.expect("<")
        mnemonic = mnemonic or self.word("an attribute of the dialect")
        value = self.enum(mnemonic) if mnemonic in ir.ENUMS else self._struct(mnemonic, start)
        self.expect(">", "to end the attribute")
        return value

    def vhlo_attribute(self, mnemonic: str, start: int) -> Any:
        """Reads the rest of an attribute after `#vhlo.mnemonic`. A subclass defines it."""
        raise NotImplementedError

    def enum(self, kind: str) -> ir.EnumAttribute:
        start = self.skip()
        if self.at("#"):
            value = self.attribute()
            if not isinstance(value, ir.EnumAttribute) or value.kind != kind:
                raise self.error(f"expected a {kind}", start)
            return value
        is_word = self.source[start : start + 1].isalpha()
        if not is_word and not self.at_string():
            raise self.form_error(f"expected valid keyword or string, a {kind}, found {self.found()}")
        text = self.word(f"a {kind}") if is_word else self.string()
        if text not in ir.ENUMS[kind]:
            name = kind.title().replace("_", "")
            cases = ", ".join(ir.ENUMS[kind])
            raise self.form_error(f"expected ::mlir::stablehlo::{name} to be one of: {cases}; found '{text}'", start)
        return ir.EnumAttribute(text, kind)

    def _struct(self, mnemonic: str, start: int) -> Any:
        reader = _STRUCTS.get(mnemonic)
        if reader is None:
            hint = did_you_mean(mnemonic, [*_STRUCTS, *ir.ENUMS], 1, 0.7)
            raise self.error(f"unknown StableHLO attribute '{mnemonic}'", start, hint=hint)
        return reader(self)

    def fields(
        self,
        readers: Mapping[str, Callable[[], Any]],
        opening: str = "<",
        closing: str = ">",
        required: Iterable[str] = (),
    ) -> dict[str, Any]:
        """Reads `<name = value, ...>` in any order, each name at most once; `readers` reads a value by its name."""
        self.expect(opening)
        first = self.skip()
        values: dict[str, Any] = {}
        while not self.at(">"):
            start = self.position
            name = self.word("a field's name")
            if name not in readers:
                expected = ", ".join(f"`{reader}`" for reader in readers)
                raise self.error(f"expected one of: {expected}; found '{name}'", start)
            if name in values:
                raise self.error(f"duplicated `{name}` entry", start)
            self.expect("=", f"after '{name}'")
            values[name] = readers[name]()
            if not self.accept(","):
                break
        missing = [name for name in required if name not in values]
        if missing:
            raise self.error(f"missing: {', '.join(missing)}", first)
        self.expect(closing, "to end the attribute")
        return values

    def dimension_tuple(self) -> tuple[int, ...]:
        return tuple(self.dimensions())

    def times(self, where: str) -> None:
        """Reads `x`, which may be followed by the next token without a blank."""
        if not self.accept("x"):
            raise self.form_error(f"expected 'x' {where}, found {self.found()}")

    def boolean(self) -> bool:
        if self.accept_word("true"):
            return True
        self.expect_word("false")
        return False

    def dimension_struct(self, cls: type[_Struct], opening: str = "<") -> _Struct:
        """Reads a struct of integers and lists of integers, all of whose fields are optional."""
        readers: dict[str, Callable[[], Any]] = {
            name: self.integer if isinstance(default, int) else self.dimension_tuple
            for name, default in _defaults(cls).items()
        }
        return cls(**self.fields(readers, opening))

    def ordered_struct(self, cls: type[_Struct], readers: dict[str, Callable[[], Any]]) -> _Struct:
        """Reads `<name = value, ...>` with all fields, in order."""
        values: dict[str, Any] = {}
        for name, read in readers.items():
            self.expect("," if values else "<", (values and f"and {name}") or "")
            self.expect_word(name)
            self.expect("=", f"after '{name}'")
            values[name] = read()
        self.expect(">", "to end the attribute")
        return cls(**values)

    def element_name(self) -> str:
        start = self.skip()
        type = self.type()
        if not isinstance(type, ir.ScalarType):
            raise self.error(f"expected an element type, found {type}", start)
        return str(type)

    def dot_algorithm(self) -> ir.DotAlgorithm:
        """`<lhs_precision_type = f32, ...>`."""
        by_type: dict[Any, Callable[[], Any]] = {"str": self.element_name, "int": self.integer, "bool": self.boolean}
        readers = {field.name: by_type[field.type] for field in dataclasses.fields(ir.DotAlgorithm)}
        start = self.position
        result = self.ordered_struct(ir.DotAlgorithm, readers)
        if (problem := algorithm_problem(result)) is not None:
            raise self.form_error(problem, start)
        return result

    def result_accuracy(self) -> ir.ResultAccuracy:
        """Reads `<atol = 1.0e-5, rtol = 0.0, ulps = 1, mode = TOLERANCE>`, each optional."""
        start = self.position
        values = self.fields(
            {
                "atol": lambda: self.float_value("f64"),
                "rtol": lambda: self.float_value("f64"),
                "ulps": self.integer,
                "mode": lambda: str(self.enum("result_accuracy_mode")),
            }
        )
        accuracy = ir.ResultAccuracy(**values)
        if (problem := accuracy.problem) is not None:
            raise self.error(problem, start)
        return accuracy

    def optional_sizes(self, opening: str = "[", closing: str = "]") -> tuple[int | None, ...]:
        """`[4, ?]`."""
        sizes: list[int | None] = []
        self.list_of(opening, closing, lambda: sizes.append(None if self.accept("?") else self.integer()))
        return tuple(sizes)

    def bounds(self) -> ir.TypeExtensions:
        """`<4, ?>`."""
        return ir.TypeExtensions(self.optional_sizes("<", ">"))

    def type_extensions(self) -> ir.TypeExtensions:
        """`<bounds = [4, ?]>`."""
        return self.ordered_struct(ir.TypeExtensions, {"bounds": self.optional_sizes})

    def convolution(self) -> ir.ConvDimensionNumbers:
        """`<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>` or `<raw name = value, ...>`."""
        self.expect("<")
        if self.accept_word("raw"):
            return self.dimension_struct(ir.ConvDimensionNumbers, opening="")
        value = self.convolution_dimensions()
        self.expect(">", "to end the attribute")
        return value

    def convolution_dimensions(self) -> ir.ConvDimensionNumbers:
        """`[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]`."""
        parts = []
        for index, letters in enumerate(_CONV_LETTERS):
            if index == 1:
                self.times("between the input's and the kernel's dimensions")
            elif index == 2:
                self.expect("->", "before the output's dimensions")
            parts.append(self._convolution_part(letters))
        (b, f, spatial), (i, o, kernel), (out_b, out_f, out) = parts
        return ir.ConvDimensionNumbers(b, f, spatial, i, o, kernel, out_b, out_f, out)

    def _convolution_part(self, letters: tuple[str, str]) -> tuple[int, int, tuple[int, ...]]:
        start = self.skip()
        places: dict[str | int, int] = {}

        def entry() -> None:
            offset = self.skip()
            is_number = self.source[offset : offset + 1] in _DIGITS_AND_SIGN
            key: str | int = self.integer("a dimension") if is_number else self.keyword("a dimension")
            if isinstance(key, int) and key < 0:
                raise self.form_error(f"Unexpected dimension {key}", offset)
            if isinstance(key, str) and (key not in letters or key in places):
                allowed = ", ".join(letter for letter in letters if letter not in places)
                expecting = f"Unexpected dimension {key}, expecting {allowed}"
                raise self.form_error(expecting if allowed else f"Unexpected keyword {key}", offset)
            if key in places:
                raise self.form_error(f"Duplicate entries for spatial dimension {key}", offset)
            places[key] = len(places)

        self.list_of("[", "]", entry)
        spatial = sorted(key for key in places if isinstance(key, int))
        missing = ", ".join(letter for letter in letters if letter not in places)
        if missing:
            raise self.form_error(f"Expected dimensions {missing} not specified", start)
        gaps = (d for d in range(spatial[-1] if spatial else 0) if d not in places)
        unspecified = ", ".join(map(str, itertools.islice(gaps, 100)))
        if unspecified:
            raise self.form_error(f"Expected spatial dimensions {unspecified} not specified", start)
        return places[letters[0]], places[letters[1]], tuple(places[d] for d in spatial)

    def axis_ref(self) -> ir.AxisRef:
        """`<name = "x", sub_axis_info = (1)2>`."""

        def sub_axis() -> tuple[int, int]:
            self.expect("(")
            pre_size = self.integer()
            self.expect(")")
            return pre_size, self.integer()

        values = self.fields({"name": self.string, "sub_axis_info": sub_axis}, required=("name",))
        return ir.AxisRef(values["name"], *values.get("sub_axis_info", ()))

    def mesh(self) -> ir.Mesh:
        """`<axes = [<name = "x", size = 2>], device_ids = dense<...>>`."""
        axes: list[tuple[str, int]] = []

        def axis() -> None:
            self.accept("#stablehlo.mesh_axis")
            axes.append(self.mesh_axis())

        values = self.fields({"axes": lambda: self.list_of("[", "]", axis), "device_ids": self.attribute})
        ids = values.get("device_ids")
        return ir.Mesh(tuple(axes), ids if isinstance(ids, ir.DenseElements) else None)

    def mesh_axis(self) -> tuple[str, int]:
        """`<name = "x", size = 2>`."""
        values = self.fields({"name": self.string, "size": self.integer}, required=("name", "size"))
        return values["name"], values["size"]

    def replica_group_mesh_axes(self) -> ir.ReplicaGroupMeshAxes:
        """`<mesh = @mesh, axes = [...]>`."""
        readers = {"mesh": self.attribute, "axes": self.attribute}
        return ir.ReplicaGroupMeshAxes(**self.fields(readers, required=readers))

    def channel_handle(self) -> ir.ChannelHandle:
        """`<handle = 0, type = 0>`."""
        return self.ordered_struct(ir.ChannelHandle, {"handle": self.integer, "type": self.integer})


def _defaults(cls: Any) -> dict[str, Any]:
    return {name: field.default for name, field in cls.__dataclass_fields__.items()}


_STRUCTS: dict[str, Callable[[DialectAttributeReader], Any]] = {
    "gather": lambda reader: reader.dimension_struct(ir.GatherDimensionNumbers),
    "scatter": lambda reader: reader.dimension_struct(ir.ScatterDimensionNumbers),
    "dot": lambda reader: reader.dimension_struct(ir.DotDimensionNumbers),
    "ragged_dot": lambda reader: reader.dimension_struct(ir.RaggedDotDimensionNumbers),
    "output_operand_alias": lambda reader: reader.dimension_struct(ir.OutputOperandAlias),
    "conv": DialectAttributeReader.convolution,
    "dot_algorithm": DialectAttributeReader.dot_algorithm,
    "channel_handle": DialectAttributeReader.channel_handle,
    "result_accuracy": DialectAttributeReader.result_accuracy,
    "bounds": DialectAttributeReader.bounds,
    "type_extensions": DialectAttributeReader.type_extensions,
    "axis_ref": DialectAttributeReader.axis_ref,
    "mesh": DialectAttributeReader.mesh,
    "mesh_axis": DialectAttributeReader.mesh_axis,
    "replica_group_mesh_axes": DialectAttributeReader.replica_group_mesh_axes,
}
