"""The LAPACK custom calls that JAX emits on CPUs (`lapack_spotrf_ffi` and so on), by OpenBLAS.

Each target is one routine, applied to every matrix of a batch. Operands and results are in the layouts that the program
says; JAX says column-major. (jaxlib: jaxlib/cpu/lapack_kernels.h; the routines: netlib.org/lapack.)
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xla_backend_cpu.blas import symbol_address
from xla_backend_cpu.custom_calls import CustomCall, register_custom_call
from xla_core.errors import InternalError, InvalidArgumentError

__all__ = ["register_lapack"]

_DTYPES = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}
_REAL = {"s": np.float32, "d": np.float64, "c": np.float32, "z": np.float64}
_COMPLEX = {"s": np.complex64, "d": np.complex128, "c": np.complex64, "z": np.complex128}

_NOT_FINITE = -4  # geev's info

Argument = bytes | int | np.ndarray
Attributes = Mapping[str, Any]
Routine = Callable[..., Sequence["np.ndarray | int"]]
"""(type letter, attributes, column-major matrices that may be written to) -> results of one matrix."""


@functools.cache
def _function(name: str) -> Callable[..., None]:
    return ctypes.CFUNCTYPE(None)(symbol_address(f"{name}_"))  # releases the GIL


def _call(name: str, *arguments: Argument) -> None:
    """Fortran's convention: everything by address, lengths of strings behind."""
    passed: list[Any] = []
    for argument in arguments:
        if isinstance(argument, bytes):
            passed.append(ctypes.c_char_p(argument))
        elif isinstance(argument, np.ndarray):
            passed.append(ctypes.c_void_p(argument.ctypes.data))
        else:
            passed.append(ctypes.byref(ctypes.c_int32(argument)))
    passed += [ctypes.c_size_t(1)] * sum(isinstance(a, bytes) for a in arguments)
    _function(name)(*passed)


def _info(name: str, *arguments: Argument) -> int:
    """Calls a routine whose last argument is `info`.

    A negative one says that an argument is wrong. Where a matrix has a NaN, that is the program's to handle.
    """
    info = np.zeros((), np.int32)
    _call(name, *arguments, info)
    with_nan = (isinstance(a, np.ndarray) and bool(np.isnan(a).any()) for a in arguments)
    if info < 0 and not any(with_nan):
        raise InternalError(f"LAPACK's {name} refuses argument {-int(info)}")
    return int(info)


def _with_work(p: str, name: str, before: Sequence[Argument], after: Sequence[Argument] = ()) -> int:
    """As `_info`, for routines with (work, lwork) between `before` and `after`: asks how much is best, and gives it."""
    work = np.zeros(1, _DTYPES[p])
    refused = _info(name, *before, work, -1, *after)
    if refused:
        return refused
    size = max(int(work.real[0]), 1)
    return _info(name, *before, np.empty(size, _DTYPES[p]), size, *after)


def _char(attributes: Attributes, name: str) -> bytes:
    return bytes([int(attributes[name])])


def _new(p: str, *shape: int) -> np.ndarray:
    return np.empty(shape, _DTYPES[p], order="F")


def _leading(matrix: np.ndarray) -> int:
    return max(len(matrix), 1)


# -- the routines ------------------------------------------------------------------------------------------------------


def _potrf(p: str, attributes: Attributes, a: np.ndarray) -> Sequence[np.ndarray | int]:
    return a, _info(f"{p}potrf", _char(attributes, "uplo"), len(a), a, _leading(a))


def _getrf(p: str, attributes: Attributes, a: np.ndarray) -> Sequence[np.ndarray | int]:
    pivots = np.empty(min(a.shape), np.int32)
    return a, pivots, _info(f"{p}getrf", *a.shape, a, _leading(a), pivots)


def _geqrf(p: str, attributes: Attributes, a: np.ndarray) -> Sequence[np.ndarray | int]:
    tau = _new(p, min(a.shape))
    _with_work(p, f"{p}geqrf", (*a.shape, a, _leading(a), tau))
    return a, tau


def _geqp3(p: str, attributes: Attributes, a: np.ndarray, pivots: np.ndarray) -> Sequence[np.ndarray | int]:
    tau = _new(p, min(a.shape))
    more = (np.empty(2 * a.shape[1], _REAL[p]),) if p in "cz" else ()
    _with_work(p, f"{p}geqp3", (*a.shape, a, _leading(a), pivots, tau), more)
    return a, pivots, tau


def _orgqr(p: str, attributes: Attributes, a: np.ndarray, tau: np.ndarray) -> Sequence[np.ndarray | int]:
    name = f"{p}ungqr" if p in "cz" else f"{p}orgqr"
    _with_work(p, name, (*a.shape, len(tau), a, _leading(a), tau))
    return (a,)


def _ormqr(p: str, attributes: Attributes, a: np.ndarray, tau: np.ndarray, c: np.ndarray) -> Sequence[np.ndarray | int]:
    name = f"{p}unmqr" if p in "cz" else f"{p}ormqr"
    turn = (b"C" if p in "cz" else b"T") if attributes["transpose"] else b"N"
    side = b"L" if attributes["left"] else b"R"
    _with_work(p, name, (side, turn, *c.shape, len(tau), a, _leading(a), tau, c, _leading(c)))
    return (c,)


