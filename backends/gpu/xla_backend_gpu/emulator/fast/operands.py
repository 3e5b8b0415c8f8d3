"""Makes LLVM values of PTX operands: registers, constants, special registers, addresses of variables."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Collection, Iterator, Mapping

from xla_backend_gpu.emulator.fast.layout import INDICES, Context
from xla_backend_gpu.emulator.ptx.program import (
    Immediate,
    Instruction,
    Kernel,
    Negation,
    Operand,
    Register,
    SpecialRegister,
    Symbol,
    Variable,
    Vector,
)
from xla_backend_gpu.emulator.ptx.types import PtxType, register_type
from xla_backend_gpu.emulator.table import Definition
from xla_core.codegen.llvm import IrBuilder, Value
from xla_core.errors import UnimplementedError


def context_word(b: IrBuilder, context: Value, place: int, type_: str = "i64") -> Value:
    """Loads a word of the context. No kernel changes the context, so the load is marked invariant."""
    facts = f", !invariant.load {b.module.metadata('!{}')}"
    return b.load(type_, b.gep("i64", context, b.int_(place)), align=8, metadata=facts)


Known = dict[int, dict[str, Value]]
"""Values of registers, by the register's index and by LLVM type."""


class Operands:
    """Reads and writes the operands of instructions in a thread function.

    A register whose value may come from several basic blocks is in memory: on the stack, or in the thread's state.
    Within a basic block, and in those that only this block leads to, its value is known after the first use, in each
    LLVM type that it is used in, so that most registers need no memory and most uses need no load. Unoptimized code is
    then compiled faster, and runs faster.

    Args:
        in_memory: the registers, by index, that need memory.
        place: the indices of the thread and its block (`INDICES`).
        state: the thread's state.
        resident: the offsets in the state of the registers that are there, by index.
    """

    def __init__(
        self,
        b: IrBuilder,
        kernel: Kernel,
        context: Value,
        place: Value,
        in_memory: Collection[int],
        state: Value,
        resident: Mapping[int, int],
    ) -> None:
        self.b, self.context, self.place = b, context, place
        self.globals: dict[Variable, int] = {v: Context.GLOBALS + i for i, v in enumerate(kernel.globals)}
        self._state, self._resident = state, resident
        self._stack = {
            i: b.alloca(f"i{kernel.registers[i].bits}") for i in sorted(in_memory) if i not in self._resident
        }
        self._known: Known = {}

    def enter_block(self, known: Known | None = None) -> None:
        """Begins a basic block in which these values of registers are known: none, if several blocks lead to it."""
        self._known = known if known is not None else {}

    def known(self) -> Known:
        """Returns the values of registers that are known here, for the blocks that only this place leads to."""
        return self._known

    @contextlib.contextmanager
    def under_guard(self) -> Iterator[None]:
        """Forgets the values that the code inside computed, because that code may not run."""
        before = {index: dict(values) for index, values in self._known.items()}
        yield
        inside, self._known = self._known, {}
        for index, values in before.items():
            if kept := {type_: v for type_, v in values.items() if inside.get(index, {}).get(type_) is v}:
                self._known[index] = kept

    def load_register(self, register: Register, type_: str = "") -> Value:
        """Returns the value of a register as an integer, or in an LLVM type of as many bits."""
        type_ = type_ or f"i{register.bits}"
        known = self._known.setdefault(register.index, {})
        if type_ not in known:
            first = next(iter(known.values()), None)
            known[type_] = (
                self.b.bitcast(first, type_) if first is not None else self.b.load(type_, self._place(register.index))
            )
        return known[type_]

    def store_register(self, register: Register, value: Value) -> None:
        """Writes a register. The value is of any LLVM type of as many bits."""
        self._known[register.index] = {value.type: value}
        if register.index in self._stack or register.index in self._resident:
            self.b.store(value, self._place(register.index))

    def _place(self, index: int) -> Value:
        """Returns the address of a register that is in memory."""
        offset = self._resident.get(index)
        return self._stack[index] if offset is None else self.b.gep("i8", self._state, self.b.int_(offset))

    # -- values ------------------------------------------------------------------------------------------------------

    def get(self, operand: Operand, type_: PtxType) -> Value:
        """Returns the value of an operand in a type."""
        if isinstance(operand, Register) and operand.bits == type_.bits:
            return self.load_register(operand, type_.ir)
        if isinstance(operand, Vector):
            return self.b.bitcast(self._packed(operand, type_), type_.ir)
        value = self._bits(operand, type_)
        return self.b.bitcast(self.b.cast("trunc", value, f"i{type_.bits}"), type_.ir)

    def _bits(self, operand: Operand, type_: PtxType) -> Value:
        b = self.b
        if isinstance(operand, Register):
            return self.load_register(operand)
        if isinstance(operand, Immediate):
            bits = operand.bits_in(type_)
            return b.bool_(bool(bits)) if type_.bits == 1 else b.int_(bits, f"i{type_.bits}")
        if isinstance(operand, Negation):
            return b.not_(self.load_register(operand.register))
        if isinstance(operand, Symbol):
            return b.resize(self.address_of(operand), f"i{type_.bits}", signed=False)
        if isinstance(operand, SpecialRegister):
            return b.resize(self._special(operand.name), f"i{type_.bits}", signed=False)
        raise UnimplementedError(f"the fast engine cannot read operand {operand}")

    def _packed(self, vector: Vector, type_: PtxType) -> Value:
        """Packs the elements of a vector into one integer. The first element has the lowest bits."""
        b, whole = self.b, f"i{type_.bits}"
        element = register_type(type_.bits // len(vector.elements))
        result = b.int_(0, whole)
        for position, operand in enumerate(vector.elements):
            piece = b.cast("zext", self.get(operand, element), whole)
            result = b.or_(result, b.shl(piece, position * element.bits))
        return result

    def address_of(self, symbol: Symbol) -> Value:
        """Returns the address of a variable in its space."""
        place = self.globals.get(symbol.variable)
        if place is None:
            return self.b.int_(symbol.variable.address + symbol.offset)
        return self.b.add(context_word(self.b, self.context, place), self.b.int_(symbol.offset))

    def index(self, name: str) -> Value:
        """Returns one of `INDICES`, an i32."""
        return self.b.load("i32", self.b.gep("i32", self.place, self.b.int_(INDICES.index(name))))

    def _special(self, name: str) -> Value:
        b = self.b
        base, _, axis = name.removeprefix("%").partition(".")
        if base in ("tid", "ctaid"):
            return self.index(f"{base}.{axis}")
        if base in ("ntid", "nctaid"):
            first = Context.BLOCK_X if base == "ntid" else Context.GRID_X
            return b.cast("trunc", context_word(b, self.context, first + "xyz".index(axis)), "i32")
        lane = b.binary("and", self.index("thread"), b.int_(31, "i32"))
        if base == "laneid":
            return lane
        if base == "warpid":
            return b.lshr(self.index("thread"), 5)
        if base == "nwarpid":
            return b.int_(32, "i32")
        if base.startswith("lanemask_"):
            return self._lane_mask(base.removeprefix("lanemask_"), lane)
        if base in ("clock", "clock64", "globaltimer"):
            return b.intrinsic("readcyclecounter", suffixes=(), result="i64")
        if base == "dynamic_smem_size":
            return b.cast("trunc", context_word(b, self.context, Context.SHARED_BYTES), "i32")
        if base in ("smid", "gridid", "clusterid", "cluster_ctaid"):
            return b.int_(0, "i32")
        if base in ("nsmid", "nclusterid", "cluster_nctaid"):
            return b.int_(1, "i32")
        raise UnimplementedError(f"the fast engine does not support special register {name}")

    def _lane_mask(self, kind: str, lane: Value) -> Value:
        b = self.b
        own = b.binary("shl", b.int_(1, "i32"), lane)
        below = b.sub(own, b.int_(1, "i32"))
        masks = {"eq": own, "lt": below, "le": b.or_(own, below), "gt": b.not_(b.or_(own, below)), "ge": b.not_(below)}
        return masks[kind]

    # -- results -----------------------------------------------------------------------------------------------------

    def put(self, operand: Operand, type_: PtxType, value: Value) -> None:
        """Writes a result. In a wider register it is extended with zeros or with its sign, depending on its type."""
        b = self.b
        if operand is None:
            return
        if isinstance(operand, Register) and operand.bits == type_.bits:
            self.store_register(operand, value)
            return
        bits = b.bitcast(value, f"i{type_.bits}")
        if isinstance(operand, Vector):
            width = type_.bits // len(operand.elements)
            for position, element in enumerate(operand.elements):
                if isinstance(element, Register):
                    self.store_register(element, b.cast("trunc", b.lshr(bits, position * width), f"i{width}"))
        elif isinstance(operand, Register):
            self.store_register(operand, b.resize(bits, f"i{operand.bits}", signed=type_.is_signed))

    def sources(self, instruction: Instruction) -> list[Value]:
        """Returns the values of the operands that an instruction reads."""
        operands = instruction.operands
        read, _ = _typed_operands(instruction.definition, instruction.types)
        return [self.get(operands[place], type_) for place, type_ in read if operands[place] is not None]

    def put_results(self, instruction: Instruction, results: Value | tuple[Value, ...] | None) -> None:
        """Writes the results of an instruction to its registers."""
        if results is None:
            return
        values = results if isinstance(results, tuple) else (results,)
        _, written = _typed_operands(instruction.definition, instruction.types)
        for (place, type_), value in zip(written, values, strict=False):
            self.put(instruction.operands[place], type_, value)


_Typed = tuple[tuple[int, PtxType], ...]


@functools.lru_cache(maxsize=4096)
def _typed_operands(definition: Definition, types: tuple[PtxType, ...]) -> tuple[_Typed, _Typed]:
    """Returns the places and the types of the values that are read, and of the operands that are written."""
    specs = list(enumerate(definition.operands))
    read = tuple((place, spec.type_of(types)) for place, spec in specs if spec.is_read and spec.is_typed)
    return read, tuple((place, spec.type_of(types)) for place, spec in specs if spec.written)
