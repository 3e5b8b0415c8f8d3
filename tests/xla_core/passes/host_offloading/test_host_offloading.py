"""The instructions that the host runs for a device, and those that it runs along with them."""

from __future__ import annotations

import numpy as np

import xla_core as xla
from xla_core.analysis import host_summary, place_instructions
from xla_core.hlo import HloModule
from xla_core.hlo.ir.host_compute import is_host_compute
from xla_core.hlo.verifier import verify
from xla_core.passes.host_offloading import HostOffloading
from xla_core.passes.scheduling.flatten_call_graph import FlattenCallGraph
from xla_core.target import Capabilities, HostCosts, TargetConfig

NO_CBRT = TargetConfig(name="t", capabilities=Capabilities.all_of(without=["cbrt"]))
CHEAP = HostCosts(transfer_seconds=1e-9, transfer_bandwidth=1e15)


def divided(text: str, target: TargetConfig = NO_CBRT) -> HloModule:
    module = xla.parse(text)
    HostOffloading(target).run(module)
    verify(module)
    return module


def parts(module: HloModule) -> list[list[str]]:
    """The names of the instructions that the host runs, part by part."""
    found: dict[str, list[str]] = {}
    for p in place_instructions(module, NO_CBRT):
        if p.on_host:
            found.setdefault(p.part, []).append(p.name.split(".")[0])
    return sorted(map(sorted, found.values()))


def entry(*lines: str) -> str:
    return "HloModule m\n\nENTRY main {\n  x = f32[1000] parameter(0)\n  " + "\n  ".join(lines) + "\n}\n"


def same(text: str, module: HloModule, *arrays: np.ndarray) -> None:
    for got, want in zip(xla.evaluate(module, *arrays), xla.evaluate(xla.parse(text), *arrays), strict=True):
        np.testing.assert_array_equal(got, want)


X = np.linspace(-3, 3, 1000, dtype=np.float32)
BETWEEN = entry(
    "a = f32[1000] cbrt(x)", "b = f32[1000] add(a, a)", "c = f32[1000] cbrt(b)", "ROOT d = f32[1000] negate(c)"
)


def test_a_small_op_between_two_of_the_host_goes_along() -> None:
    module = divided(BETWEEN)
    assert parts(module) == [["a", "b", "c"]]
    same(BETWEEN, module, X)
    (reason,) = [p.reason for p in place_instructions(module, NO_CBRT) if p.name.split(".")[0] == "b"]
    assert reason.startswith("it stays with its neighbours on the host: the device would save ")


def test_a_program_is_divided_in_the_same_way_each_time() -> None:
    constants = [f"c{n} = f32[] constant({n})" for n in range(12)]
    wide = [f"w{n} = f32[1000] broadcast(c{n}), dimensions={{}}" for n in range(12)]
    sums = [f"s{n} = f32[1000] add({f's{n - 1}' if n else 'x'}, w{n})" for n in range(12)]
    text = entry(*constants, *wide, *sums, "ROOT r = f32[1000] cbrt(s11)")
    target = NO_CBRT.model_copy(update={"capabilities": Capabilities.all_of(without=["cbrt", "add"])})
    modules = [divided(text, target) for _ in range(8)]  # kept, so that no two have instructions of one address
    assert len({module.to_text() for module in modules}) == 1


def test_it_stays_on_the_device_where_transfers_cost_nothing() -> None:
    target = NO_CBRT.model_copy(update={"host": CHEAP})
    module = divided(BETWEEN, target)
    assert parts(module) == [["a"], ["c"]]
    same(BETWEEN, module, X)


def test_a_value_crosses_once() -> None:
    text = entry(
        "a = f32[1000] cbrt(x)", "b = f32[1000] cbrt(a)", "c = f32[1000] cbrt(x)", "ROOT d = f32[1000] add(b, c)"
    )
    module = divided(text)
    placement = place_instructions(module, NO_CBRT)
    assert sum(p.bytes_to_host for p in placement) == sum(4000 for _ in {p.part for p in placement if p.on_host})
    same(text, module, X)


