"""Emits loads, stores and atomics with checks of bounds and alignment."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xla_backend_gpu.emulator.fast.layout import Context, Faults
from xla_backend_gpu.emulator.fast.operands import Operands, context_word
from xla_backend_gpu.emulator.ptx.program import Address, Immediate, Instruction, Kernel, Register, Symbol, Vector
from xla_backend_gpu.emulator.spaces import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from xla_backend_gpu.emulator.table import Effect
from xla_backend_gpu.emulator.table.group_matrices import CHUNK
from xla_backend_gpu.emulator.table.matrix_loads import ROW_BYTES, row_lanes
from xla_backend_gpu.emulator.table.warp import LANES
from xla_core.codegen.llvm import IrBuilder, Value
from xla_core.errors import UnimplementedError

_ACCESSES = (Effect.LOAD, Effect.STORE, Effect.ATOMIC)


def _size(instruction: Instruction) -> int:
    """The bytes of an access."""
    return instruction.type.size * instruction.vector_length


def _places(instruction: Instruction) -> list[tuple[str, int]]:
    """The spaces and the bytes of an instruction's accesses."""
    definition = instruction.definition
    if definition.effect in _ACCESSES:
        return [(instruction.space, _size(instruction))]
    if definition.effect is Effect.COPY:
        size = _copied(instruction)
        return [("shared", size), ("global", size), ("global", 1)]
    if definition.effect is Effect.GROUP_PRODUCT:
        return [("shared", CHUNK)]
    return [("shared", ROW_BYTES)] if definition.loads_rows else []


def _copied(instruction: Instruction) -> int:
    """The bytes that an asynchronous copy writes."""
    count = instruction.operands[2]
    assert isinstance(count, Immediate)
    return count.value


