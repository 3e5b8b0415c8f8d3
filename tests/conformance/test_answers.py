"""The table of answers has each public member of the contract's classes, so that none is added without a test."""

from __future__ import annotations

import pytest
from xla_conformance import promises
from xla_conformance.answers import ACTIONS, ANSWERS, CLASSES, PROMISES, members


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
