from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.xla_core.passes.random_graphs import random_arguments, random_graph
from xla_core.analysis import assign_buffers, check_buffer_assignment
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.module import HloModule
from xla_core.hlo.parser import parse_hlo
from xla_core.hlo.verifier import verify
from xla_core.passes.copy_insertion import insert_copies
from xla_core.passes.fusion import FusionPolicy, InstructionFusion, MultiOutputFusion, create_fusion, fuse_into
from xla_core.passes.memory_scheduler import schedule_module
from xla_core.target import FusionDecision, FusionPreferences


def _fuse(module: HloModule, policy: FusionPolicy | None = None) -> None:
    for fusion_pass in (InstructionFusion(policy), MultiOutputFusion(policy)):
        fusion_pass.run(module)
        verify(module)


def _keeps_its_meaning(module: HloModule, seed: int) -> None:
    arguments = random_arguments(module, seed)
    before = evaluate(module, *arguments)
    _fuse(module)
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


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_fusion_keeps_the_meaning_of_large_graphs(seed: int) -> None:
    _keeps_its_meaning(random_graph(random.Random(seed), 60), seed)
