"""Domains of dot, by its dimension numbers, of ragged-dot and of scaled-dot."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.comparison import EQUAL
from xla_conformance.ops.domain import domain
from xla_conformance.ops.fills import exactly, factors, with_ends, with_one_product, with_scales
from xla_conformance.ops.program import Program
from xla_conformance.ops.reducers import wider
from xla_conformance.ops.sizes import SIZES, equal_size
from xla_core.hlo import ElementType, HloInstruction, Opcode, Shape

_T = ElementType
PRECISIONS = ((), ("default", "default"), ("high", "high"), ("highest", "highest"), ("highest", "default"))
BITS = ("even", "lhs", "rhs")
ALL_BITS = ("all bits of lhs", "all bits of rhs")
"""The terms of which one alone is not zero, so that all bits of an operand show in the results."""

_ORDERS = ("bfc", "bcf", "fbc", "cfb", "fcb", "cbf")
_NUMBERS = ("ascending", "rhs crossed", "lhs crossed")
_AXES: dict[str, Any] = {
    "batch": (1, 0, 2, 3),
    "contracting": (1, 2, 0, 3),
    "left": (1, 0, 2),
    "right": (1, 0, 2),
    "lhs": _ORDERS,
    "rhs": _ORDERS[::-1],
    "numbers": _NUMBERS,
    "large": ("contracting", "left", "right", "batch", "every"),
    "precision": PRECISIONS,
    "bits": BITS,
}
"""The axes of dots.

`lhs` and `rhs` are the orders of batch, free and contracting dimensions in each operand. "crossed" lists the
dimensions of one kind in descending order, so that lhs_contracting_dims={0,1} goes with rhs_contracting_dims={1,0}.
"""

_TYPES = [t for t in ElementType if t.is_array and t.has_zero]
OTHERS = ("same", "narrower", "alike")


def result_type(name: str, element_type: ElementType) -> ElementType:
    return wider(element_type) if name == "wider" else element_type


class _Dimensions:
    """Sizes of a dot's dimensions by kind, and where they are in each operand."""

    def __init__(self, c: Choice) -> None:
        unused = itertools.cycle([n for n in (3, 2, 5, 4, 7, 6) if n != c.size])
        counts = {"batch": c.batch, "contracting": c.contracting, "left": c.left, "right": c.right}
        self.sizes = {kind: [next(unused) for _ in range(count)] for kind, count in counts.items()}
        if c.large == "every":
            equal = equal_size(c.size, sum(counts.values()), 1 << 16)
            self.sizes = {kind: [equal] * count for kind, count in counts.items()}
        large = self.sizes[c.large if counts.get(c.large) else next((k for k in counts if counts[k]), "batch")]
        if large and c.large != "every":
            large[-1] = c.size
        while math.prod(n for sizes in self.sizes.values() for n in sizes) > 1 << 20:
            largest = max((s for s in self.sizes.values() if s is not large and s), key=max, default=[])
            if not largest or max(largest) == 1:
                break
            largest[largest.index(max(largest))] -= 1
        kinds = {"b": self.sizes["batch"], "c": self.sizes["contracting"]}
        self.lhs, self.lhs_dims = _arranged(c.lhs, {**kinds, "f": self.sizes["left"]}, c.numbers == "lhs crossed")
        self.rhs, self.rhs_dims = _arranged(c.rhs, {**kinds, "f": self.sizes["right"]}, c.numbers == "rhs crossed")
        self.terms = math.prod(self.sizes["contracting"])

    @property
    def operands(self) -> list[tuple[list[int], dict[str, tuple[int, ...]]]]:
        """The sizes of each operand, and where its dimensions of each kind are."""
        return [(self.lhs, self.lhs_dims), (self.rhs, self.rhs_dims)]

    def attributes(self) -> dict[str, tuple[int, ...]]:
        return {
            "lhs_batch_dims": self.lhs_dims["b"],
            "rhs_batch_dims": self.rhs_dims["b"],
            "lhs_contracting_dims": self.lhs_dims["c"],
            "rhs_contracting_dims": self.rhs_dims["c"],
        }

    def result(self) -> list[int]:
        return [*self.sizes["batch"], *self.sizes["left"], *self.sizes["right"]]


