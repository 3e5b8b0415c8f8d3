"""Describes the LAPACK custom calls that JAX emits on CPUs (`lapack_spotrf_ffi` and so on).

A table gives, for each call, the routine of OpenBLAS and its arguments. `codegen/lapack_kernel.py` emits the calls.
(jaxlib: jaxlib/cpu/lapack_kernels.h; the routines: netlib.org/lapack.)
"""

from __future__ import annotations

import ctypes
import dataclasses
import math
from collections.abc import Mapping

from xla_backend_cpu.blas import symbol_address
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType, HloInstruction, Opcode, parse_backend_config
from xla_core.lapack import SIGNATURES, TARGETS

_OWN = {"s": ElementType.F32, "d": ElementType.F64, "c": ElementType.C64, "z": ElementType.C128}
_REAL = {"s": ElementType.F32, "d": ElementType.F64, "c": ElementType.F32, "z": ElementType.F64}
_COMPLEX = {"s": ElementType.C64, "d": ElementType.C128, "c": ElementType.C64, "z": ElementType.C128}


@dataclasses.dataclass(frozen=True, slots=True)
class _Routine:
    """The signature of a routine, which a custom call calls once for each matrix of the batch.

    Attributes:
        arguments: the routine's arguments, separated by spaces:

            - `%x`: the character in attribute x; `'N'`: the character N; `=x`: the integer in attribute x.
            - A letter: the size of that name; `ld.x`: the leading dimension of a matrix with x rows.
            - A number: the operand of that number; `0+`: the same, from its second element on.
            - `name`: the result of that name, or scratch memory if there is no such result.
            - `name+`: scratch memory and its length; the routine is asked for the length.
            - A prefix `c:` or `r:` marks arguments of complex or of real routines only.
        results: `name:type:dimensions` of each result. The type T is the operands' type, R and C are its real and
            complex counterparts, and I is s32. A number alone is the operand of that number after the call.
    """

    arguments: str
    results: str


_QR = _Routine("m n 0 ld.m tau work+ info", "0 tau:T:t")
_ORG = _Routine("m n k 0 ld.m 1 work+ info", "0")
_ORM = _Routine("%side %turn m n k 0 ld.r 1 2 ld.m work+ info", "2")
_EIGH = _Routine("%mode %uplo n 0 ld.n w work+ c:rwork+ iwork+ info", "0 w:R:n info:I:")
_TRIDIAGONAL = _Routine("%uplo n 0 ld.n d e tau work+ info", "0 d:R:n e:R:p tau:T:p info:I:")
_SVD = "0 s:R:t u:T:mc vt:T:vn info:I:"

_ROUTINES: Mapping[str, _Routine] = {
    "potrf": _Routine("%uplo n 0 ld.n info", "0 info:I:"),
    "getrf": _Routine("m n 0 ld.m pivots info", "0 pivots:I:t info:I:"),
    "geqrf": _QR,
    "geqp3": _Routine("m n 0 ld.m 1 tau work+ c:rwork info", "0 1 tau:T:t"),
    "orgqr": _ORG,
    "ungqr": _ORG,
    "ormqr": _ORM,
    "unmqr": _ORM,
    "trsm": _Routine("%side %uplo %trans_x %diag m n one 0 ld.k 1 ld.m", "1"),
    "syevd": _EIGH,
    "heevd": _EIGH,
    "gesdd": _Routine("%mode m n 0 ld.m s u ld.m vt ld.v work+ c:rwork iwork info", _SVD),
    "gesvd": _Routine("%mode %mode m n 0 ld.m s u ld.m vt ld.v work+ c:rwork info", _SVD),
    "geev": _Routine(
        "%compute_left %compute_right n 0 ld.n c:w r:wr r:wi vl ld.n vr ld.n work+ c:rwork info",
        "c:w:T:n r:wr:T:n r:wi:T:n vl:C:nn vr:C:nn info:I:",
    ),
    "gees": _Routine(
        "%mode 'N' null n 0 ld.n chosen c:w r:wr r:wi vs ld.n work+ c:rwork bwork info",
        "0 vs:T:nn c:w:T:n r:wr:T:n r:wi:T:n chosen:I: info:I:",
    ),
    "gehrd": _Routine("n =low =high 0 ld.n tau work+ info", "0 tau:T:p info:I:"),
    "sytrd": _TRIDIAGONAL,
    "hetrd": _TRIDIAGONAL,
    "gtsv": _Routine("n k 0+ 1 2 3 ld.n info", "0 1 2 3 info:I:"),
}

