"""CublasLt: the functions of cuBLASLt that the backend calls, by ctypes, for one device."""

from __future__ import annotations

import ctypes
import dataclasses
import threading
from collections.abc import Sequence
from ctypes import POINTER, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

from xla_backend_gpu.cublas.matmul import Matmul, Matrix
from xla_backend_gpu.processors import ALIGNMENT
from xla_core.errors import (
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    ResourceExhaustedError,
    UnimplementedError,
    XlaError,
)
from xla_core.hlo import ElementType

# The numbers of NVIDIA's headers library_types.h, cublas_api.h and cublasLt.h.
_TYPES = {
    ElementType.F32: 0,
    ElementType.F64: 1,
    ElementType.F16: 2,
    ElementType.S8: 3,
    ElementType.S32: 10,
    ElementType.BF16: 14,
    ElementType.F8E4M3FN: 28,
    ElementType.F8E5M2: 29,
}
_COMPUTE = {"f32": 68, "f64": 70, "s32": 72, "tf32": 77}
_EPILOGUES = {"DEFAULT": 1, "RELU": 2, "BIAS": 4, "RELU_BIAS": 6, "GELU": 32, "GELU_BIAS": 36}
_TRANSPOSE_A, _TRANSPOSE_B, _EPILOGUE, _BIAS_POINTER = 3, 4, 7, 8  # CUBLASLT_MATMUL_DESC_...
_BATCH_COUNT, _BATCH_STRIDE = 5, 6  # CUBLASLT_MATRIX_LAYOUT_...
_WORKSPACE, _REDUCTIONS, _ALIGNMENTS = 1, 3, (5, 6, 7, 8)  # CUBLASLT_MATMUL_PREF_...
_ROUNDED_ONCE = 2  # partial sums of split products in the type of the sums, never in the result's

_NOT_SUPPORTED = 15

_MOST_WORKSPACE = 32 << 20  # bytes, which NVIDIA recommends

_KINDS: dict[int, tuple[str, type[XlaError]]] = {
    1: ("CUBLAS_STATUS_NOT_INITIALIZED", FailedPreconditionError),
    3: ("CUBLAS_STATUS_ALLOC_FAILED", ResourceExhaustedError),
    7: ("CUBLAS_STATUS_INVALID_VALUE", InvalidArgumentError),
    8: ("CUBLAS_STATUS_ARCH_MISMATCH", UnimplementedError),
    11: ("CUBLAS_STATUS_MAPPING_ERROR", InternalError),
    13: ("CUBLAS_STATUS_EXECUTION_FAILED", InternalError),
    14: ("CUBLAS_STATUS_INTERNAL_ERROR", InternalError),
    15: ("CUBLAS_STATUS_NOT_SUPPORTED", UnimplementedError),
    16: ("CUBLAS_STATUS_LICENSE_ERROR", FailedPreconditionError),
}
"""The names of the statuses, and their errors."""

_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "cublasLtCreate": (POINTER(c_void_p),),
    "cublasLtDestroy": (c_void_p,),
    "cublasLtMatmulDescCreate": (POINTER(c_void_p), c_int, c_int),
    "cublasLtMatmulDescDestroy": (c_void_p,),
    "cublasLtMatmulDescSetAttribute": (c_void_p, c_int, c_void_p, c_size_t),
    "cublasLtMatrixLayoutCreate": (POINTER(c_void_p), c_int, c_uint64, c_uint64, c_int64),
    "cublasLtMatrixLayoutDestroy": (c_void_p,),
    "cublasLtMatrixLayoutSetAttribute": (c_void_p, c_int, c_void_p, c_size_t),
    "cublasLtMatmulPreferenceCreate": (POINTER(c_void_p),),
    "cublasLtMatmulPreferenceDestroy": (c_void_p,),
    "cublasLtMatmulPreferenceSetAttribute": (c_void_p, c_int, c_void_p, c_size_t),
    "cublasLtMatmulAlgoGetHeuristic": (*[c_void_p] * 7, c_int, c_void_p, POINTER(c_int)),
    "cublasLtMatmul": (*[c_void_p] * 14, c_size_t, c_void_p),
}
"""Function -> the types of its arguments. Each returns a status."""