@domain(
    Opcode.DOT,
    rule=EQUAL,
    types=_TYPES,
    places=("minor",),
    result=("same", "wider"),
    other=OTHERS,
    terms=("whole", "ends", "scales", *ALL_BITS),
    **_AXES,
)
def _dot(p: Program, c: Choice) -> HloInstruction:
    d, made = _Dimensions(c), result_type(c.result, p.type)
    other = other_type(c.other, p.type)
    left, right = factors(d.terms, made, c.bits)
    of_lhs, of_rhs = ([i for i in range(len(sizes)) if i not in at["c"]] for sizes, at in d.operands)
    if c.terms == "scales":
        left, right = with_scales((left, right), (p.type, other), made, (of_lhs, of_rhs), c.size % 2)
    if c.terms in ALL_BITS:
        full = ALL_BITS.index(c.terms)
        left, right = with_one_product((left, right), (p.type, other), made, (of_lhs, of_rhs), full)
    lhs = p.parameter(d.lhs, fill=with_ends(left) if c.terms == "ends" else left)
    rhs = p.parameter(d.rhs, other, with_ends(right) if c.terms == "ends" and other.is_integral else right)
    shape = p.shape(d.result(), made)
    return p.add(Opcode.DOT, lhs, rhs, shape=shape, operand_precision=c.precision, **d.attributes())


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


@domain(
    Opcode.DOT,
    variant="square",
    alike=True,
    rule=EQUAL,
    types=_TYPES,
    sizes=(Group(3, 4, 5), 33),
    places=("minor",),
    empty=(),
    **{**_AXES, "batch": (1, 2, 0), "contracting": (1, 2), "left": (1,), "right": (1,), "large": ("every",)},
    result=("same",),
    other=("same",),
    terms=("whole",),
)
def _square_dot(p: Program, c: Choice) -> HloInstruction:
    """All dimensions have one size, so that a backend that confuses two of them gets a result of the right shape."""
    return _dot(p, c)


