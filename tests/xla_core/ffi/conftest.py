from __future__ import annotations

import ctypes

import pytest

from tests.xla_core.ffi.libraries import WHY_NO_C, WHY_NO_CPP, build_c, build_cpp


@pytest.fixture(scope="session")
def c_library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The handlers of handlers.c, which are compiled without XLA's headers."""
    if WHY_NO_C:
        pytest.skip(WHY_NO_C)
    return ctypes.CDLL(str(build_c(tmp_path_factory.mktemp("c"))))


@pytest.fixture(scope="session")
def cpp_library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The handlers of handlers.cc, which are compiled with XLA's headers."""
    if WHY_NO_CPP:
        pytest.skip(WHY_NO_CPP)
    library = ctypes.CDLL(str(build_cpp(tmp_path_factory.mktemp("cpp"))))
    library.count_type_id.restype = library.count_type_info.restype = ctypes.c_void_p
    return library
