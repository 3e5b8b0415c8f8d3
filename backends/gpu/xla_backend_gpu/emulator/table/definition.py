"""An entry of the instruction table: the syntax of an instruction, and its implementation for each engine."""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Callable
from typing import Any

from xla_backend_gpu.emulator.ptx.types import TYPES, PtxType


class Effect(enum.Enum):
    """The effect of an instruction besides computing a value. The engines schedule threads by it."""

    VALUE = enum.auto()  # computes its results from its operands
    LOAD = enum.auto()
    STORE = enum.auto()
    ATOMIC = enum.auto()  # combines a value in memory with an operand
    WARP = enum.auto()  # computes from the operands of several lanes, which wait for each other
    COPY = enum.auto()  # starts a copy from global to shared memory
    COMMIT = enum.auto()  # makes a group of the thread's copies since the last one
    AWAIT = enum.auto()  # waits until at most this many groups of copies are unfinished
    BARRIER = enum.auto()  # waits for the threads of the block
    PROXY_FENCE = enum.auto()  # shows the thread's stores to shared memory to products of warpgroups
    GROUP_FENCE = enum.auto()  # orders the use of registers before products of the warpgroup
    GROUP_PRODUCT = enum.auto()  # starts a product that the four warps of a warpgroup compute together
    GROUP_COMMIT = enum.auto()  # makes a group of the warpgroup's products since the last one
    GROUP_AWAIT = enum.auto()  # waits until at most this many groups of products are unfinished
    BRANCH = enum.auto()
    EXIT = enum.auto()
    TRAP = enum.auto()
    NOTHING = enum.auto()  # orders memory; the engines keep that order anyway
    UNSUPPORTED = enum.auto()  # is read, and refused when a kernel that has it is launched


GROUP_EFFECTS = frozenset({Effect.GROUP_FENCE, Effect.GROUP_PRODUCT, Effect.GROUP_COMMIT, Effect.GROUP_AWAIT})
"""The effects of instructions that the threads of a warpgroup execute together."""


@dataclasses.dataclass(frozen=True, slots=True)
class OperandSpec:
    """An operand of a definition: its name, its kind, whether it is written, and whether it may be absent.

    An operand that is updated is written, and read before.

    An operand in a vector is one of several registers in braces, of which each is an operand of its own.

    The kind is the name of a type, or one of these:
      T, U, V   the first, second or third type that the mnemonic names
      W         an integer of twice the width of T
      mem       an address in brackets
      label     a branch target
      labels    the targets of a branch by index
      any       registers that belong to an instruction which no engine runs yet
    """

    name: str
    kind: str = "T"
    written: bool = False
    optional: bool = False
    after_bar: bool = False
    in_vector: bool = False
    updated: bool = False

    @property
    def is_read(self) -> bool:
        return self.updated or not self.written

    @property
    def is_typed(self) -> bool:
        """Whether the operand is a value."""
        return self.kind not in ("mem", "label", "labels", "any")

    def type_of(self, types: tuple[PtxType, ...]) -> PtxType:
        if self.kind in _POSITIONS:
            return types[_POSITIONS[self.kind]]
        if self.kind == "W":
            return TYPES[f"{types[0].kind}{2 * types[0].bits}"]
        return TYPES[self.kind]


_POSITIONS = {"T": 0, "U": 1, "V": 2, "X": 3}


