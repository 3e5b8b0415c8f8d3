"""The structures of XLA's FFI: against a C compiler, and against XLA's own header."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.xla_core.c_declarations import structures
from tests.xla_core.c_layout import C_COMPILER, c_offsets, own_offsets
from tests.xla_core.ffi.libraries import HEADERS, WHY_NO_CPP
from xla_core.ffi.structures import FUNCTIONS, MAJOR_VERSION, MINOR_VERSION, STRUCTS

pytestmark = pytest.mark.skipif(not C_COMPILER, reason="no C compiler is installed")


def test_the_structures_are_laid_out_as_in_c(tmp_path: Path) -> None:
    assert c_offsets(STRUCTS, structures(STRUCTS), "", tmp_path) == own_offsets(STRUCTS)


@pytest.mark.skipif(bool(WHY_NO_CPP), reason=WHY_NO_CPP)
def test_the_table_is_that_of_xlas_header(tmp_path: Path) -> None:
    text = (HEADERS / "xla/ffi/api/c_api.h").read_text()
    assert tuple(re.findall(r"_XLA_FFI_API_STRUCT_FIELD\(XLA_FFI_(\w+)\)", text)) == FUNCTIONS
    versions = re.findall(r"#define XLA_FFI_API_M\w+ (\d+)", text)
    assert versions == [str(MAJOR_VERSION), str(MINOR_VERSION)]
    source = '#include "xla/ffi/api/c_api.h"'
    found = c_offsets(STRUCTS, source, "struct XLA_FFI_", tmp_path, ["-I", str(HEADERS)])
    assert found == own_offsets(STRUCTS)
