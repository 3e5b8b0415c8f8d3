from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.xla_core.analysis.buffer_checker import check_buffer_assignment
from tests.xla_core.codegen.llvm.kernels import emit
from tests.xla_core.passes.random_graphs import random_arguments, random_graph
from xla_core.analysis import assign_buffers
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.verifier import verify
from xla_core.passes.fusion import (
    FusionPolicy,
    InstructionFusion,
    MultiOutputFusion,
    create_fusion,
    replace_with_fusion,
)
from xla_core.passes.fusion.kernel_code import code_size
from xla_core.passes.scheduling.copy_insertion import insert_copies
from xla_core.passes.scheduling.hlo_memory_scheduler import schedule_module
from xla_core.target import FusionCosts, FusionDecision, FusionPreferences, ParallelModel

BLOCKS = FusionPolicy(parallel=ParallelModel(threads=256, lanes=32))


def _fuse(module: HloModule, policy: FusionPolicy | None = None) -> None:
    for fusion_pass in (InstructionFusion(policy), MultiOutputFusion(policy)):
        fusion_pass.run(module)
        verify(module)


def _keeps_its_meaning(module: HloModule, seed: int, policy: FusionPolicy | None = None) -> None:
    arguments = random_arguments(module, seed)
    before = evaluate(module, *arguments)
    _fuse(module, policy)
    for expected, found in zip(before, evaluate(module, *arguments), strict=True):
        np.testing.assert_array_equal(found, expected)
    schedule_module(module)
    insert_copies(module)
    check_buffer_assignment(assign_buffers(module))
    for expected, found in zip(before, evaluate(module, *arguments), strict=True):
        np.testing.assert_array_equal(found, expected)


