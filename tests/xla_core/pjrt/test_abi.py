"""The C structures: against a C compiler, and against PJRT's own header where it is at hand."""

import ctypes
import os
import re
from pathlib import Path

import pytest

from tests.xla_core.c_declarations import declarations
from tests.xla_core.c_layout import C_COMPILER, c_offsets, own_offsets
from xla_core.pjrt import abi, abi_table

_header = os.environ.get("PJRT_C_API_HEADER", "")


@pytest.mark.skipif(not C_COMPILER, reason="no C compiler is installed")
def test_the_structures_are_laid_out_as_in_c(tmp_path: Path) -> None:
    assert c_offsets(abi.STRUCTS, declarations(), "", tmp_path) == own_offsets(abi.STRUCTS)


@pytest.mark.skipif(not _header, reason="PJRT_C_API_HEADER doesn't name a copy of pjrt_c_api.h")
@pytest.mark.skipif(not C_COMPILER, reason="no C compiler is installed")
def test_the_table_is_that_of_the_header(tmp_path: Path) -> None:
    text = Path(_header).read_text()
    assert re.findall(r"_PJRT_API_STRUCT_FIELD\(\s*PJRT_(\w+)\)", text) == list(abi_table.FUNCTIONS)
    assert f"#define PJRT_API_MINOR {abi_table.MINOR_VERSION}" in text
    found = c_offsets(abi.STRUCTS, f'#include "{Path(_header).resolve()}"', "struct PJRT_", tmp_path)
    assert found == own_offsets(abi.STRUCTS)


def test_the_size_of_a_structure_ends_with_its_last_field() -> None:
    ready = abi.STRUCTS["Event_IsReady_Args"]
    assert (ready.full_size, ctypes.sizeof(ready)) == (25, 32)
