"""KernelCode: how often a kernel's code has that of each of its instructions, and how large it is in all."""

from __future__ import annotations

from xla_core.analysis.indexing import Access, Index, reduced_rows
from xla_core.hlo.ir.fused import fused_instructions, fused_parameters, fused_root
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.fusion.index_space import IndexSpace
from xla_core.passes.fusion.policy import FusionPolicy

Scope = tuple[tuple[HloInstruction, int, Index], ...]
"""A block of code that runs under conditions: the instructions that branch to it, with their operands and indices."""

Copies = frozenset[tuple[Scope, Index]]
"""The code that is emitted for an instruction: once for each index in each block. Blocks of operands share nothing."""

_ONE_INDEX = frozenset({Opcode.TUPLE, Opcode.GET_TUPLE_ELEMENT, Opcode.OPT_BARRIER})
"""Ops whose parts have the index of the whole."""


class KernelCode:
    """The code of a kernel. Instructions are added after their users.

    Attributes:
        size: its size, in simple instructions; see `FusionPreferences.max_instructions`.
    """

    def __init__(self, root: HloInstruction, space: IndexSpace, policy: FusionPolicy) -> None:
        self.size = policy.code_size(root)
        self._policy, self._space = policy, space
        self._copies: dict[HloInstruction, Copies] = {root: frozenset({((), space.root)})}

    def has_room(self, producer: HloInstruction) -> bool:
        """Whether the code stays small enough if the kernel computes `producer` too."""
        size, preferences = self._policy.code_size(producer), self._policy.preferences
        if not size:
            return True
        copies = len(self._copies_of(producer))
        return copies <= preferences.max_copies and self.size + size * copies <= preferences.max_instructions

    def add(self, producer: HloInstruction) -> None:
        """Adds the copies of an instruction's code that its users need."""
        self._copies[producer] = self._copies_of(producer)
        self.size += self._size_of(producer)

    def remove(self, producer: HloInstruction) -> None:
        """Removes the code of an instruction whose operands the kernel doesn't compute."""
        self.size -= self._size_of(producer)
        del self._copies[producer]

    def _size_of(self, member: HloInstruction) -> int:
        return self._policy.code_size(member) * len(self._copies[member])

    def _copies_of(self, producer: HloInstruction) -> Copies:
        """Returns the copies of `producer`'s code that its users need; some of them, if they are too many."""
        found: set[tuple[Scope, Index]] = set()
        for user in dict.fromkeys(producer.users):
            for number, operand in enumerate(user.operands if user in self._copies else ()):
                if operand is not producer or len(found) > self._policy.preferences.max_copies:
                    continue
                for scope, index in self._copies[user]:
                    access = self._access(user, number, index)
                    inner = (*scope, (user, number, index)) if access.conditions else scope
                    found.add((inner, access.index))
        return frozenset(found)

    def _access(self, user: HloInstruction, number: int, index: Index) -> Access:
        return Access(index) if user.opcode in _ONE_INDEX else self._space.access(user, number, index)


def code_size(kernel: HloInstruction, policy: FusionPolicy) -> int:
    """Returns the size of the code of a fusion with one result, or of an instruction that is a kernel of its own."""
    root, parallel = fused_root(kernel), policy.parallel
    rows = None
    if parallel.has_blocks:
        kinds = [rows for i in fused_instructions(kernel) if (rows := reduced_rows(i)) is not None]
        rows = next((rows for rows in kinds if rows.fits(next(root.shape.leaves()))), None)
    code = KernelCode(root, IndexSpace(root, parallel, rows), policy)
    outside = {root, *fused_parameters(kernel)}
    for member in reversed(fused_instructions(kernel)):
        if member not in outside:
            code.add(member)
    return code.size
