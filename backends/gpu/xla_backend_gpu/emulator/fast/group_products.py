"""Emits products of warpgroups. Each thread reads the lines of both matrices that its elements of the result need.

If A lies in registers, the lanes of a warp wait for each other before, and give each other their registers.
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_backend_gpu.emulator.fast.accesses import Accesses
from xla_backend_gpu.emulator.fast.layout import Faults
from xla_backend_gpu.emulator.fast.operands import Operands
from xla_backend_gpu.emulator.ptx.program import Immediate, Instruction
from xla_backend_gpu.emulator.ptx.types import PtxType
from xla_backend_gpu.emulator.table.group_matrices import CHUNK, MatrixValues
from xla_backend_gpu.emulator.table.group_products import THREADS, GroupShape, shape_of
from xla_backend_gpu.emulator.table.ir_floats import canonical
from xla_backend_gpu.emulator.table.matrix import element
from xla_core.codegen.llvm import IrBuilder, Value


def emit_product(
    b: IrBuilder, operands: Operands, accesses: Accesses, instruction: Instruction, fragments: Sequence[Value] = ()
) -> None:
    """Emits a product. `fragments` are the registers of A of the four lanes that have this thread's rows, lane by lane;
    none if A has a descriptor.
    """
    shape = shape_of(instruction.definition.syntax.partition(" ")[0])
    assert shape is not None
    values = operands.sources(instruction)
    totals, rest = values[: shape.totals], values[shape.totals + (4 if fragments else 1) :]
    signs = [o.value for o in instruction.operands if isinstance(o, Immediate)][-2 - _turns(shape, fragments) :]
    negates = shape.total.is_float and signs[0] * signs[1] < 0
    turns = [bool(sign) for sign in signs[2:]]
    product = _Product(b, shape, accesses, operands.index("thread"))
    if fragments:
        product.take(fragments, negates=negates)
    else:
        product.read(values[shape.totals], transposed=any(turns[:-1]), negates=negates)
    operands.put_results(instruction, product.results(rest[0], rest[1], totals, transposed=any(turns[-1:])))


def _turns(shape: GroupShape, fragments: Sequence[Value]) -> int:
    """How many operands say whether a matrix is transposed."""
    if shape.left.name not in ("f16", "bf16"):
        return 0
    return 1 if fragments else 2


class _Product:
    """The code of a product in a thread, which has two rows of A and pairs of neighbouring columns of B."""

    def __init__(self, b: IrBuilder, shape: GroupShape, accesses: Accesses, thread: Value) -> None:
        self.b, self.shape, self.accesses = b, shape, accesses
        self.wide = "double" if shape.total.is_float else "i32"
        number = b.cast("zext", b.binary("and", thread, b.int_(THREADS - 1, "i32")), "i64")
        lane = b.binary("and", number, b.int_(31))
        self.row = b.add(b.shl(b.lshr(number, 5), 4), b.lshr(lane, 2))
        self.column = b.shl(b.binary("and", lane, b.int_(3)), 1)
        self.left = b.alloca(self.wide, 2 * shape.terms)
        self.totals = b.alloca(self.wide, shape.totals)

    def _at(self, array: Value, *numbers: Value | int) -> Value:
        b, place = self.b, self.b.int_(0)
        for number in numbers:
            place = b.add(place, b.int_(number) if isinstance(number, int) else number)
        return b.gep(self.wide, array, place)

    def take(self, fragments: Sequence[Value], *, negates: bool) -> None:
        """Takes the thread's rows of A from registers."""
        each, terms = self.shape.each, self.shape.terms
        for number, word in enumerate(fragments):
            lane, r = divmod(number, 4)
            first = r % 2 * terms + each * (lane + 4 * (r // 2))
            for n in range(each):
                self._keep(element(self.b, word, self.shape.left, n), self._at(self.left, first + n), negates=negates)

    def read(self, descriptor: Value, *, transposed: bool, negates: bool) -> None:
        """Reads the thread's rows of A from shared memory."""
        b = self.b
        matrix = self._matrix(descriptor, transposed=transposed)
        loop, _ = b.open_loop(b.int_(0), b.int_(self.shape.terms), name="left")
        for half in range(2):
            line = b.add(self.row, b.int_(8 * half))
            value = self._element(matrix, self.shape.left, line, loop.index, transposed=transposed)
            self._keep(value, self._at(self.left, loop.index, half * self.shape.terms), negates=negates)
        b.close_loop(loop)

    def _keep(self, value: Value, place: Value, *, negates: bool) -> None:
        self.b.store(self.b.fneg(value) if negates else value, place)

    def _matrix(self, descriptor: Value, *, transposed: bool) -> MatrixValues:
        b = self.b
        matrix = MatrixValues(b, descriptor, transposed=transposed)
        self.accesses.fault(matrix.is_misaligned(), Faults.MISALIGNED, matrix.start, 1)
        return matrix

    def _element(self, matrix: MatrixValues, type_: PtxType, line: Value, term: Value, *, transposed: bool) -> Value:
        """Loads an element of a matrix, as a double or an i32."""
        b = self.b
        row, along = (term, line) if transposed else (line, term)
        octet = b.mul(along, b.int_(type_.size))
        start = self.accesses.checked(matrix.place(row, b.lshr(octet, 4)), "shared", CHUNK)
        place = b.gep("i8", start, b.binary("and", octet, b.int_(CHUNK - 1)))
        word = b.load(f"i{type_.bits}", place, align=type_.size)
        return element(b, b.cast("zext", word, "i32"), type_, 0)

    def results(
        self, descriptor: Value, scale: Value, totals: Sequence[Value], *, transposed: bool
    ) -> tuple[Value, ...]:
        """Adds the products to the totals, or to 0 without the scale, and returns the registers of the result."""
        b, shape, is_float = self.b, self.shape, self.shape.total.is_float
        matrix = self._matrix(descriptor, transposed=transposed)
        zero = b.float_(0.0, "double") if is_float else b.int_(0, "i32")
        for number, total in enumerate(totals):
            wide = b.cast("fpext", total, "double") if is_float else total
            b.store(b.select(scale, wide, zero), self._at(self.totals, number))
        eighths, _ = b.open_loop(b.int_(0), b.int_(shape.columns // 8), name="columns")
        places = [self._at(self.totals, b.shl(eighths.index, 2), n) for n in range(4)]
        column = b.add(b.shl(eighths.index, 3), self.column)
        sums = [b.load(self.wide, place) for place in places]
        terms, sums = b.open_loop(b.int_(0), b.int_(shape.terms), carried=sums, name="terms")
        rows = [b.load(self.wide, self._at(self.left, terms.index, half * shape.terms)) for half in range(2)]
        columns = [
            self._element(matrix, shape.right, b.add(column, b.int_(n)), terms.index, transposed=transposed)
            for n in range(2)
        ]
        following = []
        for n, total in enumerate(sums):
            x, y = rows[n // 2], columns[n % 2]
            following.append(b.fadd(total, b.fmul(x, y)) if is_float else b.add(total, b.mul(x, y)))
        for total, place in zip(b.close_loop(terms, following), places, strict=True):
            b.store(total, place)
        b.close_loop(eighths)
        found = [b.load(self.wide, self._at(self.totals, n)) for n in range(shape.totals)]
        if not is_float:
            return tuple(found)
        return tuple(canonical(b, shape.total, b.cast("fptrunc", x, shape.total.ir), x) for x in found)
