"""Programs whose entry has dynamic shapes. They are lowered to an HLO module for each signature of the arguments."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from xla_core.errors import XlaError, snippet
from xla_core.hlo.evaluation.dynamic_shape_program import DynamicShapeProgram
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.values.shape import Shape
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.context import body_of
from xla_core.stablehlo.lower.entry import argument_attributes, device_counts, entry_function
from xla_core.stablehlo.lower.type_conversion import element_type
from xla_core.stablehlo.shapes.lowering import lower
from xla_core.stablehlo.shapes.refine import refine
from xla_core.stablehlo.verify.verifier import verify


def has_polymorphic_entry(module: ir.Module) -> bool:
    """Tells whether an argument of the entry has a dynamic size, bounded or not."""
    return any(not leaf.is_static for a in body_of(entry_function(module)).arguments for leaf in _tensors(a.type))


class PolymorphicProgram(DynamicShapeProgram):
    """A StableHLO program with dynamic shapes: describes its arguments and lowers it for given shapes."""

    def __init__(self, module: ir.Module) -> None:
        ir.require_module(module)
        function = entry_function(module)
        block = body_of(function)
        self._module = module
        self._entry = str(function.attributes["sym_name"])
        self._types = [a.type for a in block.arguments]
        self.name = module.name or self._entry
        self.parameters = tuple(_described(t) for type in self._types for t in _tensors(type))
        self.results = tuple(_described(t) for v in block.ops[-1].operands for t in _tensors(v.type))
        self.donated = tuple(_donated(self._types, argument_attributes(function)))
        self.num_replicas, self.num_partitions = device_counts(module)

    def lower(self, shapes: Sequence[Shape], values: Mapping[int, np.ndarray] | None = None) -> HloModule:
        self.check(shapes)
        sizes = iter(shapes)
        types = [_sized(type, sizes) for type in self._types]
        with source_lines(self._module), _called_with(shapes):
            refined = refine(self._module, types, entry=self._entry, values=self._by_argument(values or {}))
            verify(refined)
            return lower(refined, self._entry)

    def _by_argument(self, values: Mapping[int, np.ndarray]) -> dict[int, np.ndarray]:
        """Converts the keys of known values from flat argument numbers to positions of the entry's arguments.

        A tuple argument counts as one position and several flat numbers.
        """
        numbers: list[int | None] = []
        for position, type in enumerate(self._types):
            if isinstance(type, ir.TensorType):
                numbers.append(position)
            else:
                numbers += [None] * sum(1 for _ in _tensors(type))
        return {position: values[n] for n, position in enumerate(numbers) if n in values and position is not None}


@contextlib.contextmanager
def source_lines(module: ir.Module) -> Iterator[None]:
    """Adds to errors raised inside the line of the module's text at their location."""
    try:
        yield
    except XlaError as error:
        place = error.location
        if error.snippet is None and place is not None and place.line and place.file in (module.file, "<input>"):
            lines = module.source.splitlines()
            if place.line <= len(lines):  # a program's locations may be arbitrary
                error.snippet = snippet(lines[place.line - 1], place.column)
        raise


@contextlib.contextmanager
def _called_with(shapes: Sequence[Shape]) -> Iterator[None]:
    """Adds the shapes of the arguments to the hint of errors raised inside."""
    try:
        yield
    except XlaError as error:
        said = f"the arguments are ({', '.join(str(s.without_layout()) for s in shapes)})"
        error.hint = f"{error.hint}; {said}" if error.hint else said
        raise


def _tensors(type: ir.Type) -> Iterator[ir.TensorType]:
    """Yields the arrays of a type: flattens tuples and leaves out tokens."""
    if isinstance(type, ir.TupleType):
        for element in type.elements:
            yield from _tensors(element)
    elif isinstance(type, ir.TensorType):
        yield type


def _described(type: ir.TensorType) -> Shape:
    bounds = type.bounds or (None,) * type.rank
    dynamic = tuple(size == ir.DYNAMIC for size in type.shape)
    sizes = [
        (Shape.UNBOUNDED if bound is None else bound) if size == ir.DYNAMIC else size
        for size, bound in zip(type.shape, bounds, strict=True)
    ]
    return Shape(element_type(type.element), tuple(sizes), dynamic_dimensions=dynamic if any(dynamic) else ())


def _sized(type: ir.Type, shapes: Iterator[Shape]) -> ir.Type:
    if isinstance(type, ir.TupleType):
        return ir.TupleType(tuple(_sized(element, shapes) for element in type.elements))
    if isinstance(type, ir.TensorType):
        return ir.TensorType(next(shapes).dimensions, type.element, (), type.encoding)
    return type


def _donated(types: Sequence[ir.Type], attributes: Sequence[Mapping[str, object]]) -> Iterator[int]:
    number = 0
    for type, attribute in zip(types, attributes, strict=True):
        for _ in _tensors(type):
            if "tf.aliasing_output" in attribute or attribute.get("jax.buffer_donor"):
                yield number
            number += 1
