"""Checks the shapes of arguments against the shapes that a program with dynamic shapes declares."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape


def wrong_count(name: str, declared: Sequence[Shape], count: int) -> InvalidArgumentError:
    shapes = ", ".join(str(s.without_layout()) for s in declared)
    noun = "argument" if len(declared) == 1 else "arguments"
    hint = None
    if count == len(declared) - 1 and declared[0].element_type is ElementType.S32 and declared[0].rank == 0:
        hint = (
            "is argument 0, s32[], the platform's index? Programs that JAX exports for several platforms take it first"
        )
    elif count > len(declared):
        hint = "did JAX drop arguments that nothing reads? jax.jit(..., keep_unused=True) keeps them"
    return InvalidArgumentError(
        f"{name} takes {len(declared)} {noun}{f' ({shapes})' if shapes else ''}, not {count}", hint=hint
    )


def conversion_hint(element_type: ElementType) -> str:
    """Returns a hint that tells the caller how to convert an array to this element type."""
    dtype = element_type.dtype
    return f"convert it: array.astype({repr(dtype.name) if dtype.isbuiltin == 1 else f'ml_dtypes.{dtype.name}'})"


def check_arguments(name: str, declared: Sequence[Shape], shapes: Sequence[Shape]) -> None:
    """Checks all arguments of the program `name`.

    Raises:
        InvalidArgumentError: where the number of arguments or a shape is wrong. The error names the argument, the
            declared shape and the shape that was given.
    """
    if len(shapes) != len(declared):
        raise wrong_count(name, declared, len(shapes))
    for index, (shape, wanted) in enumerate(zip(shapes, declared, strict=True)):
        check_argument(f"argument {index} of {name}", shape.without_layout(), wanted.without_layout())


def check_argument(what: str, shape: Shape, declared: Shape) -> None:
    """Checks one argument, which errors call `what`. Neither shape has a layout.

    Raises:
        InvalidArgumentError: where element type, rank or a size doesn't fit.
    """
    if shape == declared:  # it usually is, and the text for an error takes longer than the rest
        return
    wrong = f"{what} must be {declared}, not {shape}"
    if shape.rank != declared.rank:
        raise InvalidArgumentError(wrong)
    sizes = list(zip(shape.dimensions, declared.dimensions, declared.dynamic_flags, strict=True))
    if any(size != wanted for size, wanted, is_dynamic in sizes if not is_dynamic):
        raise InvalidArgumentError(wrong)
    if shape.element_type is not declared.element_type:
        raise InvalidArgumentError(wrong, hint=conversion_hint(declared.element_type))
    for dimension, (size, wanted, is_dynamic) in enumerate(sizes):
        if is_dynamic and wanted != Shape.UNBOUNDED and size > wanted:
            raise InvalidArgumentError(f"{wrong}: the size of dimension {dimension}, {size}, is over its bound")
