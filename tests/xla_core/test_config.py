from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict

from xla_core import config
from xla_core.errors import InvalidArgumentError


class AcmeFlags(BaseModel):
    model_config = ConfigDict(frozen=True)

    acme_tile: int = 8
    acme_trace: bool = False


@pytest.fixture
def acme():
    config.register_flags("acme", AcmeFlags)
    yield
    config.unregister_flags("acme")


def test_xla_flags_take_what_they_know(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to='/a b' --xla_not_ours=3 --xla_force_host_platform_device_count=4")
    flags = config.xla_flags()
    assert flags.xla_dump_to == "/a b"
    assert flags.xla_force_host_platform_device_count == 4


def test_flags_are_read_when_asked_for(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "")
    assert config.xla_flags().xla_force_host_platform_device_count == 1
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=2")
    assert config.xla_flags().xla_force_host_platform_device_count == 2


def test_xla_flags_may_name_a_file(monkeypatch, tmp_path):
    (tmp_path / "flags").write_text("--xla_dump_hlo_pass_re=.*\n--xla_dump_to=/x\n")
    monkeypatch.setenv("XLA_FLAGS", str(tmp_path / "flags"))
    assert config.xla_flags().xla_dump_hlo_pass_re == ".*"
    monkeypatch.setenv("XLA_FLAGS", str(tmp_path / "nothing"))
    with pytest.raises(InvalidArgumentError, match="no readable file"):
        config.xla_flags()


@pytest.mark.parametrize("value", ["0", "many", "99999999999"])
def test_a_wrong_value_names_the_flag(monkeypatch, value):
    monkeypatch.setenv("XLA_FLAGS", f"--xla_force_host_platform_device_count={value}")
    with pytest.raises(InvalidArgumentError, match="--xla_force_host_platform_device_count"):
        config.xla_flags()


def test_core_flags_are_strict(monkeypatch):
    monkeypatch.setenv("XLA_CORE_FLAGS", "--xla_core_verify_pases")
    with pytest.raises(InvalidArgumentError) as error:
        config.core_flags()
    assert "--xla_core_verify_passes" in (error.value.hint or "")
    monkeypatch.setenv("XLA_CORE_FLAGS", "--xla_core_verify_passes")
    assert config.core_flags().xla_core_verify_passes


def test_plugins_add_flags(monkeypatch, acme):
    monkeypatch.setenv("XLA_CORE_FLAGS", "--acme_tile=16 --xla_core_verify_passes=true")
    assert config.plugin_flags("acme", AcmeFlags) == AcmeFlags(acme_tile=16)
    assert config.core_flags().xla_core_verify_passes
    monkeypatch.setenv("XLA_CORE_FLAGS", "--acme_tile=wide")
    with pytest.raises(InvalidArgumentError, match="acme_tile"):
        config.plugin_flags("acme", AcmeFlags)


def test_a_plugins_flag_is_unknown_without_it(monkeypatch):
    monkeypatch.setenv("XLA_CORE_FLAGS", "--acme_tile=16")
    with pytest.raises(InvalidArgumentError, match="unknown flag --acme_tile"):
        config.core_flags()


def test_two_owners_of_one_flag_clash(acme):
    with pytest.raises(InvalidArgumentError, match="belongs to acme"):
        config.register_flags("other", AcmeFlags)
