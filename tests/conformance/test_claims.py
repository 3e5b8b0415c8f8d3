"""The client of the suite's tests."""

from __future__ import annotations

import threading

import pytest
from xla_conformance.claims import ClaimingClient, NotSupported, not_supported
from xla_conformance.results import Unclaimed

import xla_core as xla

pytest.importorskip("xla_backend_template", reason="xla-backend-template is not installed")

PROGRAM = "HloModule {0}\n\nENTRY e {{\n  x = f32[3] parameter(0)\n  ROOT y = f32[3] negate(x)\n}}\n"


class Interleaved(ClaimingClient):
    """Lets another thread compile a program whenever a thread has stored its executable as the last one."""

    _stored: xla.LoadedExecutable | None = None

    @property
    def last(self) -> xla.LoadedExecutable | None:
        return self._stored

    @last.setter
    def last(self, value: xla.LoadedExecutable | None) -> None:
        self._stored = value
        if value is not None and value.name != "other":
            other = threading.Thread(target=self.compile, args=(PROGRAM.format("other"),))
            other.start()
            other.join()


def test_threads_get_the_programs_that_they_compiled() -> None:
    client = Interleaved("template")
    assert client.compile(PROGRAM.format("mine")).name == "mine"
    assert client.last is not None
    assert client.last.name == "other"


@pytest.mark.parametrize("kind", Unclaimed)
def test_a_skipped_test_knows_what_kind_of_claim_it_lacks(kind: Unclaimed) -> None:
    with pytest.raises(pytest.skip.Exception, match=r"^it holds no s4$") as raised:
        not_supported("it holds no s4", kind)
    assert isinstance(raised.value, NotSupported)
    assert raised.value.kind is kind
