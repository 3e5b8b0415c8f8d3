"""The C structures: against a C compiler, and against PJRT's own header where it is at hand."""

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.xla_core.pjrt.c_declarations import declarations
from xla_core.pjrt import abi, abi_table

_compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
_header = os.environ.get("PJRT_C_API_HEADER", "")


def _offsets(source: str, prefix: str, tmp_path: Path) -> dict[str, list[int]]:
    """Compiles a C program that prints the offsets of each structure's fields, and its size at last."""
    lines = []
    for name in abi.STRUCTS:
        fields = [f"(long)offsetof({prefix}{name}, {field})" for field in abi.FIELDS[name] if _is_plain(name, field)]
        values = ", ".join([*fields, f"(long)sizeof({prefix}{name})"])
        lines.append(f'{{ long v[] = {{ {values} }}; show("{name}", v, sizeof v / sizeof *v); }}')
    body = "\n".join(lines)
    program = f"""{source}
#include <stdbool.h>
#include <stdio.h>
static void show(const char* name, long* values, size_t count) {{
  printf("%s", name);
  for (size_t i = 0; i < count; ++i) printf(" %ld", values[i]);
  printf("\\n");
}}
int main(void) {{ {body} return 0; }}
"""
    (tmp_path / "offsets.c").write_text(program)
    subprocess.run([_compiler, "-w", "-o", "offsets", "offsets.c"], cwd=tmp_path, check=True)
    text = subprocess.run([tmp_path / "offsets"], check=True, capture_output=True, text=True).stdout
    return {line.split()[0]: list(map(int, line.split()[1:])) for line in text.splitlines()}


def _is_plain(struct: str, field: str) -> bool:
    """Whether the field isn't a union, which has no name in C."""
    return not issubclass(dict(abi.STRUCTS[struct]._fields_)[field], ctypes.Union)


def _own_offsets() -> dict[str, list[int]]:
    return {
        name: [
            *(getattr(struct, field).offset for field in abi.FIELDS[name] if _is_plain(name, field)),
            ctypes.sizeof(struct),
        ]
        for name, struct in abi.STRUCTS.items()
    }


@pytest.mark.skipif(_compiler is None, reason="no C compiler is installed")
def test_the_structures_are_laid_out_as_in_c(tmp_path: Path) -> None:
    assert _offsets(declarations(), "", tmp_path) == _own_offsets()


@pytest.mark.skipif(not _header, reason="PJRT_C_API_HEADER doesn't name a copy of pjrt_c_api.h")
@pytest.mark.skipif(_compiler is None, reason="no C compiler is installed")
def test_the_table_is_that_of_the_header(tmp_path: Path) -> None:
    text = Path(_header).read_text()
    assert re.findall(r"_PJRT_API_STRUCT_FIELD\(\s*PJRT_(\w+)\)", text) == list(abi_table.FUNCTIONS)
    assert f"#define PJRT_API_MINOR {abi_table.MINOR_VERSION}" in text
    assert _offsets(f'#include "{Path(_header).resolve()}"', "struct PJRT_", tmp_path) == _own_offsets()


def test_the_size_of_a_structure_ends_with_its_last_field() -> None:
    ready = abi.STRUCTS["Event_IsReady_Args"]
    assert (ready.full_size, ctypes.sizeof(ready)) == (25, 32)