@dataclasses.dataclass(frozen=True, slots=True)
class Slot:
    """A modifier in a syntax: its choices, and whether it is optional."""

    name: str
    choices: frozenset[str]
    optional: bool
    is_type: bool


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """An instruction of the table.

    Attributes:
        syntax: its syntax; see `define`.
        numpy: its implementation for the checked engine: a function of the instruction and of arrays over the threads,
            one for each operand that is read, in order. It returns an array for each operand that is written.
        ir: its implementation for the fast engine: a function of an IrBuilder, the instruction, and an LLVM value for
            each operand that is read. It returns LLVM values.
        effect: its other effect.
        waits: whether threads wait for others there in the fast engine.
    """

    syntax: str
    base: str
    slots: tuple[Slot, ...]
    operands: tuple[OperandSpec, ...]
    effect: Effect
    numpy: Callable[..., Any]
    ir: Callable[..., Any]
    waits: bool = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        waits = self.effect in (Effect.BARRIER, Effect.WARP) or self.shares_fragments
        object.__setattr__(self, "waits", waits)

    @property
    def loads_rows(self) -> bool:
        """Whether each lane loads 16 bytes of shared memory before. Its implementations take them as four words."""
        return self.effect is Effect.WARP and any(operand.kind == "mem" for operand in self.operands)

    @property
    def orders_lanes(self) -> bool:
        """Whether the lanes of a warp see what the others stored before. CUDA promises it of bar.warp.sync alone."""
        return self.effect is Effect.WARP and self.base == "bar"

    @property
    def shares_fragments(self) -> bool:
        """Whether the lanes of a warp give each other the registers of A, of a product of warpgroups."""
        return self.effect is Effect.GROUP_PRODUCT and any(o.in_vector and not o.written for o in self.operands)

    @property
    def exchanged(self) -> int | None:
        """The place of the operand that lanes fetch from each other by `fetch`, if there is one."""
        places = [p for p, operand in enumerate(self.operands) if operand.is_read]
        return places[0] if self.base == "shfl" else None

    @property
    def has_mask(self) -> bool:
        """Whether the last operand names the lanes that take part. Without it, all lanes of the warp do."""
        return bool(self.operands) and self.operands[-1].name == "mask"

    def match(
        self, modifiers: list[str], operand_count: int, braces: tuple[int, ...] = ()
    ) -> tuple[dict[str, str], tuple[PtxType, ...]] | None:
        """Returns the chosen modifiers and types if an instruction has this syntax, else None. See `find`."""
        chosen: dict[str, str] = {}
        types: list[PtxType] = []
        position = 0
        for slot in self.slots:
            if position < len(modifiers) and modifiers[position] in slot.choices:
                text = modifiers[position]
                position += 1
                if slot.is_type:
                    types.append(TYPES[text])
                else:
                    chosen[slot.name] = text
            elif not slot.optional:
                return None
        least = sum(not o.optional and not (o.in_vector and o.after_bar) for o in self.operands)
        plain = sum(not o.after_bar for o in self.operands)
        if position < len(modifiers) or not least <= operand_count <= plain:
            return None
        if any(wanted not in (0, given) for wanted, given in zip(self._braces(), braces, strict=False)):
            return None
        return chosen, tuple(types)

    def _braces(self) -> list[int]:
        """Returns how many registers in braces each operand of an instruction is, or 0 where there are no braces."""
        found: list[int] = []
        for operand in self.operands:
            if not operand.after_bar:
                found.append(0)
            found[-1] += operand.in_vector
        return found


TABLE: dict[str, list[Definition]] = {}
"""Every instruction that is known, by its name without modifiers."""

_INTEGERS = tuple(f"{k}{bits}" for k in "us" for bits in (16, 32, 64))
_BITS = ("b16", "b32", "b64")
CLASSES: dict[str, tuple[str, ...]] = {
    # types
    "int": _INTEGERS,
    "int8": ("u8", "s8", *_INTEGERS),
    "short": ("u16", "s16", "u32", "s32"),
    "word": ("u32", "s32", "u64", "s64"),
    "signed": ("s16", "s32", "s64"),
    "bits": _BITS,
    "bits32": ("b32", "b64"),
    "bitsp": ("pred", *_BITS),
    "float": ("f32", "f64"),
    "half": ("f16", "f16x2", "bf16", "bf16x2"),
    "f16s": ("f16", "f16x2"),
    "allfloat": ("f16", "f16x2", "bf16", "bf16x2", "f32", "f64"),
    "scalarfloat": ("f16", "bf16", "f32", "f64"),
    "scalar": (*_BITS, *_INTEGERS, "f16", "bf16", "f32", "f64"),
    "any": (*_BITS, *_INTEGERS, "f32", "f64"),
    "memory": ("b8", "u8", "s8", *_BITS, *_INTEGERS, "f16", "bf16", "f16x2", "bf16x2", "f32", "f64", "b128"),
    # modifiers
    "rnd": ("rn", "rz", "rm", "rp"),
    "irnd": ("rni", "rzi", "rmi", "rpi"),
    "anyrnd": ("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"),
    "cmp": (
        *("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"),
        *("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"),
    ),
    "bool": ("and", "or", "xor"),
    "space": ("global", "shared", "shared::cta", "local", "param", "const", "param::entry", "param::func"),
    "vec": ("v2", "v4", "v8"),
    "part": ("lo", "hi"),
    "sem": ("weak", "relaxed", "acquire", "release", "acq_rel", "sc", "volatile", "mmio"),
    "scope": ("cta", "cluster", "gpu", "sys"),
    "cop": ("ca", "cg", "cs", "lu", "cv", "wb", "wt"),
    "evict": ("L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"),
    "prefetch": ("L2::64B", "L2::128B", "L2::256B"),
}
_TYPE_CLASSES = frozenset(name for name, choices in CLASSES.items() if all(c in TYPES for c in choices))


