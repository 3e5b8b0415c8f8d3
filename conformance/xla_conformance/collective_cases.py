"""Programs with one collective, which cover every pair of kind, groups, mode, type, reducer, shape and place."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from xla_conformance.family_program import FamilyProgram
from xla_conformance.ops.covering import covering_rows
from xla_core.hlo import ElementType

_OTHERS = ("all-gather", "all-to-all", "collective-broadcast")
_BY_IDS = ("all-reduce", "all-gather", "reduce-scatter")
_REDUCING = ("all-reduce", "reduce-scatter")
_MODES = ("replicas", "partitions", "ids")
_TYPES = ("f32", "s32", "bf16", "u8", "pred", "f64", "c64", "s16", "u64", "f16", "s8")
_REDUCERS = ("add", "maximum", "minimum", "multiply")
_SHAPES: tuple[tuple[int, ...], ...] = (
    *((4,), (4, 3), (8, 4), (4, 1, 4), (0, 4), (4, 20480), (12, 4, 5)),
    (2, 9),  # each of two devices has, or receives, an odd number of elements
)
_ODD: tuple[tuple[int, ...], ...] = ((7, 3), (1,))
"""Odd numbers of elements, which some kinds can't divide among devices."""
_PLACES = ("alone", "between kernels", "in a loop", "twice")
_GROUPS = {
    2: ("0,1", "1,0", "0|1", ""),
    4: ("0,1,2,3", "3,1,0,2", "0,1|2,3", "0,3|2,1", "0,2|3,1", "0|1|2|3", ""),
}
_PAIRS = {
    2: ("0>1,1>0", "0>1", "1>0", "0>0,1>1", ""),
    4: ("0>1,1>2,2>3,3>0", "0>3,2>1", "3>0,0>1,1>3,2>2", "1>2", ""),
}