@given(st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_fusion_keeps_the_meaning(rng: random.Random) -> None:
    _keeps_its_meaning(random_graph(rng), 3)


@given(st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_fusion_for_blocks_of_threads_keeps_the_meaning(rng: random.Random) -> None:
    _keeps_its_meaning(random_graph(rng), 3, BLOCKS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_fusion_keeps_the_meaning_of_large_graphs(seed: int) -> None:
    _keeps_its_meaning(random_graph(random.Random(seed), 60), seed)


REDUCERS = """
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b) }
sum { c = f32[] parameter(0)
  d = f32[] parameter(1)
  ROOT s = f32[] add(c, d) }
"""


def _entry(body: str, policy: FusionPolicy | None = None) -> list[HloInstruction]:
    """The entry's instructions after fusion, parameters left out."""
    module = parse_hlo("HloModule m\n" + REDUCERS + "ENTRY e {\n" + body + "\n}\n")
    _fuse(module, policy)
    return [i for i in module.entry.post_order() if i.opcode != "parameter"]


def _opcodes(instructions: list[HloInstruction]) -> list[str]:
    return [i.opcode for i in instructions]


def _inside(fusion: HloInstruction) -> list[str]:
    return sorted(i.opcode for i in fusion.attributes["calls"].instructions if i.opcode != "parameter")


@pytest.mark.parametrize(("kind", "most"), [("f32", 16), ("c64", 4)])
def test_a_long_chain_of_large_functions_is_cut(kind: str, most: int):
    """Each becomes hundreds of instructions: one kernel of hundreds of them took LLVM minutes."""
    chain = "".join(f"  x{i + 1} = {kind}[8] sine(x{i})\n" for i in range(49))
    kernels = _entry(f"  x0 = {kind}[8] parameter(0)\n{chain}  ROOT r = {kind}[8] sine(x49)")
    sizes = [_inside(k).count("sine") if k.opcode == "fusion" else 1 for k in kernels]
    assert sum(sizes) == 50
    assert max(sizes) == most


@pytest.mark.parametrize(("length", "kernels"), [(1, 1), (20, 2)])
def test_a_long_chain_is_not_computed_again_for_each_element_of_a_broadcast(length: int, kernels: int) -> None:
    chain = "".join(f"  y{n + 1} = f32[64,64] multiply(y{n}, y{n})\n" for n in range(length))
    module = parse_hlo(f"""HloModule chain
add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}
ENTRY main {{
  zero = f32[] constant(0)
  y0 = f32[64,64] parameter(0)
  x = f32[64,64,3] parameter(1)
{chain}  b = f32[64,64,3] broadcast(y{length}), dimensions={{0,1}}
  z = f32[64,64,3] multiply(b, x)
  ROOT r = f32[64,3] reduce(z, zero), dimensions={{1}}, to_apply=add
}}""")
    _fuse(module)
    assert sum(1 for i in module.entry.instructions if i.opcode == "fusion") == kernels


def test_an_update_in_place_stays_one():
    found = _entry("""
  x = f32[1000,64] parameter(0)
  i = s32[] parameter(1)
  y = f32[1000,64] negate(x)
  zero = s32[] constant(0)
  row = f32[1,64] dynamic-slice(y, i, zero), dynamic_slice_sizes={1,64}
  more = f32[1,64] exponential(row)
  ROOT u = f32[1000,64] dynamic-update-slice(y, more, i, zero)""")
    fusion = found[-1]
    root = fusion.attributes["calls"].root
    assert root.opcode == "dynamic-update-slice"
    assert root.operand(0).opcode == "parameter"  # what computes y is not inside
    module = fusion.parent.module
    schedule_module(module)
    insert_copies(module)
    assignment = assign_buffers(module)
    target = root.operand(0).parameter_number
    assert assignment.slice(fusion) == assignment.slice(fusion.operand(target))


def test_fusions_of_others_that_no_loop_computes_stay():
    """As XLA writes them: each scatter has a kernel to itself."""
    module = parse_hlo("""HloModule m
sum { c = f32[] parameter(0)
  d = f32[] parameter(1)
  ROOT s = f32[] add(c, d) }
scatter { t = f32[1000,4] parameter(0)
  i = s32[20,1] parameter(1)
  u = f32[20,1,4] parameter(2)
  ROOT r = f32[1000,4] scatter(t, i, u), update_window_dims={1,2}, inserted_window_dims={},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum }
ENTRY e { t = f32[1000,4] parameter(0)
  i = s32[20,1] parameter(1)
  u = f32[20,1,4] parameter(2)
  a = f32[1000,4] fusion(t, i, u), kind=kLoop, calls=scatter
  b = f32[1000,4] fusion(t, i, u), kind=kLoop, calls=scatter
  ROOT o = (f32[1000,4], f32[1000,4]) tuple(a, b) }
""")
    _fuse(module)
    assert [i.name for i in module.entry.instructions if i.opcode == "fusion"] == ["a", "b"]


def test_the_target_has_the_last_word():
    def never(producer: HloInstruction, consumer: HloInstruction) -> FusionDecision:
        return FusionDecision.no("no exponentials here") if producer.opcode == "exponential" else FusionDecision.yes()

    body = """
  x = f32[100] parameter(0)
  y = f32[100] exponential(x)
  z = f32[100] negate(y)
  ROOT w = f32[100] tanh(z)"""
    assert _opcodes(_entry(body, FusionPolicy(FusionPreferences(should_fuse=never)))) == ["exponential", "fusion"]
    assert "fusion" not in _opcodes(_entry(body, FusionPolicy(FusionPreferences(enabled=False))))
    unfusible = FusionPolicy(FusionPreferences(unfusible=frozenset({"tanh"})))
    assert _opcodes(_entry(body, unfusible)) == ["fusion", "tanh"]


def test_code_that_would_grow_exponentially_is_cut():
    """Each step reads the one before at several places: inlined, the first would be computed 3^20 times."""
    lines, n = ["x = f32[100] parameter(0)", "zero = f32[] constant(0)"], 20
    for k in range(n):
        before = f"y{k - 1}" if k else "x"
        for side, (low, high) in {"l": (1, -1), "r": (-1, 1)}.items():
            lines.append(f"{side}{k} = f32[100] pad({before}, zero), padding={low}_{high}")
        lines.append(f"s{k} = f32[100] add(l{k}, r{k})")
        lines.append(f"{'ROOT ' if k == n - 1 else ''}y{k} = f32[100] add(s{k}, {before})")
    found = _entry("\n".join(lines))
    sizes = [i.attributes["calls"].instruction_count for i in found if i.opcode == "fusion"]
    assert sizes
    assert max(sizes) < 60


def test_constants_count_for_nothing_in_the_size_of_a_kernel() -> None:
    """A kernel that has as much code as it may have takes constants and their broadcasts, which need no code."""
    lines, n = ["x = f32[100] parameter(0)"], 8
    for k in range(n):
        before = f"y{k - 1}" if k else "x"
        lines.append(f"c{k} = f32[] constant({k + 2})")
        lines.append(f"b{k} = f32[100] broadcast(c{k}), dimensions={{}}")
        lines.append(f"{'ROOT ' if k == n - 1 else ''}y{k} = f32[100] multiply({before}, b{k})")
    (kernel,) = _kernels("\n".join(lines), FusionPolicy(FusionPreferences(max_instructions=n)))
    assert kernel.count("broadcast") == kernel.count("multiply") == n


def test_fusions_are_made_and_grown_by_hand():
    module = parse_hlo("""
HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] negate(x)
  z = f32[4] add(y, x)
  ROOT w = f32[4] multiply(z, z)
}
""")
    named = {i.name: i for i in module.entry.instructions}
    fusion = replace_with_fusion([named["w"]], [named["z"], named["w"]])
    assert _inside(fusion) == ["add", "multiply"]
    fusion = replace_with_fusion([fusion], [named["y"], fusion])
    assert _inside(fusion) == ["add", "multiply", "negate"]
    verify(module)
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(evaluate(module, x)[0], np.zeros(4))
    copy = create_fusion([fusion], [fusion], name="again")
    assert copy.name == "again"
    assert _inside(copy) == _inside(fusion)


def test_the_start_indices_of_a_dynamic_slice_may_be_a_vector() -> None:
    made = _entry("""
      c = f32[2,4] parameter(0)
      i = s16[2] parameter(1)
      j = s16[2] add(i, i)
      ROOT r = f32[2,1] dynamic-slice(c, j), dynamic_slice_sizes={2,1}""")
    assert made[-1].shape.dimensions == (2, 1)


SOFTMAX = """
 x = f32[{shape}] parameter(0)
 low = f32[] constant(-inf)
 zero = f32[] constant(0)
 top = f32[{rows}] reduce(x, low), dimensions={{{dimensions}}}, to_apply=max
 tops = f32[{shape}] broadcast(top), dimensions={{{kept}}}
 moved = f32[{shape}] subtract(x, tops)
 e = f32[{shape}] exponential(moved)
 total = f32[{rows}] reduce(e, zero), dimensions={{{dimensions}}}, to_apply=sum
 totals = f32[{shape}] broadcast(total), dimensions={{{kept}}}
 ROOT r = f32[{shape}] divide(e, totals)
"""


def _kernels(body: str, policy: FusionPolicy | None = None) -> list[list[str]]:
    """The opcodes of each kernel after fusion."""
    entry = [i for i in _entry(body, policy) if i.opcode != "constant"]
    return [_inside(i) if i.opcode == "fusion" else [str(i.opcode)] for i in entry]


@pytest.mark.parametrize(
    ("shape", "rows", "dimensions", "kept"),
    [("64,500", "64", "1", "0"), ("3,4,5,60", "3,4", "2,3", "0,1"), ("700", "", "0", "")],
)
def test_blocks_of_threads_compute_a_softmax_in_one_kernel(shape, rows, dimensions, kept):
    (kernel,) = _kernels(SOFTMAX.format(shape=shape, rows=rows, dimensions=dimensions, kept=kept), BLOCKS)
    assert kernel.count("reduce") == 2


def test_blocks_of_threads_compute_a_softmax_of_columns_in_one_kernel():
    (kernel,) = _kernels(SOFTMAX.format(shape="64,500", rows="500", dimensions="0", kept="1"), BLOCKS)
    assert kernel.count("reduce") == 2


def test_a_row_that_no_block_can_hold_is_reduced_by_a_kernel_of_its_own():
    policy = FusionPolicy(parallel=ParallelModel(threads=8, lanes=4, registers=4))
    assert policy.parallel.block_elements == 16
    short = _kernels(SOFTMAX.format(shape="64,16", rows="64", dimensions="1", kept="0"), policy)
    long = _kernels(SOFTMAX.format(shape="64,17", rows="64", dimensions="1", kept="0"), policy)
    assert (len(short), len(long)) == (1, 3)


def test_a_kernel_of_blocks_reduces_rows_of_one_length():
    """The rows of 20 elements and those of 600 are the work of different blocks."""
    found = _kernels(
        """
 x = f32[7,30,20] parameter(0)
 zero = f32[] constant(0)
 short = f32[7,30] reduce(x, zero), dimensions={2}, to_apply=sum
 a = f32[7,30,20] broadcast(short), dimensions={0,1}
 long = f32[7] reduce(x, zero), dimensions={1,2}, to_apply=sum
 b = f32[7,30,20] broadcast(long), dimensions={0}
 c = f32[7,30,20] multiply(a, b)
 ROOT r = f32[7,30,20] add(c, x)
""",
        BLOCKS,
    )
    assert [kernel.count("reduce") for kernel in found] == [1, 1]


def test_the_two_steps_of_a_large_reduction_stay_two_kernels():
    found = _kernels("""
 x = f32[64,4096] parameter(0)
 zero = f32[] constant(0)
 parts = f32[64] reduce(x, zero), dimensions={1}, to_apply=sum
 ROOT all = f32[] reduce(parts, zero), dimensions={0}, to_apply=sum
""")
    assert [kernel.count("reduce") for kernel in found] == [1, 1]


def test_blocks_of_threads_reduce_rows_for_several_results():
    """The mean of a row is a result, and the variance needs it at the same row."""
    found = _kernels(
        """
 x = f32[64,500] parameter(0)
 zero = f32[] constant(0)
 mean = f32[64] reduce(x, zero), dimensions={1}, to_apply=sum
 means = f32[64,500] broadcast(mean), dimensions={0}
 moved = f32[64,500] subtract(x, means)
 squared = f32[64,500] multiply(moved, moved)
 variance = f32[64] reduce(squared, zero), dimensions={1}, to_apply=sum
 turned = f32[64,500] broadcast(mean), dimensions={0}
 columns = f32[500] reduce(turned, zero), dimensions={0}, to_apply=sum
 ROOT r = (f32[64], f32[64], f32[500]) tuple(mean, variance, columns)
""",
        BLOCKS,
    )
    rows = [kernel for kernel in found if kernel.count("reduce") == 2]
    assert len(rows) == 1


def test_a_block_does_not_take_what_reads_other_rows():
    found = _kernels(
        """
 x = f32[64,500] parameter(0)
 zero = f32[] constant(0)
 total = f32[64] reduce(x, zero), dimensions={1}, to_apply=sum
 turned = f32[64] reverse(total), dimensions={0}
 wide = f32[64,500] broadcast(turned), dimensions={0}
 less = f32[64,500] subtract(x, wide)
 again = f32[64] reduce(less, zero), dimensions={1}, to_apply=sum
 ROOT r = (f32[64], f32[64]) tuple(total, again)
""",
        BLOCKS,
    )
    assert [kernel.count("reduce") for kernel in found if "reduce" in kernel] == [1, 1]


VIEWED = """
 x = f32[64,500] parameter(0)
 zero = f32[] constant(0)
 view = f32[64,5,100] bitcast(x)
 total = f32[64] reduce(view, zero), dimensions={1,2}, to_apply=sum
 top = f32[64] reduce(x, zero), dimensions={1}, to_apply=max
"""


def test_kernels_that_read_views_of_an_array_are_merged():
    found = _kernels(VIEWED + " ROOT r = (f32[64], f32[64]) tuple(total, top)", BLOCKS)
    assert [kernel.count("reduce") for kernel in found if "reduce" in kernel] == [2]


def test_a_view_that_others_read_stays():
    program = VIEWED + " ROOT r = (f32[64], f32[64], f32[64,5,100]) tuple(total, top, view)"
    entry = [str(i.opcode) for i in _entry(program, BLOCKS)]
    assert entry.count("bitcast") == entry.count("fusion") == 1


@pytest.mark.parametrize(
    ("view", "reductions"),
    [
        ("w = f32[64,1] bitcast(total)\n v = f32[64] bitcast(w)", [2]),
        ("v = f32[64] bitcast(total)", [2]),
        ("w = f32[8,8] bitcast(total)\n t = f32[8,8] transpose(w), dimensions={1,0}\n v = f32[64] bitcast(t)", [1, 1]),
    ],
)
def test_a_kernel_takes_what_it_reads_at_its_own_row_of_a_view(view: str, reductions: list[int]):
    program = (
        VIEWED.partition(" top")[0]
        + f"""
 {view}
 wide = f32[64,500] broadcast(v), dimensions={{0}}
 less = f32[64,500] subtract(x, wide)
 again = f32[64] reduce(less, zero), dimensions={{1}}, to_apply=sum
 ROOT r = (f32[64], f32[64]) tuple(total, again)
"""
    )
    found = _kernels(program, BLOCKS)
    assert [kernel.count("reduce") for kernel in found if "reduce" in kernel] == reductions


def test_blocks_of_threads_take_the_initial_value_of_a_reduction():
    reduction = " x = f32[64] parameter(0)\n zero = f32[] constant(0)\n"
    reduction += " ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=sum"
    assert _kernels(reduction, BLOCKS) == [["constant", "reduce"]]


def test_the_condition_of_a_loop_stays_as_it_is_for_blocks_of_threads():
    """The number of trips is read off it."""
    condition = " i = s32[] parameter(0)\n ten = s32[] constant(10)\n ROOT r = pred[] compare(i, ten), direction=LT"
    assert _kernels(condition, BLOCKS) == [["compare"]]


def test_the_code_of_nested_concatenations_is_bounded() -> None:
    """Each operand of a concatenation has code of its own. In one kernel, this network's 7 steps have 4^7 compares."""
    module = parse_hlo(Path(__file__).with_name("sorting_network.txt").read_text())
    dear = FusionPreferences(costs=FusionCosts(byte=8.0, kernel=1e7))  # launches
    InstructionFusion(FusionPolicy(dear, ParallelModel(threads=1024, lanes=32))).run(module)
    fusions = [i for i in module.entry.instructions if i.opcode == "fusion"]
    assert len(fusions) > 1
    for fusion in fusions:
        _, emitted = emit(fusion)
        assert emitted.count("\n") < 1_000


@pytest.mark.parametrize(("most", "kernels"), [(4, 1), (3, 2)])
def test_the_copies_of_one_instruction_in_a_kernel_are_limited(most: int, kernels: int) -> None:
    """Each operand of a concatenation, and that of a pad, has code of its own, also for an index that others have."""
    found = _kernels(
        """x = f32[64] parameter(0)
  zero = f32[] constant(0)
  n = f32[64] negate(x)
  a = f32[64] abs(n)
  b = f32[64] floor(n)
  c = f32[128] concatenate(a, b), dimensions={0}
  d = f32[128] pad(n, zero), padding=0_64
  e = f32[128] pad(a, zero), padding=0_64
  s = f32[128] add(c, d)
  ROOT r = f32[128] add(s, e)""",
        FusionPolicy(FusionPreferences(max_copies=most)),
    )
    assert len(found) == kernels
    assert (["negate"] in found) == (kernels == 2)


@pytest.mark.parametrize(("shifts", "kernels"), [(4, 1), (8, 2)])
def test_merged_kernels_have_room_for_all_copies_of_their_code(shifts: int, kernels: int) -> None:
    """A kernel's function is in its code once for each index. Twice eight sines are more than one kernel may have."""
    lines = ["x = f32[4096] parameter(0)"]
    for kernel, op in enumerate(("sine", "cosine")):
        lines.append(f"f{kernel} = f32[4096] {op}(x)")
        for n in range(shifts):
            lines.append(f"s{kernel}_{n} = f32[4088] slice(f{kernel}), slice={{[{n}:{4088 + n}]}}")
            before = f"a{kernel}_{n - 1}" if n else f"s{kernel}_0"
            lines.append(f"a{kernel}_{n} = f32[4088] add({before}, s{kernel}_{n})")
    lines.append(f"ROOT r = (f32[4088], f32[4088]) tuple(a0_{shifts - 1}, a1_{shifts - 1})")
    policy = FusionPolicy(FusionPreferences(costs=FusionCosts(kernel=1e9)))  # each function is fused, whatever it costs
    assert _opcodes(_entry("\n".join(lines), policy)).count("fusion") == kernels


def test_a_row_that_several_stages_need_is_one_copy_of_code_for_blocks() -> None:
    """A block of threads keeps the row, so that its code is not there twice; a loop over the row computes it again."""
    (fusion,) = _entry("""x = f32[64,256] parameter(0)
  zero = f32[] constant(0)
  e = f32[64,256] exponential(x)
  s = f32[64] reduce(e, zero), dimensions={1}, to_apply=sum
  b = f32[64,256] broadcast(s), dimensions={0}
  ROOT d = f32[64,256] divide(e, b)""")
    loops, blocks = code_size(fusion, FusionPolicy()), code_size(fusion, BLOCKS)
    assert loops - blocks == FusionCosts().transcendental_code


GRID = ParallelModel(units=512, threads=1024, lanes=32)


@pytest.mark.parametrize(("rows", "depth", "fused"), [(4096, 8, True), (64, 512, False)])
def test_a_product_computes_its_operand_once_a_tile_of_its_plan(rows: int, depth: int, fused: bool) -> None:
    """A product of few rows has small tiles, so that more blocks compute each element of the operand again."""
    policy = FusionPolicy(FusionPreferences(fuse_products=True, costs=FusionCosts(byte=8.0, kernel=5e6)), GRID)
    entry = _entry(
        f"""x = f32[{rows},{depth}] parameter(0)
  y = f32[{depth},1024] parameter(1)
  t = f32[{rows},{depth}] exponential(x)
  ROOT d = f32[{rows},1024] dot(t, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}""",
        policy,
    )
    assert _opcodes(entry) == (["fusion"] if fused else ["exponential", "dot"])


@pytest.mark.parametrize(("least", "kernels"), [(256, 2), (0, 1)])
def test_kernels_that_share_a_small_array_are_merged_where_launches_are_dear(least: int, kernels: int) -> None:
    entry = _entry(
        """x = f32[8] parameter(0)
  a = f32[8] sine(x)
  b = f32[8] cosine(x)
  ROOT t = (f32[8], f32[8]) tuple(a, b)""",
        FusionPolicy(FusionPreferences(least_shared_bytes=least)),
    )
    assert sum(opcode in ("sine", "cosine", "fusion") for opcode in _opcodes(entry)) == kernels
