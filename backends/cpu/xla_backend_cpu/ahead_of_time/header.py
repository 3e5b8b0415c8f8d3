"""Writes the C header of a program, and the example that calls it."""

from __future__ import annotations

import importlib.resources
import string
from collections.abc import Sequence

from xla_backend_cpu.ahead_of_time.interface import ARENA_ALIGNMENT, Interface, c_type
from xla_core.hlo import Shape


def header_text(interface: Interface) -> str:
    """The header: the entry, its arguments and results, and the size of the arena."""
    name, upper = interface.name, interface.name.upper()
    shapes = [*interface.arguments, *interface.results]
    return _filled(
        "header.h.tmpl",
        name=name,
        upper=upper,
        target=interface.target,
        threads=interface.threads,
        arguments=len(interface.arguments),
        results=len(interface.results),
        arena_bytes=interface.arena_bytes,
        arena_alignment=ARENA_ALIGNMENT,
        constant_bytes=interface.constant_bytes,
        argument_members=_members("argument", interface.arguments, "const "),
        result_members=_members("result", interface.results, ""),
        dimensions=", ".join(str(size) for shape in shapes for size in shape.dimensions) or "0",
        argument_infos=_infos(name, "argument", interface.arguments, 0),
        result_infos=_infos(name, "result", interface.results, sum(shape.rank for shape in interface.arguments)),
    )


def example_text(interface: Interface) -> str:
    """A program in C that reads the arguments from files, runs the model and writes its results to files."""
    return _filled("example.c.tmpl", name=interface.name, upper=interface.name.upper())


def _filled(file: str, **values: object) -> str:
    text = importlib.resources.files("xla_backend_cpu.ahead_of_time").joinpath("files", file).read_text()
    return string.Template(text).substitute(values)


def _members(kind: str, shapes: Sequence[Shape], prefix: str) -> str:
    lines = [
        f"  {prefix}{c_type(shape.element_type)} *{kind}{number}; /* {shape.without_layout()}{_order(shape)} */"
        for number, shape in enumerate(shapes)
    ]
    return "\n".join(lines or ["  const void *none; /* C has no empty structures */"])


def _order(shape: Shape) -> str:
    order = shape.minor_to_major()
    return "" if order == tuple(range(shape.rank))[::-1] else f", dimensions from minor to major {list(order)}"


def _infos(name: str, kind: str, shapes: Sequence[Shape], first: int) -> str:
    """The entries of arrays, whose dimensions start at `first` in the model's list of dimensions."""
    lines = []
    for number, shape in enumerate(shapes):
        place = f"{name}_dimensions + {first}"
        lines.append(f'  {{"{kind}{number}", "{shape.element_type}", {shape.byte_size}, {shape.rank}, {place}}},')
        first += shape.rank
    return "\n".join(lines or [f'  {{"", "", 0, 0, {name}_dimensions}},'])