def define(
    syntax: str,
    numpy: Callable[..., Any] | None = None,
    ir: Callable[..., Any] | None = None,
    effect: Effect = Effect.VALUE,
) -> None:
    """Adds an instruction to the table.

    The syntax is similar to that of PTX's manual: `add.rnd?.ftz?.float d, a, b`. A modifier is the name of a class in
    `CLASSES`, a type, named alternatives `name=a/b`, or a word that stands for itself. An operand is a name, with
    `:kind` unless its kind is the first type. `d|p` is two operands; `a*4:kind` is four registers in braces. `?`
    marks an optional modifier or operand. The operands named d, p and q are results; `+` marks one that is read too.
    """
    mnemonic, _, rest = syntax.partition(" ")
    base, *parts = mnemonic.split(".")
    operands = [
        _operand(spec, position > 0, in_vector="*" in group)
        for group in filter(None, (g.strip() for g in rest.split(",")))
        for position, spec in enumerate(_members(group))
    ]
    meaning = Definition(
        syntax, base, tuple(map(_slot, parts)), tuple(operands), effect, numpy or _nothing, ir or _nothing
    )
    TABLE.setdefault(base, []).append(meaning)


def _nothing(*_: object) -> None:
    """The implementation of an instruction that has an effect and no result."""


def _slot(text: str) -> Slot:
    text, optional = text.removesuffix("?"), text.endswith("?")
    name, _, listed = text.partition("=")
    choices = tuple(listed.split("/")) if listed else CLASSES.get(name, (name,))
    return Slot(name, frozenset(choices), optional, name in _TYPE_CLASSES or all(c in TYPES for c in choices))


def _members(group: str) -> list[str]:
    """Returns the operands between two commas."""
    name, _, kind = group.partition(":")
    if "*" not in name:
        return group.split("|")
    name, _, count = name.partition("*")
    return [f"{name}:{kind}"] * int(count)


def _operand(text: str, after_bar: bool, *, in_vector: bool) -> OperandSpec:
    optional, updated = text.endswith("?"), text.startswith("+")
    name, _, kind = text.removeprefix("+").removesuffix("?").partition(":")
    kind = kind or ("pred" if name in "pq" else "T")
    return OperandSpec(name, kind, name in "dpq", optional, after_bar, in_vector, updated)


ON_DEMAND: dict[str, Callable[[str], None]] = {}
"""By names without modifiers: functions that add the definitions of a mnemonic to the table when it is first used.

They are for instructions of hundreds of forms, each of which has dozens of operands.
"""


@functools.lru_cache(maxsize=4096)
def find(
    mnemonic: str, operand_count: int, braces: tuple[int, ...] = ()
) -> tuple[Definition, dict[str, str], tuple[PtxType, ...]] | None:
    """Returns the definition of an instruction, its modifiers and types. Returns None if the table doesn't have it.

    `braces` says how many registers each operand has in braces, 0 for an operand without. If it is empty, any number
    will do.
    """
    base, *modifiers = mnemonic.split(".")
    if base in ON_DEMAND:
        ON_DEMAND[base](mnemonic)
    for definition in TABLE.get(base, ()):
        matched = definition.match(modifiers, operand_count, braces)
        if matched is not None:
            return definition, *matched
    return None
