"""What the domains of products share: the axes of dimension numbers, the types of operands and results."""

from __future__ import annotations

from typing import Any

from xla_conformance.ops.comparison import EQUAL
from xla_conformance.ops.reducers import wider
from xla_core.hlo import ElementType

_T = ElementType
PRECISIONS = ((), ("default", "default"), ("high", "high"), ("highest", "highest"), ("highest", "default"))
BITS = ("even", "lhs", "rhs")
ALL_BITS = ("all bits of lhs", "all bits of rhs")
"""The terms of which one alone is not zero, so that all bits of an operand show in the results."""

ORDERS = ("bfc", "bcf", "fbc", "cfb", "fcb", "cbf")
"""Orders of the batch, free and contracting dimensions in an operand."""

NUMBERS = ("ascending", "rhs crossed", "lhs crossed")
"""How dimension numbers are listed.

"crossed" lists the dimensions of one kind in descending order, so that lhs_contracting_dims={0,1} goes with
rhs_contracting_dims={1,0}.
"""

OTHERS = ("same", "narrower", "alike")


def result_type(name: str, element_type: ElementType) -> ElementType:
    return wider(element_type) if name == "wider" else element_type


_NARROWER = {"f64": "f32", "f32": "bf16", "f16": "f8e5m2", "s64": "s32", "s32": "s8", "u64": "u32", "u32": "u8"}
_NARROWER |= {"c128": "c64", "s16": "s8", "u16": "u8"}
_ALIKE = {"f8e4m3fn": "f8e5m2", "f8e5m2": "f8e4m3fn", "f8e4m3fnuz": "f8e5m2fnuz", "f8e5m2fnuz": "f8e4m3fnuz"}
_ALIKE |= {"bf16": "f16", "f16": "bf16", "f4e2m1fn": "f6e3m2fn", "f6e2m3fn": "f6e3m2fn"}


def other_type(name: str, element_type: ElementType) -> ElementType:
    """Returns the type of the other operand: a narrower one or one of the same width, if the category has one."""
    if name == "alike" and element_type.is_integral and element_type is not _T.PRED:
        twin = ("u" if element_type.is_signed else "s") + element_type.value[1:]
        return next((t for t in ElementType if t.value == twin), element_type)
    names = {"narrower": _NARROWER, "alike": _ALIKE, "same": {}}[name]
    return ElementType(names.get(element_type.value, element_type.value))


ALIKE: dict[str, Any] = {
    "rule": EQUAL,
    "variant": "alike",
    "types": (_T.F32,),
    "sizes": (4,),
    "hiding": (),
    "places": ("minor",),
    "contracting": (1,),
    "numbers": ("ascending",),
    "large": ("every",),
    "precision": ((),),
    "terms": ("whole",),
}
"""Dimensions of one size and one of each kind, in every order of rhs.

Any two attributes of dimensions can then be taken for each other in a case of each seed of the suite, as others pair
the orders with further values at random.
"""


def arranged(order: str, sizes: dict[str, list[int]], crossed: bool) -> tuple[list[int], dict[str, tuple[int, ...]]]:
    """Returns the dimensions in an order of kinds, and where the first, second, ... of each kind is."""
    made: list[int] = []
    places: dict[str, tuple[int, ...]] = {}
    for kind in order:
        turn = -1 if crossed and kind != "f" else 1
        places[kind] = tuple(range(len(made), len(made) + len(sizes[kind]))[::turn])
        made += sizes[kind][::turn]
    return made, places
