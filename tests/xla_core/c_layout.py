"""The layout of structures, as a C compiler has it and as ours are."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xla_core.c_structures import Struct

C_COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang") or ""


def c_offsets(
    structs: Mapping[str, type[Struct]], source: str, prefix: str, folder: Path, flags: Sequence[str] = ()
) -> dict[str, list[int]]:
    """Compiles a C program that prints the offsets of each structure's fields, and its size at last."""
    lines = []
    for name, struct in structs.items():
        fields = [f"(long)offsetof({prefix}{name}, {field})" for field, kind in struct._fields_ if _is_plain(kind)]
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
    (folder / "offsets.c").write_text(program)
    subprocess.run([C_COMPILER, "-w", *flags, "-o", "offsets", "offsets.c"], cwd=folder, check=True)
    text = subprocess.run([folder / "offsets"], check=True, capture_output=True, text=True).stdout
    return {line.split()[0]: list(map(int, line.split()[1:])) for line in text.splitlines()}


def _is_plain(kind: Any) -> bool:
    """Whether the field isn't a union, which has no name in C."""
    return not issubclass(kind, ctypes.Union)


def own_offsets(structs: Mapping[str, type[Struct]]) -> dict[str, list[int]]:
    return {
        name: [
            *(getattr(struct, field).offset for field, kind in struct._fields_ if _is_plain(kind)),
            ctypes.sizeof(struct),
        ]
        for name, struct in structs.items()
    }
