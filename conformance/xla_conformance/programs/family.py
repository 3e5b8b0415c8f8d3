"""A family of small programs that together have every feature of executables.

Every result is exact for small integers, so that a device must return the reference evaluator's bits.
"""

from __future__ import annotations

import importlib.resources

import ml_dtypes  # noqa: F401  (registers bfloat16 and its like with numpy)
import numpy as np

from xla_conformance.family_program import FamilyProgram
from xla_conformance.programs.composed import composed_programs

# -- programs that are generated ---------------------------------------------------------------------------------------


def large_constants(count: int = 3001) -> FamilyProgram:
    """Constants of random bits in several types, NaN payloads among them, which nothing may round or cut."""
    random = np.random.default_rng(5)
    lines, results, types = [], [], []
    for i, (dtype, mlir) in enumerate([("<f4", "f32"), ("<i4", "i32"), ("|i1", "i8"), ("<f8", "f64"), ("<u2", "bf16")]):
        data = random.integers(0, 256, count * np.dtype(dtype).itemsize, dtype=np.uint8)
        kind = f"tensor<{count}x{mlir}>"
        lines.append(f'  %{i} = stablehlo.constant dense<"0x{data.tobytes().hex().upper()}"> : {kind}')
        results.append(f"%{i}")
        types.append(kind)
    body = "\n".join(lines)
    said = ", ".join(types)
    text = f"func.func @main() -> ({said}) {{\n{body}\n  return {', '.join(results)} : {said}\n}}\n"
    return FamilyProgram("large_constants", text)