_ALL_ALIKE: dict[str, Any] = {
    "rule": EQUAL,
    "variant": "alike",
    "types": (_T.F32,),
    "sizes": (4,),
    "empty": (),
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


@domain(
    Opcode.DOT,
    **_ALL_ALIKE,
    batch=(1,),
    left=(1,),
    right=(1,),
    lhs=("bfc",),
    rhs=_ORDERS,
    bits=("even",),
    result=("same",),
    other=("same",),
)
def _dot_of_alike(p: Program, c: Choice) -> HloInstruction:
    return _dot(p, c)


@domain(
    Opcode.DOT,
    variant="remainders",
    rule=EQUAL,
    types=(_T.S8, _T.BF16, _T.F16, _T.F32),
    sizes=(Group(8, 16, 24, 32, 64),),
    empty=(),
    places=("minor",),
)
def _dots_of_remainders(p: Program, c: Choice) -> HloInstruction:
    """Contracted sizes of each remainder modulo 8, with or without a batch, in types that matrix instructions take.

    A kernel of vectors or tiles has code of its own for the last elements, often one for each remainder.
    """
    results = []
    for rest in range(8):
        size, turn = c.size + rest, c.size // 8 + rest
        left, right = factors(size, p.type)
        batch = (2,) if turn % 2 else ()
        at, is_last = len(batch), turn // 2 % 2  # whether rhs is contracted over its last dimension
        lhs = p.parameter((*batch, 3, size), fill=left)
        rhs = p.parameter((*batch, 5, size) if is_last else (*batch, size, 5), fill=right)
        numbers = {f"{side}_batch_dims": tuple(range(at)) for side in ("lhs", "rhs")}
        numbers |= {"lhs_contracting_dims": (at + 1,), "rhs_contracting_dims": (at + is_last,)}
        results.append(p.add(Opcode.DOT, lhs, rhs, shape=p.shape((*batch, 3, 5)), **numbers))
    return p.add(Opcode.TUPLE, *results)


@domain(
    Opcode.DOT,
    variant="bytes",
    rule=EQUAL,
    types=(_T.S8, _T.U8, _T.S4, _T.U4),
    sizes=(Group(16, 18, 32, 64, 66),),
    empty=(),
    places=("minor",),
)
def _dots_of_bytes(p: Program, c: Choice) -> HloInstruction:
    """Numbers with and without signs in both orders, whose largest products have sums beyond 16 bits."""
    left, right = (with_ends(fill) for fill in factors(c.size, p.type))
    results = []
    for other in ("same", "alike"):
        for made in (_T.S32, p.type):
            lhs, rhs = p.parameter((5, c.size), fill=left), p.parameter((c.size, 7), other_type(other, p.type), right)
            numbers = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
            results.append(p.add(Opcode.DOT, lhs, rhs, shape=p.shape((5, 7), made), **numbers))
    return p.add(Opcode.TUPLE, *results)


# -- ragged-dot -------------------------------------------------------------------------------------------------------


@domain(
    Opcode.RAGGED_DOT,
    rule=EQUAL,
    types=_TYPES,
    sizes=SIZES[:6],
    places=("minor",),
    mode=("free", "contracting", "batch"),
    groups=(3, 1, 2, 8),
    filled=("all", "part", "some empty"),
    prefix=(False, True),
    index=(_T.S32, _T.S64, _T.U32, _T.U16),
    large=("ragged", "right", "every"),
    batch=(0, 1, 2, 3),
    contracting=(1, 2, 0),
    numbers=_NUMBERS,
    lhs=("bfc", "cfb", "fbc"),
    rhs=("gbcf", "bfcg", "cgfb"),
    result=("same", "wider"),
    terms=("whole", "all bits"),
    precision=PRECISIONS,
)
def _ragged_dot(p: Program, c: Choice) -> HloInstruction:
    batch = [2, 3, 2][: max(c.batch, c.mode == "batch")]
    contracting = [4, 6][: max(c.contracting, c.mode == "contracting")]
    sizes = {"b": batch, "f": [5], "c": contracting, "g": [c.groups] if c.mode == "free" else []}
    ragged = 9 if c.large == "right" else c.size
    if c.large == "every":  # dimensions of one size can be taken for each other
        ragged = min(ragged, max(c.groups, 2), 4)
        batch[:], contracting[:] = [ragged] * len(batch), [ragged] * len(contracting)
        sizes["f"] = [ragged]
    sizes[{"free": "f", "contracting": "c", "batch": "b"}[c.mode]][-1] = ragged
    last = {"every": ragged, "right": c.size}.get(c.large, 9)
    lhs, lhs_at = _arranged(c.lhs, sizes, c.numbers == "lhs crossed")
    rhs, rhs_at = _arranged(c.rhs, {**sizes, "f": [last]}, c.numbers == "rhs crossed")
    made = result_type(c.result, p.type)
    left, right = factors(math.prod(contracting), made)
    if c.terms == "all bits":
        free = ([*lhs_at["b"], *lhs_at["f"]], [*rhs_at["b"], *rhs_at["f"], *rhs_at["g"]])
        left, right = with_one_product((left, right), (p.type, p.type), made, free, c.size % 2)
    before = {"free": batch, "contracting": [*batch, *contracting[:-1]], "batch": batch[:-1]}[c.mode]
    prefix = before if c.prefix else []
    parts = _groups(ragged, c.groups, c.filled)
    counts = [parts[(i + n) % len(parts)] for n in range(math.prod(prefix)) for i in range(len(parts))]
    attributes = {
        "lhs_batch_dims": lhs_at["b"],
        "rhs_batch_dims": rhs_at["b"],
        "lhs_contracting_dims": lhs_at["c"],
        "rhs_contracting_dims": rhs_at["c"],
        "lhs_ragged_dims": lhs_at[{"free": "f", "contracting": "c", "batch": "b"}[c.mode]][-1:],
        "rhs_group_dims": rhs_at["g"],
    }
    result = [*([c.groups] if c.mode == "contracting" else []), *batch, *sizes["f"], last]
    return p.add(
        Opcode.RAGGED_DOT,
        p.parameter(lhs, fill=left),
        p.parameter(rhs, fill=right),
        p.parameter([*prefix, c.groups], c.index, exactly(*counts)),
        shape=p.shape(result, made),
        operand_precision=c.precision,
        **attributes,
    )


def _arranged(order: str, sizes: dict[str, list[int]], crossed: bool) -> tuple[list[int], dict[str, tuple[int, ...]]]:
    """Returns the dimensions in an order of kinds, and where the first, second, ... of each kind is."""
    made: list[int] = []
    places: dict[str, tuple[int, ...]] = {}
    for kind in order:
        turn = -1 if crossed and kind != "f" else 1
        places[kind] = tuple(range(len(made), len(made) + len(sizes[kind]))[::turn])
        made += sizes[kind][::turn]
    return made, places


@domain(
    Opcode.RAGGED_DOT,
    variant="square",
    alike=True,
    rule=EQUAL,
    types=_TYPES,
    sizes=(3,),
    empty=(),
    places=("minor",),
    mode=("free", "contracting", "batch"),
    groups=(3,),
    filled=("some empty", "part"),
    prefix=(False, True),
    index=(_T.S32,),
    large=("every",),
    batch=(1, 2),
    contracting=(1, 2),
    numbers=_NUMBERS,
    lhs=("bfc", "cfb", "fbc"),
    rhs=("gbcf", "bfcg", "cgfb"),
    result=("same",),
    terms=("whole",),
    precision=((),),
)
def _square_ragged_dot(p: Program, c: Choice) -> HloInstruction:
    return _ragged_dot(p, c)


@domain(
    Opcode.RAGGED_DOT,
    variant="plain",
    alike=True,
    rule=EQUAL,
    types=_TYPES,
    sizes=(Group(7, 8, 9), 65),
    empty=(),
    places=("minor",),
    mode=("free",),
    groups=(3, 2, 8),
    filled=("part", "all"),
    prefix=(False,),
    index=(_T.S32,),
    large=("ragged",),
    batch=(0,),
    contracting=(1,),
    numbers=("ascending",),
    lhs=("bfc", "cfb"),
    rhs=("gbcf", "bfcg", "cgfb"),
    result=("same",),
    terms=("whole",),
    precision=((),),
)
def _plain_ragged_dot(p: Program, c: Choice) -> HloInstruction:
    """A matrix of rows in groups, as mixtures of experts have it; rows that belong to no group give zeros."""
    return _ragged_dot(p, c)


@domain(
    Opcode.RAGGED_DOT,
    **_ALL_ALIKE,
    mode=("batch",),
    groups=(4,),
    filled=("part",),
    prefix=(False,),
    index=(_T.S32,),
    batch=(1,),
    lhs=("fbc",),
    rhs=("gbcf", "bfcg", "cgfb"),
    result=("same",),
)
def _ragged_dot_of_alike(p: Program, c: Choice) -> HloInstruction:
    return _ragged_dot(p, c)


@domain(
    Opcode.RAGGED_DOT,
    **{**_ALL_ALIKE, "variant": "plain-alike"},
    mode=("free",),
    groups=(4,),
    filled=("part",),
    prefix=(False,),
    index=(_T.S32,),
    batch=(0,),
    lhs=("bfc",),
    rhs=("gbcf", "bfcg", "cgfb"),
    result=("same",),
)
def _plain_ragged_dot_of_alike(p: Program, c: Choice) -> HloInstruction:
    return _ragged_dot(p, c)


def _groups(total: int, count: int, filled: str) -> list[int]:
    """Returns group sizes: of all rows, of some of them, or of all in every second group (none, if there is one)."""
    rest = total * 2 // 3 if filled == "part" else total
    with_rows = range(count)[1::2] if filled == "some empty" else range(count)
    sizes = [rest // count + (i % 2) if i in with_rows else 0 for i in range(count)]
    while sum(sizes) > total:
        sizes[sizes.index(max(sizes))] -= 1
    if filled != "part" and with_rows:
        sizes[with_rows[-1]] += total - sum(sizes)
    return sizes


# -- scaled-dot -------------------------------------------------------------------------------------------------------

_SCALED = [t for t in ElementType if (t.is_floating and t.has_zero) or t.is_complex]


@domain(
    Opcode.SCALED_DOT,
    rule=EQUAL,
    types=[t for t in _SCALED if not t.is_complex],
    sizes=SIZES[:6],
    places=("minor",),
    result=("wider", "f32", "f64"),
    scale=(_T.F8E8M0FNU, _T.BF16, _T.F32),
    blocks=("contracting", "every", "whole", "none"),
    free=("both", "left", "right"),
    batch=(1, 0, 2),
    contracting=(1, 2, 0),
    numbers=_NUMBERS,
    lhs=_ORDERS,
    rhs=_ORDERS[::-1],
    large=("contracting", "left", "right", "every"),
    precision=PRECISIONS,
    algorithm=(None, "dot_f32_f32_f32"),
    terms=("whole", "special"),
)
def _scaled_dot(p: Program, c: Choice) -> HloInstruction:
    sizes = {"b": [2, 3][: c.batch], "f": [5], "c": [6, 4][: c.contracting]}
    if c.large == "every":
        equal = min(c.size, 6)
        sizes = {kind: [equal] * len(own) for kind, own in sizes.items()}
    if c.large == "contracting" and c.contracting:
        sizes["c"][-1] = c.size
    of_lhs, of_rhs = ([c.size if c.large == side else n] for side, n in (("left", 9), ("right", 7)))
    if c.large == "every":
        of_lhs = of_rhs = sizes["f"]
    of_lhs, of_rhs = ([] if c.free == "right" else of_lhs), ([] if c.free == "left" else of_rhs)
    lhs, lhs_at = _arranged(c.lhs, {**sizes, "f": of_lhs}, c.numbers == "lhs crossed")
    rhs, rhs_at = _arranged(c.rhs, {**sizes, "f": of_rhs}, c.numbers == "rhs crossed")
    made = {"wider": wider(p.type), "f32": _T.F32, "f64": _T.F64}[c.result]
    if made.bit_width < p.type.bit_width:
        made = p.type
    left, right = factors(4 * math.prod(sizes["c"]), made)
    scales = [_scale_shape(c.blocks, dims, at["c"]) for dims, at in ((lhs, lhs_at), (rhs, rhs_at))]
    attributes = {
        "lhs_batch_dims": lhs_at["b"],
        "rhs_batch_dims": rhs_at["b"],
        "lhs_contracting_dims": lhs_at["c"],
        "rhs_contracting_dims": rhs_at["c"],
    }
    result = [*sizes["b"], *(lhs[d] for d in lhs_at["f"]), *(rhs[d] for d in rhs_at["f"])]
    return p.add(
        Opcode.SCALED_DOT,
        p.parameter(lhs, fill=left),
        p.parameter(rhs, fill=right),
        *(p.parameter(s, c.scale, with_ends(_scales) if c.terms == "special" else _scales) for s in scales),
        shape=p.shape(result, made),
        operand_precision=c.precision,
        algorithm=c.algorithm,
        **attributes,
    )


@domain(
    Opcode.SCALED_DOT,
    **_ALL_ALIKE,
    result=("f32",),
    scale=(_T.F32,),
    blocks=("every",),
    free=("both",),
    batch=(1,),
    lhs=("bfc",),
    rhs=_ORDERS,
    algorithm=(None,),
)
def _scaled_dot_of_alike(p: Program, c: Choice) -> HloInstruction:
    return _scaled_dot(p, c)


def _scale_shape(blocks: str, sizes: Sequence[int], contracting: Sequence[int]) -> list[int]:
    """Returns the shape of an operand's scales: a block has some of the contracting dimension, of all, or of none."""
    if blocks == "none":
        return []
    if blocks == "every":
        return list(sizes)
    return [_blocks(n, blocks) if d in contracting else n for d, n in enumerate(sizes)]


def _blocks(size: int, blocks: str) -> int:
    """Returns how many blocks a dimension is divided into."""
    if blocks == "whole" or not size:
        return min(size, 1)
    return next(size // k for k in (3, 2, 5, 7, 1) if size % k == 0)


def _scales(shape: Shape, random: np.random.Generator) -> np.ndarray:
    """Makes powers of two, of which a product is 2 at most."""
    return random.choice([0.5, 1.0], shape.dimensions).astype(shape.dtype)