class _Heuristic(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""

    _fields_ = (
        ("algorithm", c_uint64 * 8),
        ("workspace", c_size_t),
        ("state", c_int),
        ("waves", ctypes.c_float),
        ("reserved", c_int * 4),
    )


@dataclasses.dataclass(frozen=True, slots=True)
class _Plan:
    """A product's descriptors, the algorithm, and the numbers alpha and beta."""

    description: c_void_p
    layouts: tuple[c_void_p, c_void_p, c_void_p, c_void_p]  # of A, B, C, D
    algorithm: _Heuristic
    numbers: tuple[Any, Any]
    lock: threading.Lock


class CublasLt:
    """The library for one device, whose context is current in every call. It is safe for threads.

    Args:
        path: the shared library.

    Raises:
        FailedPreconditionError: the library can't be loaded, or not for this device.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._library = ctypes.CDLL(path)
            for name, arguments in _FUNCTIONS.items():
                function = getattr(self._library, name)
                function.argtypes, function.restype = arguments, c_int
            self._library.cublasLtGetVersion.restype = c_size_t
            self._library.cublasLtGetStatusString.restype = c_char_p
        except (OSError, AttributeError) as error:
            raise FailedPreconditionError(f"cuBLASLt can't be loaded from {path}: {error}") from error
        self._plans: dict[Matmul, _Plan] = {}
        self._lock = threading.Lock()
        self._handle = c_void_p()
        self._call("cublasLtCreate", "", byref(self._handle))

    @property
    def version(self) -> int:
        """The library's version, such as 130100 for 13.1."""
        return int(self._library.cublasLtGetVersion())

    def workspace(self, matmul: Matmul) -> int | None:
        """Returns the bytes of scratch memory that a product needs, or None if the library doesn't compute it."""
        try:
            plan = self._plan(matmul, _MOST_WORKSPACE)
        except (UnimplementedError, InvalidArgumentError):
            return None
        needed: int = plan.algorithm.workspace
        self._destroy(plan)
        return needed

    def multiply(self, matmul: Matmul, places: Sequence[tuple[int, int]], stream: int) -> None:
        """Enqueues a product.

        Args:
            matmul: the product.
            places: the addresses and the sizes in bytes of the dot's operands, of C and of the bias if there are any,
                of the result, and of the scratch memory if there is any.
            stream: the library's handle of the stream.

        Raises:
            XlaError: the library refuses it; the error names the function and the sizes.
        """
        config, rest = matmul.config, list(places[2:])
        a, b = (places[1], places[0]) if matmul.swapped else (places[0], places[1])
        c = rest.pop(0) if matmul.c is not None else None
        bias = rest.pop(0) if config.has_bias else None
        d = rest.pop(0)
        scratch = rest.pop(0) if config.workspace_bytes else (0, 0)
        _check_sizes(matmul, a, b, c or d, d)
        plan = self._known_plan(matmul)
        alpha, beta = plan.numbers
        with plan.lock:  # the bias belongs to the description
            if bias is not None:
                self._set("MatmulDesc", plan.description, _BIAS_POINTER, c_void_p(bias[0]), str(matmul))
            self._call(
                "cublasLtMatmul",
                str(matmul),
                self._handle,
                plan.description,
                byref(alpha),
                *(a[0], plan.layouts[0], b[0], plan.layouts[1]),
                byref(beta),
                *((c or d)[0], plan.layouts[2], d[0], plan.layouts[3]),
                byref(plan.algorithm),
                *(scratch[0] or None, scratch[1], stream),
            )

    def close(self) -> None:
        """Frees the handle and the descriptors. No call is running."""
        with self._lock:
            plans, self._plans = list(self._plans.values()), {}
        for plan in plans:
            self._destroy(plan)
        if self._handle:
            self._call("cublasLtDestroy", "", self._handle)
            self._handle = c_void_p()

    # -- plans -------------------------------------------------------------------------------------------------------

    def _known_plan(self, matmul: Matmul) -> _Plan:
        found = self._plans.get(matmul)
        if found is None:
            with self._lock:
                found = self._plans.get(matmul)
                if found is None:
                    found = self._plans[matmul] = self._plan(matmul, matmul.config.workspace_bytes)
        return found

    def _plan(self, matmul: Matmul, workspace: int) -> _Plan:
        """Makes the descriptors of a product, and asks the library for its best algorithm with so much memory."""
        made: list[tuple[str, c_void_p]] = []
        try:
            return self._made_plan(matmul, workspace, made)
        except BaseException:
            for kind, handle in made:
                self._free(kind, handle)
            raise

    def _made_plan(self, matmul: Matmul, workspace: int, made: list[tuple[str, c_void_p]]) -> _Plan:
        """Makes a plan, and lists the objects that it consists of as soon as they are there."""
        what, config = str(matmul), matmul.config

        def new(kind: str, *arguments: Any) -> c_void_p:
            handle = c_void_p()
            self._call(f"cublasLt{kind}Create", what, byref(handle), *arguments)
            made.append((kind, handle))
            return handle

        description = new("MatmulDesc", _COMPUTE[config.compute_type], _TYPES[matmul.scale_type])
        for attribute, matrix in ((_TRANSPOSE_A, matmul.a), (_TRANSPOSE_B, matmul.b)):
            self._set("MatmulDesc", description, attribute, c_int32(matrix.transposed), what)
        self._set("MatmulDesc", description, _EPILOGUE, c_uint32(_EPILOGUES[config.epilogue]), what)
        if config.has_bias:  # the heuristic reads its alignment from the address
            self._set("MatmulDesc", description, _BIAS_POINTER, c_void_p(ALIGNMENT), what)
        a, b, c, d = (self._layout(new, m, matmul.batch, what) for m in (matmul.a, matmul.b, matmul.d, matmul.d))
        algorithm = self._algorithm(new, (description, a, b, c, d), workspace, what)
        self._free(*made.pop())  # the preference
        number = {ElementType.F64: ctypes.c_double, ElementType.S32: c_int32}.get(matmul.scale_type, ctypes.c_float)
        convert: Any = int if number is c_int32 else float
        alpha, beta = (number(convert(x)) for x in (config.alpha, config.beta))
        return _Plan(description, (a, b, c, d), algorithm, (alpha, beta), threading.Lock())

    def _algorithm(self, new: Any, objects: Sequence[c_void_p], workspace: int, what: str) -> _Heuristic:
        """Asks for the best algorithm of a product. The last object of `new` is the preference then."""
        preference = new("MatmulPreference")
        self._set("MatmulPreference", preference, _WORKSPACE, c_uint64(workspace), what)
        self._set("MatmulPreference", preference, _REDUCTIONS, c_uint32(_ROUNDED_ONCE), what)
        for attribute in _ALIGNMENTS:
            self._set("MatmulPreference", preference, attribute, c_uint32(ALIGNMENT), what)
        name, found, count = "cublasLtMatmulAlgoGetHeuristic", _Heuristic(), c_int()
        self._call(name, what, self._handle, *objects, preference, 1, byref(found), byref(count))
        if count.value < 1 or found.state:
            raise self._error(name, found.state or _NOT_SUPPORTED, what)
        return found

    def _layout(self, new: Any, matrix: Matrix, batch: int, what: str) -> c_void_p:
        layout: c_void_p = new("MatrixLayout", _TYPES[matrix.element_type], matrix.rows, matrix.columns, matrix.leading)
        self._set("MatrixLayout", layout, _BATCH_COUNT, c_int32(batch), what)
        self._set("MatrixLayout", layout, _BATCH_STRIDE, c_int64(matrix.batch_stride), what)
        return layout

    def _destroy(self, plan: _Plan) -> None:
        self._free("MatmulDesc", plan.description)
        for layout in plan.layouts:
            self._free("MatrixLayout", layout)

    def _free(self, kind: str, handle: c_void_p) -> None:
        getattr(self._library, f"cublasLt{kind}Destroy")(handle)

    # -- calls -------------------------------------------------------------------------------------------------------

    def _set(self, kind: str, handle: c_void_p, attribute: int, value: Any, what: str) -> None:
        self._call(f"cublasLt{kind}SetAttribute", what, handle, attribute, byref(value), ctypes.sizeof(value))

    def _call(self, name: str, what: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status:
            raise self._error(name, status, what)

    def _error(self, name: str, status: int, what: str) -> XlaError:
        known, kind = _KINDS.get(status, (f"status {status}", InternalError))
        text = (self._library.cublasLtGetStatusString(status) or b"").decode(errors="replace")
        of = f" of the product {what}" if what else ""
        return kind(f"{name}{of} returned {known}: {text}", op=name)


def _check_sizes(matmul: Matmul, *places: tuple[int, int]) -> None:
    """Checks that the matrices are within their memory: the library knows addresses only."""
    matrices = (matmul.a, matmul.b, matmul.c or matmul.d, matmul.d)
    for name, matrix, (_, size) in zip("ABCD", matrices, places, strict=True):
        needed = matrix.byte_size(matmul.batch)
        if needed > size:
            raise InternalError(f"the matrix {name} of the product {matmul} takes {needed} bytes, but has {size}")