def _trsm(p: str, attributes: Attributes, a: np.ndarray, b: np.ndarray) -> Sequence[np.ndarray | int]:
    flags = [_char(attributes, name) for name in ("side", "uplo", "trans_x", "diag")]
    _call(f"{p}trsm", *flags, *b.shape, np.ones((), _DTYPES[p]), a, _leading(a), b, _leading(b))
    return (b,)


def _syevd(p: str, attributes: Attributes, a: np.ndarray) -> Sequence[np.ndarray | int]:
    name, values = (f"{p}heevd" if p in "cz" else f"{p}syevd"), np.empty(len(a), _REAL[p])
    before = (_char(attributes, "mode"), _char(attributes, "uplo"), len(a), a, _leading(a), values)
    work, real, whole = np.zeros(1, _DTYPES[p]), np.zeros(1, _REAL[p]), np.zeros(1, np.int32)

    def tail(sizes: Sequence[int]) -> list[Argument]:
        middle: list[Argument] = [real, sizes[1]] if p in "cz" else []
        return [work, sizes[0], *middle, whole, sizes[2]]

    _info(name, *before, *tail((-1, -1, -1)))
    work = np.empty(max(int(work[0].real), 1), _DTYPES[p])
    real, whole = np.empty(max(int(real[0]), 1), _REAL[p]), np.empty(max(int(whole[0]), 1), np.int32)
    return a, values, _info(name, *before, *tail((len(work), len(real), len(whole))))


def _svd(routine: str, p: str, attributes: Attributes, a: np.ndarray) -> Sequence[np.ndarray | int]:
    mode, (m, n) = _char(attributes, "mode"), a.shape
    small, values = min(m, n), np.empty(min(m, n), _REAL[p])
    columns, rows = (small, small) if mode == b"S" else (m, n)
    u, vt = np.zeros((m, columns), _DTYPES[p], "F"), np.zeros((rows, n), _DTYPES[p], "F")
    modes = (mode, mode) if routine == "gesvd" else (mode,)
    before = (*modes, m, n, a, _leading(a), values, u, _leading(u), vt, _leading(vt))
    after: list[Argument] = []
    if p in "cz":
        large = max(m, n)
        size = max(5 * small * small + 5 * small, 2 * large * small + 2 * small * small + small)
        after.append(np.empty(max(size, 5 * small, 1), _REAL[p]))
    if routine == "gesdd":
        after.append(np.empty(8 * small, np.int32))
    info = _with_work(p, p + routine, before, after)
    return (a, values, u, vt, info) if mode != b"N" else (a, values, 0, 0, info)


def _geev(p: str, attributes: Attributes, a: np.ndarray) -> Sequence[np.ndarray | int]:
    n = len(a)
    if not np.isfinite(a).all():  # LAPACK's own versions differ; jaxlib refuses it thus
        return (0, 0, 0, _NOT_FINITE) if p in "cz" else (0, 0, 0, 0, _NOT_FINITE)
    flags = (_char(attributes, "compute_left"), _char(attributes, "compute_right"))
    left, right = np.zeros((n, n), _DTYPES[p], "F"), np.zeros((n, n), _DTYPES[p], "F")
    before = (*flags, n, a, _leading(a))
    vectors = (left, _leading(left), right, _leading(right))
    if p in "cz":
        values = _new(p, n)
        info = _with_work(p, f"{p}geev", (*before, values, *vectors), (np.empty(2 * n, _REAL[p]),))
        return values, left, right, info
    real, imag = _new(p, n), _new(p, n)
    info = _with_work(p, f"{p}geev", (*before, real, imag, *vectors))
    return real, imag, _unpacked(p, left, imag), _unpacked(p, right, imag), info


def _unpacked(p: str, vectors: np.ndarray, imag: np.ndarray) -> np.ndarray:
    """LAPACK's real form of complex eigenvectors: a pair's columns are the real and the imaginary part."""
    result: np.ndarray = vectors.astype(_COMPLEX[p])
    first = np.nonzero(imag > 0)[0]
    result[:, first] = vectors[:, first] + 1j * vectors[:, first + 1]
    result[:, first + 1] = result[:, first].conj()
    return result


def _gees(p: str, attributes: Attributes, a: np.ndarray) -> Sequence[np.ndarray | int]:
    n = len(a)
    vectors, count = np.zeros((n, n), _DTYPES[p], "F"), np.zeros((), np.int32)
    before = (_char(attributes, "mode"), b"N", np.zeros(0, np.uint8), n, a, _leading(a), count)
    unused = np.empty(max(n, 1), np.int32)
    if p in "cz":
        values = _new(p, n)
        place = (*before, values, vectors, _leading(vectors))
        info = _with_work(p, f"{p}gees", place, (np.empty(max(n, 1), _REAL[p]), unused))
        return a, vectors, values, int(count), info
    real, imag = _new(p, n), _new(p, n)
    info = _with_work(p, f"{p}gees", (*before, real, imag, vectors, _leading(vectors)), (unused,))
    return a, vectors, real, imag, int(count), info


