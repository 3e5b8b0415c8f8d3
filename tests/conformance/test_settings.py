"""Options of the backend (`--set`) reach every program, also those of clients that tests open for themselves."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xla_conformance.results import State
from xla_conformance.runner import run_suite

STRICT = """
from xla_core.backend import BackendOptions

class Options(BackendOptions):
    engine: str = ""

class Compiler(TemplateCompiler):
    def run_backend(self, module, options, executor=None):
        given = options.backend
        engine = given.get("engine") if isinstance(given, dict) else given.engine
        if executor is not None and engine != "checked":
            raise ValueError("compiled without --set engine=checked")
        return super().run_backend(module, options, executor)

@hookimpl
def xla_backend():
    return dataclasses.replace(parts(compiler=Compiler), options=Options)
"""

OPENING = (
    "test_each_op_refused_once[add]",
    "test_programs_that_run_in_part_on_the_host[elementwise",
    "test_a_custom_call_with_an_effect",
    "test_a_first_program_is_right",
    "test_run_in_another_process[elementwise]",
    "test_for_another_client",
    "test_closing_ends_programs",
    "test_without_any_feature[elementwise]",
)
"""Tests that open a client of their own, in their process or in another."""


@pytest.mark.parametrize("setting", ["engine=checked", "engine=fast"])
def test_settings_reach_clients_that_tests_open(put_backend: Callable[[str, str], str], setting: str) -> None:
    run = run_suite(put_backend("strict", STRICT), expression=" or ".join(OPENING), settings=[setting])
    found = {result.name: (result.state, result.message[-300:]) for result in run.results}
    assert all(any(name in found_name for found_name in found) for name in OPENING), found
    wanted = State.PASS if setting == "engine=checked" else State.FAIL
    assert {state for state, _ in found.values()} == {wanted}, found