assert _ROUTINES.keys() == SIGNATURES.keys()


class LapackCall:
    """A custom call of LAPACK whose operands, results and attributes fit its routine.

    Attributes:
        routine: the signature of the routine.
        symbol: the name of the Fortran function.
        element_type: the element type of the matrices.
        batch, batch_rank: the number of matrices, and the number of batch dimensions.
        sizes: letter -> size: the sizes of the operands' dimensions, t = min(m, n), p = n - 1, and for a singular value
            decomposition c, the columns of u, and v, the rows of vt.
        attributes: the attributes of the call, and those that are derived from them.
    """

    def __init__(self, call: HloInstruction) -> None:
        self._call = call
        self.name, self.letter = name, _ = TARGETS[call.attribute("custom_call_target")]
        self.routine = _ROUTINES[name]
        self.symbol = f"{self.letter}{name}_"
        self.element_type = _OWN[self.letter]
        self.operands = [s for o in call.operands for s in o.shape.array_leaves()]
        self.results = call.shape.array_leaves()
        self.attributes = dict(parse_backend_config(call.attribute("backend_config") or ""))
        batch, self.sizes = SIGNATURES[name].check(call, self.attributes)
        self.batch, self.batch_rank = math.prod(batch), len(batch)
        self._derive()
        self._check_results()

    @staticmethod
    def of(call: HloInstruction) -> LapackCall | None:
        """Describes a LAPACK custom call; returns None for any other instruction.

        Raises:
            InvalidArgumentError: LAPACK would reject the call, or would access memory outside the operands.
        """
        if call.opcode != Opcode.CUSTOM_CALL or call.attribute("custom_call_target") not in TARGETS:
            return None
        return LapackCall(call)

    @property
    def is_complex(self) -> bool:
        return self.letter in "cz"

    def arguments(self) -> list[str]:
        """The routine's arguments for this element type, real or complex."""
        return self._own(self.routine.arguments)

    def result_names(self) -> list[str]:
        """The names of the results, in order."""
        return [spec.split(":")[0] for spec in self._own(self.routine.results)]

    def _own(self, text: str) -> list[str]:
        mine, other = ("c:", "r:") if self.is_complex else ("r:", "c:")
        return [token.removeprefix(mine) for token in text.split() if not token.startswith(other)]

    def scratch_bytes(self, name: str) -> int:
        """The bytes of scratch memory whose size the routine's documentation gives, so that no query is needed."""
        n, t = self.sizes.get("n", 0), self.sizes.get("t", 0)
        real = _REAL[self.letter].byte_width
        large = max(n, self.sizes.get("m", 0))
        match name:
            case "rwork":
                wanted = 2 * n if self.name in ("geev", "geqp3") else n if self.name == "gees" else 5 * t
                if self.name == "gesdd":
                    wanted = max(5 * t * t + 5 * t, 2 * large * t + 2 * t * t + t)
                return real * max(wanted, 1)
            case "vl" | "vr":
                return self.element_type.byte_width * max(n * n, 1)
        return 4 * max(8 * t, n, 1)  # integers

    def lengths(self) -> dict[str, int]:
        """Asks the routine for the length of each scratch array `name+`, with LAPACK's workspace query (length -1)."""
        names = [a[:-1] for a in self.arguments() if a.endswith("+") and not a[0].isdigit()]
        asked = {name: ctypes.create_string_buffer(16) for name in names}
        if not names:
            return {}
        passed: list[object] = []
        characters = 0
        unread = ctypes.create_string_buffer(64)
        for argument in self.arguments():
            integer = self.integer(argument)
            if argument[0] in "%'":
                passed.append(ctypes.c_char_p(bytes([self.character(argument)])))
                characters += 1
            elif integer is not None:
                passed.append(ctypes.byref(ctypes.c_int32(integer)))
            elif argument[:-1] in asked and argument.endswith("+"):
                passed += [asked[argument[:-1]], ctypes.byref(ctypes.c_int32(-1))]
            else:
                passed.append(unread)
        ctypes.CFUNCTYPE(None)(symbol_address(self.symbol))(*passed, *[ctypes.c_size_t(1)] * characters)
        found = {}
        for name, buffer in asked.items():
            kind = {"work": _REAL[self.letter], "rwork": _REAL[self.letter]}.get(name, ElementType.S32)
            c_type = {ElementType.F32: ctypes.c_float, ElementType.F64: ctypes.c_double}.get(kind, ctypes.c_int32)
            found[name] = max(int(c_type.from_buffer(buffer).value), 1)
        return found

    def character(self, argument: str) -> int:
        """The code of the character that an argument passes."""
        return ord(argument[1]) if argument[0] == "'" else int(self.attributes[argument[1:]])

    def integer(self, argument: str) -> int | None:
        """The integer that an argument passes; None for another kind of argument."""
        if argument.startswith("="):
            return int(self.attributes[argument[1:]])
        if argument.startswith("ld."):
            return max(self.sizes[argument[3:]], 1)
        return self.sizes[argument] if argument in self.sizes and len(argument) == 1 else None

    # -- checks ------------------------------------------------------------------------------------------------------

    def _wrong(self, what: str) -> InvalidArgumentError:
        target = self._call.attribute("custom_call_target")
        return InvalidArgumentError(f"{target} {what}", op=self._call.opcode, location=self._call.location)

    def _derive(self) -> None:
        sizes, attributes = self.sizes, self.attributes
        m, n = (sizes.get(x, 0) for x in "mn")
        sizes["t"], sizes["p"] = (min(m, n) if "m" in sizes else 0), max(n - 1, 0)
        if "svd" in self.name or "sdd" in self.name:
            small = attributes.get("mode") == ord("S")
            sizes["c"], sizes["v"] = (sizes["t"], sizes["t"]) if small else (m, n)
        if "mqr" in self.name:
            attributes["side"] = ord("L" if attributes["left"] else "R")
            attributes["turn"] = ord("N" if not attributes["transpose"] else "C" if self.is_complex else "T")

    def _check_results(self) -> None:
        specs = self._own(self.routine.results)
        kinds = {"T": self.element_type, "R": _REAL[self.letter], "C": _COMPLEX[self.letter], "I": ElementType.S32}
        if len(specs) != len(self.results):
            raise self._wrong(f"has {len(specs)} results, not {len(self.results)}")
        batch = self.operands[0].dimensions[: self.batch_rank]
        for spec, shape in zip(specs, self.results, strict=True):
            name, *rest = spec.split(":")
            if name.isdigit():
                operand = self.operands[int(name)]
                kind, wanted = operand.element_type, math.prod(operand.dimensions[self.batch_rank :])
            else:
                kind, wanted = kinds[rest[0]], math.prod(self.sizes[x] for x in rest[1])
            unused = name in ("u", "vt", "vs") and self.attributes["mode"] == ord("N")
            fits = unused or math.prod(shape.dimensions[self.batch_rank :]) == wanted
            if shape.element_type is not kind or shape.dimensions[: self.batch_rank] != batch or not fits:
                got = shape.without_layout()
                raise self._wrong(
                    f"has a result {got} in the place of {name}, which has {wanted} elements of {kind} for each matrix"
                )
