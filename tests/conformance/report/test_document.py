"""A run as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from xla_conformance.report.document import from_json, read_document, schema, to_json
from xla_conformance.results import Result, State

from tests.conformance.report.runs import RESULTS, run_of, whole_run
from xla_core.errors import InvalidArgumentError, NotFoundError


@pytest.mark.parametrize("run", [run_of(*RESULTS), run_of(), whole_run()], ids=["wrong", "empty", "whole"])
def test_it_is_of_the_schema_and_reads_back(run: object) -> None:
    document = json.loads(json.dumps(to_json(run), allow_nan=False))
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(document, schema())
    assert from_json(document) == run
    assert to_json(from_json(document)) == document


def test_states_of_the_schema_are_all_states() -> None:
    assert schema()["$defs"]["state"]["enum"] == [state.value for state in State]


def test_counts() -> None:
    document = to_json(run_of(*RESULTS))
    zeros = dict.fromkeys((state.value for state in State), 0)
    assert document["summary"] == zeros | {"PASS": 2, "FAIL": 1, "NOT_SUPPORTED": 1, "CRASH": 1}
    assert document["groups"]["ops"]["FAIL"] == 1
    f32 = zeros | {"PASS": 1, "max_ulp": 3.0}
    unsupported = zeros | {"NOT_SUPPORTED": 1, "max_ulp": 0.0}
    assert document["ops"]["dot"] == {**f32, "NOT_SUPPORTED": 1, "types": {"f32": f32, "": unsupported}}
    assert "stablehlo" not in document
    assert document["conforms"] is None
    assert to_json(whole_run())["conforms"] == "everything"


def test_an_infinite_error_is_no_number() -> None:
    run = run_of(Result("test_ops.py::test_op[add]", State.FAIL, properties={"opcode": "add", "max_ulp": float("inf")}))
    document = json.loads(json.dumps(to_json(run), allow_nan=False))
    jsonschema.validate(document, schema())
    assert document["results"][0]["properties"]["max_ulp"] == "inf"


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="there is no report"):
        read_document(tmp_path)
    (tmp_path / "report.json").write_text('{"backend": "chip"}')
    with pytest.raises(InvalidArgumentError, match="is not a report of `xla conform`: 'format' is a required"):
        read_document(tmp_path)
    (tmp_path / "report.json").write_text("chip")
    with pytest.raises(InvalidArgumentError, match="is not a report"):
        read_document(tmp_path)
