"""The table of promises lists every sentence of the contract, and no test names a promise that doesn't exist."""

from __future__ import annotations

import collections
import re
from pathlib import Path

import xla_conformance
from xla_conformance.promises import PROMISES, Sentence, contract_sentences, listed_sentences, named, uncovered

SUITE = Path(xla_conformance.__file__).parent


def test_no_sentence_of_the_contract_is_missing_or_stale() -> None:
    contract, listed = set(contract_sentences()), set(listed_sentences())
    assert contract - listed == set(), "list these in promises.toml, as a promise or as what explains"
    assert listed - contract == set(), "the contract doesn't say these any more"


def test_a_sentence_has_one_kind() -> None:
    promised = {promise.sentence for promise in PROMISES.values()}
    rest = [sentence for sentence in listed_sentences() if sentence not in promised]
    assert len(rest) + len(PROMISES) == len(listed_sentences())
    assert [s for s, count in collections.Counter(rest).items() if count > 1] == []


def test_sentences_are_read_from_every_part_of_a_docstring() -> None:
    contract = set(contract_sentences())
    assert Sentence("Stream", "Enqueueing never blocks.") in contract
    assert Sentence("BackendSpec", "probe: It is quick, opens no device and raises nothing.") in contract
    assert Sentence("StreamExecutor.close", "Closes the device.") in contract
    assert any(s.member == "Compiler.host_fallback" for s in contract)
    assert all(re.match(r"[A-Za-z`\"]", s.text) and not s.text.endswith(",") for s in contract)


def test_ids_are_words_and_tests_name_only_ids_that_exist() -> None:
    assert [id for id in PROMISES if not re.fullmatch(r"[a-z-]+\.[a-z0-9-]+", id)] == []
    assert set(named()) - set(PROMISES) == set()


def test_a_test_names_the_promises_of_its_marks_and_of_its_failures() -> None:
    tests = named()
    name = "test_collectives_communicator.py::test_a_device_that_does_not_come"
    assert {id for id in tests if name in tests[id]} == {
        "executor.collective-timeout",
        "communicator.failure-poisons",
        "stream.recover",
    }
    assert all(len(set(names)) == len(names) for names in tests.values())


def test_failures_name_only_ids_that_exist() -> None:
    found = [
        id
        for file in SUITE.rglob("*.py")
        for id in re.findall(r'\bpromise="([^"]*)"', file.read_text(encoding="utf-8"))
    ]
    assert len(found) > 100
    assert set(found) - set(PROMISES) == set()


def test_what_no_test_names_is_uncovered() -> None:
    assert {promise.id for promise in uncovered()} == set(PROMISES) - set(named())
