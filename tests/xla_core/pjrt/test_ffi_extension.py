"""PJRT's FFI extension, used by a host that is not JAX."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from tests.xla_core.ffi.libraries import WHY_NO_C, build_c
from tests.xla_core.pjrt.host import Host, HostError
from xla_core.errors import StatusCode
from xla_core.pjrt.ffi_extension import STRUCTS, TYPE

PROGRAM = """func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @test.extension.scale(%x) {api_version = 4 : i32, backend_config = {k = 3.0 : f64}}
    : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


@pytest.fixture(scope="module", params=["cpu", "template"])
def host(request: pytest.FixtureRequest) -> Host:
    return Host(request.param)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    if WHY_NO_C:
        pytest.skip(WHY_NO_C)
    return ctypes.CDLL(str(build_c(tmp_path_factory.mktemp("c"))))


def extension(host: Host) -> Any:
    found = STRUCTS["Extension_Base"].from_address(host.api.extension_start)
    while found.type != TYPE:
        found = STRUCTS["Extension_Base"].from_address(found.next)
    return STRUCTS["Extension"].from_address(ctypes.addressof(found))


def test_a_host_registers_a_handler(host: Host, library: ctypes.CDLL) -> None:
    name = ctypes.create_string_buffer(b"test.extension.scale")
    args = STRUCTS["Register_Handler_Args"](target_name=ctypes.addressof(name), target_name_size=len(name) - 1)
    args.handler = ctypes.cast(library.scale, ctypes.c_void_p).value
    host.call_at(extension(host).register_handler, args)
    x = np.arange(4, dtype=np.float32)
    (result,) = host.execute(host.compile(PROGRAM), [host.upload(x)], 1)
    np.testing.assert_array_equal(host.download(result, np.float32), 3 * x)


def test_errors_are_the_hosts(host: Host) -> None:
    name = ctypes.create_string_buffer(b"test.extension.null")
    args = STRUCTS["Register_Handler_Args"](target_name=ctypes.addressof(name), target_name_size=len(name) - 1)
    with pytest.raises(HostError, match="must be a capsule, a function of ctypes or an address, not 0") as caught:
        host.call_at(extension(host).register_handler, args)
    assert caught.value.code == StatusCode.INVALID_ARGUMENT.value
    with pytest.raises(HostError, match="PJRT_FFI_UserData_Add is not implemented"):
        host.call_at(extension(host).user_data_add, STRUCTS["UserData_Add_Args"]())


def test_a_type_gets_a_number(host: Host) -> None:
    name = ctypes.create_string_buffer(b"test.extension.type")
    numbers = []
    for _ in range(2):
        args = STRUCTS["Type_Register_Args"](type_name=ctypes.addressof(name), type_name_size=len(name) - 1)
        host.call_at(extension(host).type_register, args)
        numbers.append(args.type_id)
    assert numbers[0] == numbers[1] > 0