@dataclasses.dataclass(frozen=True)
class CollectiveCase:
    """A program with one collective on `devices` devices."""

    devices: int
    kind: str
    reducer: str
    groups: str
    pairs: str
    mode: str
    type: str
    shape: tuple[int, ...]
    last: bool
    operands: int
    place: str

    def __str__(self) -> str:
        where = self.pairs if self.kind == "collective-permute" else self._said
        reducer = f"{self.reducer}-" if self.kind in _REDUCING else ""
        sizes = "x".join(map(str, self.shape))
        many = f"{self.operands}operands-" if self._operands > 1 else ""
        said = f"{self.kind}-{reducer}{self.mode}-{where.replace('|', '.') or 'all'}-{self.type}-{sizes}-"
        return f"{said}d{self.dimension}-{many}{self.place}".replace(" ", "_").replace(",", "").replace(">", "")

    @property
    def dimension(self) -> int:
        return len(self.shape) - 1 if self.last and self._divides(self.shape[-1]) else 0

    def _divides(self, size: int) -> bool:
        return size % self._group_size == 0

    @property
    def _by_ids(self) -> bool:
        """Whether the groups hold ids of devices. Otherwise they hold replicas, or partitions."""
        return self.mode == "ids" and self.kind in _BY_IDS

    @property
    def _said(self) -> str:
        """The groups. Replica groups of one replica join all partitions."""
        return "" if self.mode == "partitions" and self.kind in _BY_IDS else self.groups

    @property
    def _group_size(self) -> int:
        return len(self._said.split("|")[0].split(",")) if self._said else self.devices

    @property
    def _operands(self) -> int:
        return self.operands if self.kind in _BY_IDS else 1

    @property
    def _result(self) -> tuple[int, ...]:
        size = self._group_size
        sizes = list(self.shape)
        if self.kind == "all-gather":
            sizes[self.dimension] *= size
        elif self.kind == "reduce-scatter":
            sizes[self.dimension] //= size
        return tuple(sizes)

    def program(self) -> FamilyProgram:
        return FamilyProgram(str(self), "".join(self._lines()))

    def _attributes(self) -> str:
        groups = ",".join(f"{{{g}}}" for g in self._said.split("|")) if self._said else ""
        parts = []
        if self.kind == "collective-permute":
            pairs = ",".join(f"{{{p.replace('>', ',')}}}" for p in self.pairs.split(",") if p)
            parts.append(f"source_target_pairs={{{pairs}}}")
        else:
            parts.append(f"replica_groups={{{groups}}}")
        if self.mode != "replicas":
            parts.append("channel_id=1")
        if self._by_ids:
            parts.append("use_global_device_ids=true")
        if self.kind in ("all-gather", "reduce-scatter", "all-to-all"):
            parts.append(f"dimensions={{{self.dimension}}}")
        if self.kind in _REDUCING:
            parts.append("to_apply=reducer")
        return ", ".join(parts)

    def _lines(self) -> Iterator[str]:
        counts = f"replica_count={self.devices}" if self.mode == "replicas" else f"num_partitions={self.devices}"
        if self._by_ids:
            counts = f"replica_count=2, num_partitions={self.devices // 2}"
        yield f"HloModule m, {counts}\n\n"
        if self.kind in _REDUCING:
            yield f"reducer {{\n  a = {self.type}[] parameter(0)\n  b = {self.type}[] parameter(1)\n"
            yield f"  ROOT r = {self.type}[] {self._reducer}(a, b)\n}}\n\n"
        one, result = (f"{self.type}[{','.join(map(str, s))}]" for s in (self.shape, self._result))
        n = self._operands
        results = result if n == 1 else f"({', '.join([result] * n)})"
        call = f"{self.kind}(%s), {self._attributes()}"
        if self.place == "in a loop" and one == result:
            yield from self._loop(one, call)
            return
        yield "ENTRY e {\n"
        names = []
        for i in range(n):
            yield f"  x{i} = {one} parameter({i})\n"
            names.append(f"x{i}")
            if self.place == "between kernels":
                yield f"  y{i} = {one} {self._unary}(x{i})\n"
                names[i] = f"y{i}"
        if self.place == "twice" and one == result and n == 1:
            yield f"  first = {one} {call % names[0]}\n"
            names[0] = "first"
            call = call.replace("channel_id=1", "channel_id=2")
        if self.place == "between kernels" and n == 1:
            yield f"  c = {results} {call % ', '.join(names)}\n  ROOT r = {result} {self._unary}(c)\n}}\n"
        else:
            yield f"  ROOT r = {results} {call % ', '.join(names)}\n}}\n"

    def _loop(self, one: str, call: str) -> Iterator[str]:
        n = self._operands
        state = f"(s32[], {', '.join([one] * n)})"
        yield f"condition {{\n  s = {state} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
        yield "  n = s32[] constant(2)\n  ROOT r = pred[] compare(i, n), direction=LT\n}\n\n"
        yield f"body {{\n  s = {state} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
        yield "  one = s32[] constant(1)\n  next = s32[] add(i, one)\n"
        for i in range(n):
            yield f"  x{i} = {one} get-tuple-element(s), index={i + 1}\n"
        names = ", ".join(f"x{i}" for i in range(n))
        if n == 1:
            yield f"  y0 = {one} {call % names}\n"
        else:
            yield f"  c = ({', '.join([one] * n)}) {call % names}\n"
            for i in range(n):
                yield f"  y{i} = {one} get-tuple-element(c), index={i}\n"
        yield f"  ROOT r = {state} tuple(next, {', '.join(f'y{i}' for i in range(n))})\n}}\n\n"
        yield "ENTRY e {\n"
        for i in range(n):
            yield f"  x{i} = {one} parameter({i})\n"
        yield f"  zero = s32[] constant(0)\n  s = {state} tuple(zero, {names})\n"
        yield f"  ROOT r = {state} while(s), condition=condition, body=body\n}}\n"

    @property
    def _reducer(self) -> str:
        if self.type == "pred":
            return "and" if self.reducer in ("minimum", "multiply") else "or"
        return "add" if self.type == "c64" and self.reducer in ("maximum", "minimum") else self.reducer

    @property
    def _unary(self) -> str:
        return "not" if self.type in ("pred", "u8", "u64") else "negate"

    def rows(self, random: np.random.Generator) -> list[list[np.ndarray]]:
        """Makes the operands of each device.

        Integers are from the whole range of their type, so that sums and products wrap. Floats are integers so large
        that their sums and products are exact in the type, and would not be exact in a narrower one.
        """
        element = ElementType(self.type)
        return [[self._values(element, random) for _ in range(self._operands)] for _ in range(self.devices)]

    def _values(self, element: ElementType, random: np.random.Generator) -> np.ndarray:
        if element is ElementType.PRED:
            return random.integers(0, 2, self.shape).astype(np.bool_)
        if element.is_integral:
            limits = np.iinfo(element.dtype)
            return random.integers(limits.min, limits.max, self.shape, element.dtype, endpoint=True)
        bits = int(ml_dtypes.finfo(element.dtype).nmant) - element.is_complex  # type: ignore[no-untyped-call]
        # A place may reduce twice: each result has the values of all devices as often.
        terms = self.devices**2
        largest = 2 ** max(1, bits // terms) if self._reducer == "multiply" else 2**bits // terms
        parts = [random.integers(1 - largest, largest, self.shape) for _ in range(1 + element.is_complex)]
        return np.asarray(parts[0] + 1j * parts[1] if element.is_complex else parts[0]).astype(element.dtype)

    @property
    def is_possible(self) -> bool:
        """Whether sizes can be divided among the devices of a group."""
        if self.kind in ("reduce-scatter", "all-to-all") and not self._divides(self.shape[self.dimension]):
            return False
        return not (self.kind == "all-gather" and math.prod(self.shape) > 1 << 17)


def collective_cases(devices: int) -> list[CollectiveCase]:
    """The cases for so many devices. Kinds that have the same attributes share a design.

    Each reducer of each kind meets each type, with arrays that aren't empty and groups that aren't single devices. So
    does each type odd numbers of elements that are reduced.
    """
    groups, pairs = _GROUPS[devices], _PAIRS[devices]
    shown = [g for g in groups if len(g.split("|")) < devices]  # with groups of one device, no collective shows
    full = [s for s in _SHAPES if math.prod(s)]
    reducing = list(itertools.product(_REDUCING, _REDUCERS))
    others = [(kind, "") for kind in _OTHERS]
    designs: list[tuple[Sequence[object], ...]] = [
        (reducing, shown, ("",), _MODES, _TYPES, full, (False, True), (1, 2, 3), _PLACES),
        (reducing[::3], groups, ("",), _MODES, _TYPES[:2], _SHAPES, (False,), (1, 2), _PLACES[:2]),
        (reducing[: len(_REDUCERS)], shown, ("",), _MODES, _TYPES, _ODD, (False,), (1, 2, 3), _PLACES),
        (others, groups, ("",), _MODES, _TYPES, (*_SHAPES, *_ODD), (False, True), (1, 2), _PLACES),
        ([("collective-permute", "")], ("",), pairs, _MODES, _TYPES, (*_SHAPES, *_ODD), (False,), (1,), _PLACES),
    ]
    found: dict[str, CollectiveCase] = {}
    for case in itertools.chain.from_iterable(_cases_of(devices, axes) for axes in designs):
        found.setdefault(str(case), case)
    return list(found.values())


def _cases_of(devices: int, axes: Sequence[Sequence[object]]) -> Iterator[CollectiveCase]:
    """Yields the cases of a design."""
    varied = [i for i, axis in enumerate(axes) if len(axis) > 1]

    def case(row: Sequence[int]) -> CollectiveCase:
        values: list[Any] = [axis[0] for axis in axes]
        for index, number in zip(varied, row, strict=True):
            values[index] = axes[index][number]
        return CollectiveCase(devices, *values[0], *values[1:])

    return map(case, covering_rows([len(axes[i]) for i in varied], lambda row: case(row).is_possible))
