"""Walks of graphs."""

from __future__ import annotations

import pytest

from xla_core.traversal import post_order, reachable

GRAPH = {"a": "bc", "b": "d", "c": "d", "d": "", "x": "y", "y": "x"}


def test_reachable() -> None:
    assert set(reachable("b", GRAPH.__getitem__)) == set("bd")
    assert set(reachable("x", GRAPH.__getitem__)) == set("xy")


def test_post_order_visits_each_node_after_those_before_it() -> None:
    assert post_order("a", GRAPH.__getitem__) == list("dbca")
    assert post_order("ca", GRAPH.__getitem__) == list("dcba")


def test_post_order_leaves_out_what_is_known() -> None:
    assert post_order("a", GRAPH.__getitem__, known="b") == list("dca")
    assert post_order("a", GRAPH.__getitem__, known="bc") == ["a"]
    assert post_order("a", GRAPH.__getitem__, known="a") == []


def test_post_order_of_a_cycle() -> None:
    assert post_order("x", GRAPH.__getitem__) == list("yx")

    def refuse(node: str) -> None:
        raise ValueError(node)

    with pytest.raises(ValueError, match="x"):
        post_order("x", GRAPH.__getitem__, on_cycle=refuse)
    assert post_order("a", GRAPH.__getitem__, on_cycle=refuse) == list("dbca")