def alike_constants(number: int, count: int = 1503) -> FamilyProgram:
    """Constants that differ in one element, in type or in shape alone, and one that the program updates.

    Programs of different numbers differ in one element of one constant.
    """
    values = [n * 7919 % 1000 for n in range(count)]
    changed = {"middle": count // 2, "last": count - 1, "first": 0}
    lines = ["  x = s32[3] parameter(0)", "  at = s32[] parameter(1)"]
    given = {"all": [*values]}
    for name, place in changed.items():
        given[name] = [*values[:place], values[place] + 1, *values[place + 1 :]]
    given["all"][count // 3] += number
    for name, numbers in given.items():
        lines.append(f"  {name} = s32[{count}] constant({{{', '.join(map(str, numbers))}}})")
    floats = ", ".join(map(str, values))
    lines.append(f"  floats = f32[{count}] constant({{{floats}}})")
    rows = ", ".join("{" + ", ".join(map(str, values[n : n + 3])) + "}" for n in range(0, count, 3))
    lines.append(f"  rows = s32[{count // 3},3] constant({{{rows}}})")
    lines.append(f"  updated = s32[{count}] dynamic-update-slice(last, x, at)")
    results = {**dict.fromkeys(given, f"s32[{count}]"), "floats": f"f32[{count}]", "rows": f"s32[{count // 3},3]"}
    results["updated"] = f"s32[{count}]"
    lines.append(f"  ROOT r = ({', '.join(results.values())}) tuple({', '.join(results)})")
    return FamilyProgram("alike_constants", "HloModule m\n\nENTRY e {\n" + "\n".join(lines) + "\n}\n")


def wide_program(count: int = 24) -> FamilyProgram:
    """Many parameters and many results, each of its own shape, in another order."""
    lines = [f"  p{i} = s32[{i + 1}] parameter({i})" for i in range(count)]
    lines += [f"  n{i} = s32[{i + 1}] negate(p{i})" for i in range(count)]
    order = [(7 * i + 3) % count for i in range(count)]
    shapes = ", ".join(f"s32[{i + 1}]" for i in order)
    lines.append(f"  ROOT r = ({shapes}) tuple({', '.join(f'n{i}' for i in order)})")
    return FamilyProgram("many_parameters_and_results", "HloModule m\n\nENTRY e {\n" + "\n".join(lines) + "\n}\n")


def hundreds_of_arguments(count: int = 300) -> FamilyProgram:
    """More parameters and results than a table with numbers of 8 bits has, in the other order.

    All have one shape, but for an empty parameter in the middle, which isn't a result.
    """
    empty = count // 2
    lines = [f"  p{i} = s32[{2 * (i != empty)}] parameter({i})" for i in range(count)]
    results = [f"p{i}" for i in reversed(range(count)) if i != empty]
    lines.append(f"  ROOT r = ({', '.join(['s32[2]'] * len(results))}) tuple({', '.join(results)})")
    return FamilyProgram("hundreds_of_arguments", "HloModule m\n\nENTRY e {\n" + "\n".join(lines) + "\n}\n")


def siblings(count: int = 6) -> list[FamilyProgram]:
    """Programs of one name and one length, with one signature and the same names inside.

    They compute different things.
    """
    text = (
        "HloModule m\n\nENTRY e {{\n  x = s32[300] parameter(0)\n  y = s32[300] parameter(1)\n"
        "  k = s32[] constant({k})\n  b = s32[300] broadcast(k), dimensions={{}}\n"
        "  a = s32[300] {op}(x, y)\n  c = s32[300] multiply(a, b)\n  ROOT r = s32[300] add(c, x)\n}}\n"
    )
    ops = ("multiply", "subtract")
    return [FamilyProgram(f"sibling{i}", text.format(k=2 + i // 2, op=ops[i % 2])) for i in range(count)]


def every_kind_of_kernel() -> FamilyProgram:
    """A chain of ops that each have a kind of kernel of their own: products, orders, sums, indices, windows, copies."""
    text = """HloModule m

plus { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }

less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }

ENTRY e {
  a = f32[8,8] parameter(0)
  b = f32[8,8] parameter(1)
  n = s32[5] parameter(2)
  zero = f32[] constant(0)
  products = f32[8,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  sorted = f32[8,8] sort(products), dimensions={1}, to_apply=less
  sums = f32[8] reduce(sorted, zero), dimensions={0}, to_apply=plus
  windows = f32[8,8] reduce-window(products, zero), window={size=1x3 pad=0_0x1_1}, to_apply=plus
  places = s32[5,1] reshape(n)
  taken = f32[5,8] gather(windows, places), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}
  added = f32[8,8] scatter(a, places, taken), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=plus
  image = f32[1,8,8,1] reshape(added)
  corner = f32[3,3] slice(b), slice={[0:3], [0:3]}
  taps = f32[3,3,1,1] reshape(corner)
  filtered = f32[1,8,8,1] convolution(image, taps), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  turned = f32[8,8] transpose(added), dimensions={1,0}
  joined = f32[8,16] concatenate(turned, sorted), dimensions={1}
  padded = f32[9,17] pad(joined, zero), padding=1_0x0_1
  first = s32[1] slice(n), slice={[0:1]}
  start = s32[] reshape(first)
  part = f32[3,5] dynamic-slice(padded, start, start), dynamic_slice_sizes={3,5}
  whole = f32[9,17] dynamic-update-slice(padded, part, start, start)
  ROOT r = (f32[8], f32[1,8,8,1], f32[9,17], f32[3,5]) tuple(sums, filtered, whole, part)
}
"""
    return FamilyProgram("every_kind_of_kernel", text)


def donations() -> list[FamilyProgram]:
    """Two programs that differ only in the donation of their argument."""
    body = "\n\nENTRY e {\n  x = f32[77] parameter(0)\n  ROOT r = f32[77] negate(x)\n}\n"
    said = {"kept": "", "donated": ", input_output_alias={ {}: (0, {}) }"}
    return [FamilyProgram(name, f"HloModule m{text}{body}") for name, text in said.items()]


def _files(folder_name: str) -> list[FamilyProgram]:
    folder = importlib.resources.files(__package__).joinpath(folder_name)
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".hlo")), key=lambda f: f.name)
    return [FamilyProgram(f.name.removesuffix(".hlo"), f.read_text(encoding="utf-8")) for f in files]


WRITTEN: tuple[FamilyProgram, ...] = (*_files("family"), large_constants(), wide_program())
"""Programs that each have a feature of their own."""

FAMILY: tuple[FamilyProgram, ...] = (*WRITTEN, *(FamilyProgram(n, text) for n, text in composed_programs().items()))
"""All programs that run on one device without infeed and outfeed."""

FLOW = tuple(_files("family_flow"))
"""Programs whose values go through loops, branches and donations as they are. The tests of executables have them."""

SHARDED = tuple(_files("family_sharded"))
"""Programs of several replicas or partitions."""
