"""The table of answers has each public member of the contract's classes, so that none is added without a test."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xla_conformance import promises
from xla_conformance.answers import ACTIONS, ANSWERS, CLASSES, PROMISES, members
from xla_conformance.results import State
from xla_conformance.runner import run_suite


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_each_member_answers_or_does_something(cls: type) -> None:
    name = cls.__name__
    answers, actions = set(ANSWERS[name]), set(ACTIONS.get(name, "").split())
    assert not answers & actions
    assert answers | actions == set(members(cls)), "add a row to answers/table.py, or a name to ACTIONS"


def test_members_of_instances_are_found() -> None:
    found = {name for cls in CLASSES for name in members(cls)}
    assert {"ordinal", "device_name", "module", "target_config", "handle", "peak_bytes", "caches", "ready"} <= found


def test_each_class_has_a_promise() -> None:
    assert {*PROMISES} == {*ANSWERS} == {cls.__name__ for cls in CLASSES}
    assert {*PROMISES.values()} <= {*promises.PROMISES}


UNUSUAL = """
import itertools

from xla_core.target import CacheLevel

compilations = itertools.count()
sizes = iter([{sizes}])
levels = (CacheLevel(size_bytes=12 << 20), CacheLevel(size_bytes=8 << 20))

class Device(TemplateExecutor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        self.free = next(sizes, 0)

    @property
    def description(self):
        return super().description.model_copy(update={{"memory_bytes": self.free, "caches": levels}})

class Compiler(TemplateCompiler):
    def code_artifacts(self, instructions):
        return {{"log": f"compilation {{next(compilations)}}"}}

put(executor=Device, compiler=Compiler)
"""


@pytest.mark.parametrize("sizes", ["", "1 << 28, 3 << 26, 5 << 25, 7 << 24"], ids=["unknown memory", "free memory"])
def test_a_right_backend_may_answer_in_its_own_way(put_backend: Callable[[str, str], str], sizes: str) -> None:
    """Its memory is unknown, or that which is free; its last cache is a small one; artifacts tell when they were made."""
    run = run_suite(put_backend("unusual", UNUSUAL.format(sizes=sizes)), expression="claims_answers")
    found = [result for result in run.results if "claims_answers" in result.id]
    assert len(found) > 10
    assert [(r.id, r.message) for r in found if r.state is not State.PASS] == []