def _gehrd(p: str, attributes: Attributes, a: np.ndarray) -> Sequence[np.ndarray | int]:
    n, tau = len(a), np.zeros(max(len(a) - 1, 0), _DTYPES[p])
    low, high = int(attributes["low"]), int(attributes["high"])
    info = _with_work(p, f"{p}gehrd", (n, low, high, a, _leading(a), tau))
    return a, tau, info


def _sytrd(p: str, attributes: Attributes, a: np.ndarray) -> Sequence[np.ndarray | int]:
    n = len(a)
    diagonal, beside, tau = np.empty(n, _REAL[p]), np.empty(max(n - 1, 0), _REAL[p]), _new(p, max(n - 1, 0))
    name = f"{p}hetrd" if p in "cz" else f"{p}sytrd"
    info = _with_work(p, name, (_char(attributes, "uplo"), n, a, _leading(a), diagonal, beside, tau))
    return a, diagonal, beside, tau, info


def _gtsv(
    p: str, attributes: Attributes, low: np.ndarray, d: np.ndarray, high: np.ndarray, b: np.ndarray
) -> Sequence[np.ndarray | int]:
    """All three diagonals have n elements: the first of `low` and the last of `high` are not the matrix's."""
    info = _info(f"{p}gtsv", *b.shape, low[1:], d, high, b, _leading(b))
    return low, d, high, b, info


_ROUTINES: Mapping[str, tuple[Routine, str]] = {
    "potrf": (_potrf, "nn"),
    "getrf": (_getrf, "mn"),
    "geqrf": (_geqrf, "mn"),
    "geqp3": (_geqp3, "mn n"),
    "orgqr": (_orgqr, "mn k"),
    "ungqr": (_orgqr, "mn k"),
    "ormqr": (_ormqr, "rk k mn"),
    "unmqr": (_ormqr, "rk k mn"),
    "trsm": (_trsm, "kk mn"),
    "syevd": (_syevd, "nn"),
    "heevd": (_syevd, "nn"),
    "gesdd": (functools.partial(_svd, "gesdd"), "mn"),
    "gesvd": (functools.partial(_svd, "gesvd"), "mn"),
    "geev": (_geev, "nn"),
    "gees": (_gees, "nn"),
    "gehrd": (_gehrd, "nn"),
    "sytrd": (_sytrd, "nn"),
    "hetrd": (_sytrd, "nn"),
    "gtsv": (_gtsv, "n n n nk"),
}
"""Routine -> what calls it, and the dimensions of its operands behind the batch's: one letter, one size."""


def _checked_batch(target: str, pattern: str, p: str, call: CustomCall) -> tuple[int, ...]:
    """The batch's dimensions. Raises InvalidArgumentError for operands that the routine would read beyond."""
    patterns = pattern.split()
    sizes: dict[str, int] = {}
    shapes = ", ".join(f"{o.dtype}{list(o.shape)}" for o in call.operands)
    wrong = InvalidArgumentError(f"{target} takes {_DTYPES[p].__name__} operands ({pattern}), not {shapes}")
    if len(call.operands) != len(patterns) or call.operands[0].ndim < len(patterns[0]):
        raise wrong
    batch = call.operands[0].shape[: call.operands[0].ndim - len(patterns[0])]
    for operand, letters in zip(call.operands, patterns, strict=True):
        whole = operand.dtype == np.int32 and letters == "n" and "geqp3" in target
        if operand.shape[: len(batch)] != batch or operand.ndim != len(batch) + len(letters):
            raise wrong
        if operand.dtype != _DTYPES[p] and not whole:
            raise wrong
        if any(sizes.setdefault(x, n) != n for x, n in zip(letters, operand.shape[len(batch) :], strict=True)):
            raise wrong
    if "trsm" in target and sizes["k"] != (sizes["m"] if _char(call.attributes, "side") == b"L" else sizes["n"]):
        raise wrong
    if "gqr" in target and not sizes["k"] <= sizes["n"] <= sizes["m"]:
        raise wrong
    if "mqr" in target and sizes["r"] != (sizes["m"] if call.attributes["left"] else sizes["n"]):
        raise wrong
    return batch


def _batched(routine: Routine, pattern: str, p: str, target: str, call: CustomCall) -> None:
    for index in np.ndindex(*_checked_batch(target, pattern, p, call)):
        matrices = [np.array(operand[index], order="F") for operand in call.operands]
        for result, made in zip(call.results, routine(p, call.attributes, *matrices), strict=True):
            result[index] = made


def register_lapack() -> None:
    """Registers every target. The routines themselves are loaded at their first call."""
    for name, (routine, pattern) in _ROUTINES.items():
        letters = "cz" if name[:2] in ("un", "he") else "sd" if name[:2] in ("or", "sy") else "sdcz"
        for p in letters:
            target = f"lapack_{p}{name}_ffi"
            register_custom_call(target, functools.partial(_batched, routine, pattern, p, target))
