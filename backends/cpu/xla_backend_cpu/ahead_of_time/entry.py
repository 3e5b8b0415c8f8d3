"""Emits the entry that C calls: it makes the table of addresses that the emitted module takes.

    int32_t NAME(const void *const *arguments, void *const *results, void *arena)

The arena holds the run's context, then scratch memory of kernels, then the temporaries.
"""

from __future__ import annotations

from xla_backend_cpu.ahead_of_time.arena_abi import CONTEXT_BYTES
from xla_backend_cpu.ahead_of_time.interface import ARENA_ALIGNMENT
from xla_backend_cpu.calling_convention import ENTRY, Status
from xla_core.analysis import AllocationKind, BufferAssignment
from xla_core.codegen.llvm import IrBuilder, IrFunction, IrModule, Value


class Places:
    """The slots of the table of addresses by their contents, and the sizes of the parts of the arena."""

    def __init__(self, assignment: BufferAssignment, ir: IrModule) -> None:
        entry = assignment.module.entry
        self.slots = 1 + len(assignment.allocations)
        self.parameters: dict[int, int] = {}
        self.constants = {}
        self.temporaries: int | None = None
        self.scratch_bytes = max((f.resources.thread_scratch_bytes for f in ir.functions.values()), default=0)
        self.arena_bytes = CONTEXT_BYTES + self.scratch_bytes
        for allocation in assignment.allocations:
            slot = 1 + allocation.index
            if allocation.parameter is not None:
                self.parameters[slot] = allocation.parameter[0]
            elif allocation.kind is AllocationKind.CONSTANT and allocation.constant is not None:
                self.constants[slot] = allocation.constant.literal
            elif allocation.kind is AllocationKind.TEMP and allocation.size:
                self.temporaries = slot
                self.arena_bytes += allocation.size
        root = entry.root
        leaves = zip(root.shape.leaves(), assignment.leaf_slices(root), strict=True)
        self.results = [1 + place.allocation.index if shape.num_elements else None for shape, place in leaves]

    @property
    def constant_bytes(self) -> int:
        return sum(literal.array.nbytes for literal in self.constants.values())


def emit_entry(module: IrModule, places: Places, name: str, pointer_bytes: int) -> None:
    """Adds the entry to the module, under a name."""
    parameters = [("ptr", "", "arguments"), ("ptr", "", "results"), ("ptr", "", "arena")]
    function = IrFunction(name, "i32", parameters, attributes="nounwind")
    b = IrBuilder(module, function)
    arguments, results, arena = function.parameters
    size = f"i{8 * pointer_bytes}"
    address = b.cast("ptrtoint", arena, size)
    low = b.binary("and", address, b.int_(ARENA_ALIGNMENT - 1, size))
    wrong = b.or_(b.icmp("eq", address, b.int_(0, size)), b.icmp("ne", low, b.int_(0, size)))
    refused, fine = function.add_block("refused"), function.add_block("fine")
    b.branch_if(wrong, refused, fine)
    refused.lines.append(f"ret i32 {Status.WRONG_ARENA:d}")
    b.block = fine
    table = b.alloca("ptr", places.slots, align=16)

    def put(slot: int, pointer: Value) -> None:
        b.store(pointer, b.gep("ptr", table, b.int_(slot)), align=pointer_bytes)

    def entry_of(array: Value, number: int) -> Value:
        return b.load("ptr", b.gep("ptr", array, b.int_(number)), align=pointer_bytes)

    for word in range(CONTEXT_BYTES // 8):
        b.store(b.int_(0), b.gep("i64", arena, b.int_(word)), align=8)
    put(0, arena)
    for slot, number in places.parameters.items():
        put(slot, entry_of(arguments, number))
    for slot, literal in places.constants.items():
        put(slot, module.constant_array(literal.array, ARENA_ALIGNMENT))
    if places.temporaries is not None:
        put(places.temporaries, b.gep("i8", arena, b.int_(CONTEXT_BYTES + places.scratch_bytes)))
    for number, result in enumerate(places.results):
        if result is not None:
            put(result, entry_of(results, number))
    b.ret(b.call(ENTRY, "i32", [table]))
    module.add_function(function)