LARGE = """HloModule m

ENTRY main {
  x = f32[256,256] parameter(0)
  a = f32[256,256] cbrt(x)
  p = f32[256,256] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  q = f32[256,256] dot(p, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[256,256] cbrt(q)
  ROOT r = f32[256,256] add(c, a)
}
"""


def test_a_part_never_depends_on_itself_through_the_device() -> None:
    """`a` and `c` are connected by `r` and by a path through products, which stay on the device."""
    module = divided(LARGE)
    assert not any({"p", "q"} & set(part) for part in parts(module))
    assert len(parts(module)) == 2
    module.entry.post_order()
    same(LARGE, module, np.linspace(-1, 1, 256 * 256, dtype=np.float32).reshape(256, 256))


LOOP = """HloModule m

body {
  p = (s32[], f32[8]) parameter(0)
  n = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  next = s32[] add(n, one)
  x = f32[8] get-tuple-element(p), index=1
  root = f32[8] cbrt(x)
  ROOT t = (s32[], f32[8]) tuple(next, root)
}

condition {
  p = (s32[], f32[8]) parameter(0)
  n = s32[] get-tuple-element(p), index=0
  ten = s32[] constant(10)
  ROOT more = pred[] compare(n, ten), direction=LT
}

ENTRY main {
  x = f32[8] parameter(0)
  y = f32[8] negate(x)
  zero = s32[] constant(0)
  state = (s32[], f32[8]) tuple(zero, y)
  loop = (s32[], f32[8]) while(state), condition=condition, body=body
  r = f32[8] get-tuple-element(loop), index=1
  ROOT s = f32[8] negate(r)
}
"""


def test_a_loop_goes_along_as_a_whole() -> None:
    module = divided(LOOP)
    assert "loop" not in {i.name for i in module.entry.instructions}
    assert {"root", "next", "more"} <= set(parts(module)[0])
    same(LOOP, module, np.linspace(-2, 2, 8, dtype=np.float32))


BRANCHES = """HloModule m

plus {
  x = f32[8] parameter(0)
  ROOT y = f32[8] cbrt(x)
}

minus {
  x = f32[8] parameter(0)
  ROOT y = f32[8] negate(x)
}

ENTRY main {
  i = s32[] parameter(0)
  x = f32[8] parameter(1)
  first = f32[8] conditional(i, x, x), branch_computations={plus, minus}
  second = f32[8] conditional(i, x, x), branch_computations={minus, plus}
  ROOT r = (f32[8], f32[8]) tuple(first, second)
}
"""


def test_parts_that_share_a_branch_have_instructions_of_their_own() -> None:
    module = divided(BRANCHES)
    FlattenCallGraph().run(module)
    verify(module)
    names = [p.name for p in place_instructions(module, NO_CBRT)]
    assert len(set(names)) == len(names)
    for index in (0, 1):
        same(BRANCHES, module, np.int32(index), np.linspace(-2, 2, 8, dtype=np.float32))


def test_effects_stay_where_they_are() -> None:
    text = entry(
        "t = token[] after-all()",
        "a = f32[1000] cbrt(x)",
        "o = token[] outfeed(a, t)",
        "ROOT b = f32[1000] cbrt(a)",
    )
    module = divided(text)
    assert [i.opcode for i in module.entry.instructions if i.opcode == "outfeed"]
    assert all("outfeed" not in part for part in parts(module))


def test_a_program_that_the_device_runs_is_not_changed() -> None:
    module = xla.parse(entry("ROOT a = f32[1000] negate(x)"))
    assert not HostOffloading(NO_CBRT).run(module)
    assert host_summary(place_instructions(module, NO_CBRT)) == ""


def test_the_text_of_a_divided_program_is_read_again() -> None:
    module = divided(BETWEEN)
    again = xla.parse(module.to_text())
    assert [is_host_compute(i) for i in again.entry.instructions].count(True) == 1
    same(BETWEEN, again, X)


def test_the_summary_says_what_an_op_would_save() -> None:
    summary = host_summary(place_instructions(divided(LARGE), NO_CBRT))
    assert "in 2 parts" in summary
    assert "the device lacks cbrt of f32 (would save about " in summary
