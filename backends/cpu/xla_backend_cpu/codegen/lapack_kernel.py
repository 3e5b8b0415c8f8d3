"""Emits LAPACK calls as kernels. A unit of work is one matrix of the batch, so that threads divide the batch.

LAPACK's matrices are column-major. An operand that the routine may write is first copied to the buffer of its result or
to scratch memory. Operands in another layout are copied to scratch memory too, and results in another layout are copied
from scratch memory after the call.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_backend_cpu.lapack import LapackCall
from xla_core.codegen.llvm import IrBuilder, KernelFrame, LoopAbi, Value
from xla_core.hlo import Shape

_NOT_FINITE = -4  # jaxlib's `info` of geev for a matrix with NaN or infinity


def emit_lapack(call: LapackCall, frame: KernelFrame, abi: LoopAbi) -> None:
    """Emits the kernel's body. The frame's buffers are the array leaves of the operands, then of the results."""
    _Emitter(call, frame, abi).emit()


class _Matrices:
    """A buffer that holds a batch of matrices (or vectors, or scalars), and the strides of one of them."""

    def __init__(self, buffer: Value, shape: Shape, batch_rank: int) -> None:
        self.buffer = buffer
        self.shape = shape
        strides, step = [0] * shape.rank, 1
        for d in shape.minor_to_major():
            strides[d], step = step, step * shape.dimensions[d]
        self.batch = list(zip(shape.dimensions, strides, strict=True))[:batch_rank]
        self.dimensions, self.strides = shape.dimensions[batch_rank:], strides[batch_rank:]
        self.column_strides = [math.prod(self.dimensions[:d]) for d in range(len(self.dimensions))]
        self.bytes = math.prod(self.dimensions) * shape.element_type.byte_width
        both = zip(self.dimensions, self.strides, self.column_strides, strict=True)
        self.in_columns = all(n <= 1 or here == there for n, here, there in both)

    def at(self, b: IrBuilder, number: Value) -> Value:
        """The address of matrix number `number`."""
        offset, rest = b.int_(0), number
        for size, stride in reversed(self.batch):
            offset = b.add(offset, b.mul(b.urem(rest, b.int_(max(size, 1))), b.int_(stride)))
            rest = b.udiv(rest, b.int_(max(size, 1)))
        return b.gep(f"[{self.shape.element_type.byte_width} x i8]", self.buffer, offset)


class _Emitter:
    def __init__(self, call: LapackCall, frame: KernelFrame, abi: LoopAbi) -> None:
        self.call, self.frame, self.abi, self.b = call, frame, abi, frame.builder
        count = len(call.operands)
        shapes = [*call.operands, *call.results]
        leaves = [_Matrices(p, s, call.batch_rank) for p, s in zip(frame.buffers, shapes, strict=True)]
        self.operands, self.results = leaves[:count], dict(zip(call.result_names(), leaves[count:], strict=True))
        self.scratch: list[tuple[Value, int]] = []

    def emit(self) -> None:
        b, call = self.b, self.call
        memory: dict[str, Value] = {}
        lengths = call.lengths()
        for argument in call.arguments():
            name = argument.rstrip("+")
            if name.isdigit() and self._needs_scratch(name, self.operands[int(name)]):
                memory[name] = self._allocate(self.operands[int(name)].bytes)
            elif name in lengths:
                width = 4 if name == "iwork" else call.element_type.byte_width
                memory[name] = self._allocate(width * lengths[name])
            elif name in self.results and not self._is_unpacked(name):
                if not self.results[name].in_columns:
                    memory[name] = self._allocate(self.results[name].bytes)
            elif name.isalpha() and call.integer(name) is None and name not in ("one", "null"):
                memory[name] = self._allocate(call.scratch_bytes(name))
        loop, _ = b.open_loop(self.frame.begin, self.frame.end, name="matrix")
        places = {name: m.at(b, loop.index) for name, m in self.results.items()}
        inputs = [m.at(b, loop.index) for m in self.operands]
        given: dict[str, Value] = dict(memory)
        for name, place in places.items():
            if not name.isdigit():
                given.setdefault(name, place)
        for position, matrices in enumerate(self.operands):
            name = str(position)
            if name in self.results and self.results[name].in_columns:
                given[name] = places[name]
            if name in given:
                self._copy(inputs[position], matrices.strides, given[name], matrices.column_strides, matrices)
            else:
                given[name] = inputs[position]
        if call.name == "geev":
            self._unless_not_finite(given, places, lengths)
        else:
            self._clear_unused(given)
            self._invoke(given, lengths)
        for name, place in places.items():
            matrices = self.results[name]
            if not matrices.in_columns and not self._is_unpacked(name):
                self._copy(given[name], matrices.column_strides, place, matrices.strides, matrices)
        b.close_loop(loop)
        for pointer, size in reversed(self.scratch):
            self.abi.release(b, pointer, size)

    def _allocate(self, size: int) -> Value:
        pointer = self.abi.allocate(self.b, max(size, 1))
        self.scratch.append((pointer, max(size, 1)))
        return pointer

    def _needs_scratch(self, name: str, matrices: _Matrices) -> bool:
        """Whether an operand is copied to scratch memory: the routine writes it or does not support its layout."""
        if name in self.results:
            return not self.results[name].in_columns
        written = name == "0" and self.call.name != "trsm"
        return written or not matrices.in_columns

    def _is_unpacked(self, name: str) -> bool:
        """Whether LAPACK returns a complex result as pairs of real columns, which must be converted."""
        return self.call.name == "geev" and not self.call.is_complex and name in ("vl", "vr")

    def _copy(self, source: Value, from_: Sequence[int], target: Value, to: Sequence[int], matrices: _Matrices) -> None:
        """Copies a matrix from strides `from_` to strides `to`; a column-major matrix only if the addresses differ."""
        b, element = self.b, f"i{8 * matrices.shape.element_type.byte_width}"
        if matrices.in_columns:
            with b.if_(b.icmp("ne", source, target)):
                b.call("memcpy", "ptr", [target, source, b.int_(matrices.bytes)])
            return
        loops, read, write = [], b.int_(0), b.int_(0)
        for size, here, there in zip(matrices.dimensions, from_, to, strict=True):
            loop, _ = b.open_loop(b.int_(0), b.int_(size), name="copy")
            read = b.add(read, b.mul(loop.index, b.int_(here)))
            write = b.add(write, b.mul(loop.index, b.int_(there)))
            loops.append(loop)
        b.store(b.load(element, b.gep(element, source, read), align=4), b.gep(element, target, write), align=4)
        for loop in reversed(loops):
            b.close_loop(loop)

    def _clear_unused(self, given: dict[str, Value]) -> None:
        """Fills results that the routine does not write with zeros."""
        if self.call.attributes.get("mode") == ord("N"):
            for name in {"u", "vt", "vs"} & set(self.results):
                self._fill(given[name], self.results[name].bytes, 0)

    def _fill(self, place: Value, size: int, byte: int) -> None:
        self.b.call("memset", "ptr", [place, self.b.int_(byte, "i32"), self.b.int_(size)])

    def _invoke(self, given: dict[str, Value], lengths: dict[str, int]) -> None:
        """Calls the routine by Fortran's convention: arguments by address, then the lengths of the strings."""
        b, call = self.b, self.call
        passed, characters = [], 0
        for argument in call.arguments():
            name, integer = argument.rstrip("+"), call.integer(argument)
            if argument[0] in "%'":
                passed.append(self._constant(call.character(argument), 1))
                characters += 1
            elif integer is not None:
                passed.append(self._constant(integer, 4))
            elif argument == "one":
                one = call.element_type.dtype.type(1).tobytes()
                passed.append(b.module.constant_bytes(one, 16))
            elif argument == "null":
                passed.append(Value("ptr", "null"))
            elif name in lengths:
                passed += [given[name], self._constant(lengths[name], 4)]
            elif argument[0].isdigit() and argument.endswith("+"):
                passed.append(b.gep("i8", given[name], b.int_(call.element_type.byte_width)))
            else:
                passed.append(given[name])
        b.call(call.symbol, "void", [*passed, *[b.int_(1)] * characters])

    def _constant(self, value: int, size: int) -> Value:
        return self.b.module.constant_bytes(value.to_bytes(size, "little", signed=size > 1), 16)

    # -- eigenvalues of general matrices -----------------------------------------------------------------------------

    def _unless_not_finite(self, given: dict[str, Value], places: dict[str, Value], lengths: dict[str, int]) -> None:
        """Calls geev only for a finite matrix, as jaxlib does: versions of LAPACK differ for NaN and infinity."""
        b, call = self.b, self.call
        n = call.sizes["n"]
        real = "float" if call.letter in "sc" else "double"
        width = 4 if real == "float" else 8
        loop, (bad,) = b.open_loop(
            b.int_(0), b.int_(n * n * (2 if call.is_complex else 1)), carried=[b.int_(0, "i1")], name="finite"
        )
        value = b.load(real, b.gep(real, given["0"], loop.index), align=width)
        (bad,) = b.close_loop(loop, [b.or_(bad, b.fcmp("uno", b.fsub(value, value), b.float_(0.0, real)))])
        with b.if_(bad):
            for name, place in places.items():
                self._fill(place, self.results[name].bytes, 0)
            b.store(b.int_(_NOT_FINITE, "i32"), given["info"], align=4)
        with b.if_(b.xor(bad, b.int_(1, "i1"))):
            self._invoke(given, lengths)
            for name, letter in (("vl", "compute_left"), ("vr", "compute_right")):
                if call.attributes[letter] == ord("N"):
                    self._fill(places[name], self.results[name].bytes, 0)
                elif self._is_unpacked(name):
                    self._unpack(given[name], given["wi"], places[name], self.results[name], real)

    def _unpack(self, vectors: Value, imag: Value, target: Value, matrices: _Matrices, real: str) -> None:
        """Converts complex eigenvectors from LAPACK's real form, where a conjugate pair has its real part in one column
        and its imaginary part in the next.
        """
        b, n = self.b, self.call.sizes["n"]
        zero, width = b.float_(0.0, real), 4 if real == "float" else 8
        columns, _ = b.open_loop(b.int_(0), b.int_(n), name="column")
        part = b.load(real, b.gep(real, imag, columns.index), align=width)
        first, second = b.fcmp("ogt", part, zero), b.fcmp("olt", part, zero)
        shift = b.select(second, b.int_(1), b.int_(0))
        rows, _ = b.open_loop(b.int_(0), b.int_(n), name="row")

        def at(column: Value) -> Value:
            return b.load(real, b.gep(real, vectors, b.add(b.mul(column, b.int_(n)), rows.index)), align=width)

        re = at(b.sub(columns.index, shift))
        other = at(b.add(columns.index, b.select(first, b.int_(1), b.int_(0))))
        im = b.select(first, other, b.select(second, b.fneg(other), zero))
        place = b.add(b.mul(rows.index, b.int_(matrices.strides[0])), b.mul(columns.index, b.int_(matrices.strides[1])))
        pair = b.gep(real, target, b.mul(place, b.int_(2)))
        b.store(re, pair, align=width)
        b.store(im, b.gep(real, pair, b.int_(1)), align=width)
        b.close_loop(rows)
        b.close_loop(columns)
