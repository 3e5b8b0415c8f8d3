"""A wrong LAPACK call is an InvalidArgumentError in the evaluator and in a backend."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla
from xla_core.lapack import SIGNATURES

F = np.float32
SQUARE = np.eye(4, dtype=F)
FLAGS = {"side": "L", "uplo": "L", "trans_x": "N", "diag": "N", "mode": "V", "compute_left": "V", "compute_right": "V"}


def _call(target: str, attributes: str, *operands: np.ndarray, results: str = "(f32[4,4], s32[])") -> str:
    parameters = "\n".join(f"  p{i} = f32{list(x.shape)} parameter({i})" for i, x in enumerate(operands))
    names = ", ".join(f"p{i}" for i in range(len(operands)))
    return f"""HloModule m
ENTRY main {{
{parameters}
  ROOT r = {results} custom-call({names}), custom_call_target="{target}", api_version=API_VERSION_TYPED_FFI,
    backend_config={{{attributes}}}
}}"""


def _flags(**changed: str) -> str:
    return ", ".join(f"{name} = {ord(value)} : ui8" for name, value in (FLAGS | changed).items())


WRONG = [
    ("lapack_strsm_ffi", _flags(diag="X"), (SQUARE, SQUARE), "f32[4,4]", "has diag = 88, which must be one of 78"),
    ("lapack_strsm_ffi", _flags(side="T"), (SQUARE, SQUARE), "f32[4,4]", "side = 84"),
    ("lapack_strsm_ffi", _flags(trans_x="Q"), (SQUARE, SQUARE), "f32[4,4]", "trans_x = 81"),
    ("lapack_spotrf_ffi", _flags(uplo="?"), (SQUARE,), "(f32[4,4], s32[])", "uplo = 63"),
    ("lapack_spotrf_ffi", "uplo = 300 : i64", (SQUARE,), "(f32[4,4], s32[])", "uplo = 300"),
    ("lapack_spotrf_ffi", "", (SQUARE,), "(f32[4,4], s32[])", "has no attribute uplo"),
    (
        "lapack_spotrf_ffi",
        "uplo = 300 : ui8",
        (SQUARE,),
        "(f32[4,4], s32[])",
        "uplo = '300 : ui8', which is no integer",
    ),
    ("lapack_spotrf_ffi", 'uplo = "L"', (SQUARE,), "(f32[4,4], s32[])", "uplo = 'L', which is no integer"),
    ("lapack_ssyevd_ffi", _flags(mode="A"), (SQUARE,), "(f32[4,4], f32[4], s32[])", "mode = 65"),
    ("lapack_sgehrd_ffi", "low = 0 : i64, high = 9 : i64", (SQUARE,), "(f32[4,4], f32[3], s32[])", "low = 0"),
    ("lapack_sormqr_ffi", "left = true", (SQUARE, SQUARE[0], SQUARE), "f32[4,4]", "has no attribute transpose"),
    ("lapack_strsm_ffi", _flags(), (SQUARE, np.ones((3, 3), F)), "f32[3,3]", "solves 3x3 systems with a 4x4 matrix"),
]


@pytest.mark.parametrize(("target", "attributes", "operands", "results", "message"), WRONG)
def test_wrong_attributes_and_operands_are_refused(target, attributes, operands, results, message):
    text = _call(target, attributes, *operands, results=results)
    with pytest.raises(xla.InvalidArgumentError, match=message):
        xla.evaluate(xla.parse(text), *operands)
    with pytest.raises(xla.InvalidArgumentError, match=message):
        np.asarray(xla.Client("cpu").compile(text)(*operands)[0])


def test_every_signature_names_its_dimensions():
    for signature in SIGNATURES.values():
        assert set(signature.letters) <= set("sdcz")
        assert all(operand.isalpha() for operand in signature.operands.split())
