from __future__ import annotations

import numpy as np
import pytest

from xla_core.analysis import HloDataflowAnalysis, ValueKind
from xla_core.analysis.heap import HeapBlock, pack, peak_bytes
from xla_core.errors import ResourceExhaustedError
from xla_core.hlo.parsing.parser import parse_hlo

LOOP = """
HloModule m
cond {
  s = (s32[], f32[8], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT lt = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[8], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[8] get-tuple-element(s), index=1
  b = f32[4] get-tuple-element(s), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  u = f32[8] dynamic-update-slice(a, b, i)
  ROOT t = (s32[], f32[8], f32[4]) tuple(next, u, b)
}
ENTRY e {
  x = f32[8] parameter(0)
  y = f32[4] parameter(1)
  zero = s32[] constant(0)
  init = (s32[], f32[8], f32[4]) tuple(zero, x, y)
  w = (s32[], f32[8], f32[4]) while(init), condition=cond, body=body
  c = f32[8] get-tuple-element(w), index=1
  d = f32[2,4] bitcast(c)
  ROOT r = ((f32[2,4], f32[4]), f32[8]) tuple(pair, c)
}
""".replace(
    "  ROOT r =", "  e4 = f32[4] get-tuple-element(w), index=2\n  pair = (f32[2,4], f32[4]) tuple(d, e4)\n  ROOT r ="
)


def _analysis():
    module = parse_hlo(LOOP)
    named = {f"{c.name}.{i.name}": i for c in module.computations for i in c.instructions}
    by_name = {}
    for key, i in named.items():
        by_name.setdefault(key.split(".")[0] + "/" + i.opcode, i)
    return module, HloDataflowAnalysis(module), by_name


def test_what_the_body_hands_through_is_the_initial_value():
    module, analysis, named = _analysis()
    y = analysis.value(module.entry.parameters[1])
    loop = named["e/while"]
    assert analysis.value(loop, (2,)) is y
    assert analysis.value(loop.attributes["body"].parameters[0], (2,)) is y
    assert y.segments()[0][1] >= analysis.times[loop] - 1  # alive until the last iteration ends


def test_what_the_body_changes_has_a_phi_and_a_result():
    _, analysis, named = _analysis()
    loop = named["e/while"]
    body = loop.attributes["body"]
    phi = analysis.value(body.parameters[0], (1,))
    assert phi.kind is ValueKind.PHI
    assert phi is analysis.value(loop.attributes["condition"].parameters[0], (1,))
    assert analysis.value(loop, (1,)).kind is ValueKind.RESULT
    assert analysis.value(body.root, (1,)).instruction.opcode == "dynamic-update-slice"


def test_tuples_and_bitcasts_pass_values_on():
    module, analysis, named = _analysis()
    loop = named["e/while"]
    root = module.entry.root
    assert analysis.value(root, (0, 0)) is analysis.value(root, (1,)) is analysis.value(loop, (1,))
    assert analysis.value(root, (0, 1)) is analysis.value(loop, (2,))


def test_a_started_op_keeps_its_operands_but_has_its_own_context():
    module = parse_hlo("""HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  before = token[] after-all()
  sent = (f32[8], u32[], token[]) send(x, before), channel_id=1
  ROOT after = token[] send-done(sent), channel_id=1
}""")
    analysis = HloDataflowAnalysis(module)
    x, before, sent, _ = module.entry.instructions
    values = analysis.leaves(sent)
    assert values[0] is analysis.value(x)
    assert all(value.instruction is sent for value in values[1:])
    assert analysis.value(before) not in values


def test_deep_nesting_is_an_error():
    text = ["HloModule m", "c0 {\n p = f32[] parameter(0)\n ROOT n = f32[] negate(p)\n}"]
    text += [f"c{k} {{\n p = f32[] parameter(0)\n ROOT n = f32[] call(p), to_apply=c{k - 1}\n}}" for k in range(1, 400)]
    text.append("ENTRY e {\n p = f32[] parameter(0)\n ROOT n = f32[] call(p), to_apply=c399\n}\n")
    with pytest.raises(ResourceExhaustedError):
        HloDataflowAnalysis(parse_hlo("\n".join(text)))


@pytest.mark.parametrize("seed", range(20))
def test_packed_blocks_do_not_overlap(seed: int) -> None:
    rng = np.random.default_rng(seed)
    blocks = []
    for _ in range(60):
        points = np.sort(rng.choice(100, 4, replace=False))
        segments = [(int(points[0]), int(points[1]))]
        if rng.random() < 0.3:
            segments.append((int(points[2]), int(points[3])))
        blocks.append(HeapBlock(int(rng.integers(1, 300)), tuple(segments)))
    offsets, total = pack(blocks, 16)
    assert total >= peak_bytes(blocks, 16)
    assert total <= 1.5 * peak_bytes(blocks, 16)
    memory = np.full((101, total), -1)
    for n, (block, offset) in enumerate(zip(blocks, offsets, strict=True)):
        assert offset % 16 == 0
        for start, end in block.segments:
            assert (memory[start : end + 1, offset : offset + block.size] == -1).all()
            memory[start : end + 1, offset : offset + block.size] = n