class Accesses:
    """Emits the memory accesses of a thread function.

    Args:
        shared, local: the block's shared memory, and the thread's own.
        fault: (condition, kind, address, alignment) -> emits code that reports a fault if the condition (an i1) holds.

    It is made at the start of the function, where it emits the code that all accesses share.
    """

    def __init__(
        self,
        b: IrBuilder,
        kernel: Kernel,
        operands: Operands,
        shared: Value,
        local: Value,
        fault: Callable[[Value, Faults, Value, int], None],
    ) -> None:
        self.b, self.kernel, self.operands, self.shared, self.local, self.fault = (
            *(b, kernel, operands),
            *(shared, local, fault),
        )
        context = operands.context
        self.parameters = context_word(b, context, Context.PARAMETERS, "ptr")
        self.memory = context_word(b, context, Context.MEMORY, "ptr")
        self.memory_base = context_word(b, context, Context.MEMORY_BASE)
        accesses = {place for i in kernel.instructions for place in _places(i)}
        uses_shared = any(space in ("shared", "generic") for space, _ in accesses)
        shared_bytes = context_word(b, context, Context.SHARED_BYTES) if uses_shared else b.int_(0)
        memory_size = context_word(b, context, Context.MEMORY_SIZE)
        self.ends: dict[tuple[str, int], Value] = {}
        for space, size in sorted(accesses):
            if space in ("shared", "generic") and ("shared", size) not in self.ends:
                too_small = b.icmp("ult", shared_bytes, b.int_(size))
                self.ends["shared", size] = b.select(too_small, b.int_(0), b.sub(shared_bytes, b.int_(size - 1)))
            self.ends["local", size] = b.int_(max(0, kernel.local_bytes - size + 1))
            if space not in ("shared", "local", "param") and ("global", size) not in self.ends:
                self.ends["global", size] = b.sub(memory_size, b.int_(size - 1))  # it is never smaller than an access

    def emit(self, instruction: Instruction) -> None:
        """Emits an instruction whose effect is LOAD, STORE, ATOMIC or COPY."""
        effect = instruction.definition.effect
        if effect is Effect.LOAD:
            self._load(instruction)
        elif effect is Effect.COPY:
            self._copy(instruction)
        elif effect is Effect.STORE:
            self._store(instruction)
        else:
            self._atomic(instruction)

    def _pointer(self, instruction: Instruction) -> Value:
        """Emits the checks of an address operand, and returns the address on the host."""
        address = next(o for o in instruction.operands if isinstance(o, Address))
        base = address.base
        if instruction.space == "param":
            if isinstance(base, Symbol):
                return self.b.gep("i8", self.parameters, self.b.int_(base.variable.address + base.offset))
            return self.checked(self._where(address), "param", _size(instruction))
        return self.checked(self._where(address), instruction.space, _size(instruction))

    def _where(self, address: Address) -> Value:
        b, base = self.b, address.base
        if isinstance(base, Symbol):
            return self.operands.address_of(base)
        if isinstance(base, Register):
            return b.add(b.resize(self.operands.load_register(base), "i64", signed=False), b.int_(address.offset))
        return b.int_(base.value + address.offset)

    def checked(self, where: Value, space: str, size: int, align: int = 0) -> Value:
        """Emits the checks of an access, and returns its address on the host. By default it is aligned to its size."""
        b = self.b
        start, offset, end = self._region(where, space, size)
        constant, last = offset.integer, end.integer
        align = align or size
        if constant is None or last is None or not 0 <= constant < last or constant % align:
            # The low bits of a misaligned address make the highest bits, and so the offset too large.
            place = b.binary("or", offset, b.shl(where, 65 - align.bit_length())) if align > 1 else offset
            self.fault(b.icmp("uge", place, end), Faults.OUT_OF_BOUNDS, where, align)
        return b.gep("i8", start, offset)

    def _region(self, where: Value, space: str, size: int) -> tuple[Value, Value, Value]:
        """Returns the memory that an address lies in: its start on the host, the offset of the address, and the first
        offset at which an access is outside.
        """
        b = self.b
        if space == "shared":
            return self.shared, where, self.ends["shared", size]
        if space == "local":
            return self.local, where, self.ends["local", size]
        if space == "param":
            return self.parameters, where, b.int_(max(0, self.kernel.parameter_bytes - size + 1))
        start, end = self.memory, self.ends["global", size]
        offset = b.sub(where, self.memory_base)
        if space == "generic":
            for base, window in (("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW)):
                inner = b.sub(where, b.int_(window))
                inside = b.icmp("ult", inner, b.int_(WINDOW_BYTES))
                other_start, _, other_end = self._region(inner, base, size)
                start = b.select(inside, other_start, start)
                offset = b.select(inside, inner, offset)
                end = b.select(inside, other_end, end)
        return start, offset, end

    def _load(self, instruction: Instruction) -> None:
        b, type_ = self.b, instruction.type
        pointer = self._pointer(instruction)
        result = instruction.operands[0]
        elements = result.elements if isinstance(result, Vector) and instruction.has("vec") else (result,)
        for position, element in enumerate(elements):
            place = b.gep("i8", pointer, b.int_(position * type_.size))
            self.operands.put(element, type_, b.load(f"i{type_.bits}", place, align=type_.size))

    def _store(self, instruction: Instruction) -> None:
        b, type_ = self.b, instruction.type
        pointer = self._pointer(instruction)
        source = instruction.operands[1]
        elements = source.elements if isinstance(source, Vector) and instruction.has("vec") else (source,)
        for position, element in enumerate(elements):
            place = b.gep("i8", pointer, b.int_(position * type_.size))
            value = b.bitcast(self.operands.get(element, type_), f"i{type_.bits}")
            b.store(value, place, align=type_.size)

    def _copy(self, instruction: Instruction) -> None:
        """Emits an asynchronous copy, which is done at once. Bytes beyond the source are filled with zeros."""
        b, size = self.b, _copied(instruction)
        to, source = (o for o in instruction.operands if isinstance(o, Address))
        target = self.checked(self._where(to), "shared", size)
        if instruction.operands[3] is None:
            self._move(target, self.checked(self._where(source), "global", size), size)
            return
        given = self.operands.sources(instruction)[-1]
        where = self._where(source)
        whole = b.icmp("uge", given, b.int_(size, "i32"))
        with b.if_(whole):
            self._move(target, self.checked(where, "global", size), size)
        with b.if_(b.not_(whole)):
            b.store(b.int_(0, f"i{8 * size}"), target, align=size)
            loop, _ = b.open_loop(b.int_(0), b.cast("zext", given, "i64"), name="byte")
            octet = self.checked(b.add(where, loop.index), "global", 1)
            b.store(b.load("i8", octet), b.gep("i8", target, loop.index))
            b.close_loop(loop)

    def _move(self, target: Value, source: Value, size: int) -> None:
        self.b.store(self.b.load(f"i{8 * size}", source, align=size), target, align=size)

    def row(self, instruction: Instruction, places: Sequence[Value]) -> None:
        """Emits the load of a row of a matrix by each lane that gives an address. The words go to `places`."""
        b = self.b
        (address,) = (o for o in instruction.operands if isinstance(o, Address))
        lane = b.binary("and", self.operands.index("thread"), b.int_(LANES - 1, "i32"))
        where = self._where(address)
        with b.if_(b.icmp("ult", lane, b.int_(row_lanes(instruction), "i32"))):
            start = self.checked(where, "shared", ROW_BYTES)
            for number, place in enumerate(places):
                word = b.load("i32", b.gep("i8", start, b.int_(4 * number)), align=4)
                b.store(b.cast("zext", word, "i64"), place, align=8)

    def _atomic(self, instruction: Instruction) -> None:
        """Emits an atomic as a loop of compare-and-exchange, which ends when no other thread changed the value."""
        b, type_ = self.b, instruction.type
        integer = f"i{type_.bits}"
        pointer = self._pointer(instruction)
        sources = self.operands.sources(instruction)
        function = b.function
        loop, done = function.add_block("atomic"), function.add_block("atomic.done")
        first = b.emit(integer, f"load atomic {integer}, {pointer} monotonic, align {type_.size}")
        before = b.block
        b.branch(loop)
        b.block = loop
        again = Value(integer, function.fresh())
        old = b.phi((first, before), (again, loop))
        new = b.bitcast(instruction.definition.ir(b, instruction, b.bitcast(old, type_.ir), *sources), integer)
        pair = b.emit(f"{{{integer}, i1}}", f"cmpxchg {pointer}, {old}, {new} acq_rel monotonic, align {type_.size}")
        b.line(f"{again.name} = extractvalue {pair}, 0")
        succeeded = b.emit("i1", f"extractvalue {pair}, 1")
        if b.block is not loop:
            raise UnimplementedError(f"line {instruction.line}: an atomic of several blocks")
        b.branch_if(succeeded, done, loop)
        b.block = done
        self.operands.put_results(instruction, b.bitcast(old, type_.ir))
