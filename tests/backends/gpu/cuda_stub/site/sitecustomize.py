"""Lets a Python process find the stub of CUDA's driver and its devices; Python imports this module when it starts."""

import ctypes
import os

library = os.environ.get("XLA_TEST_LIBCUDA")
if library:
    _loaded = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)  # later, dlopen("libcuda.so.1") finds it by this name
    _resolver = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)

    @_resolver
    def resolve(symbol):
        from tests.backends.gpu.cuda_stub.driver import address_of

        return address_of(symbol.decode())

    _loaded.set_resolver(resolve)
    _listdir = os.listdir

    def listdir(path="."):
        """Lists the files of the stub's devices, too, which the driver of Linux makes."""
        names = _listdir(path)
        if path == "/dev":
            names += [f"nvidia{number}" for number in range(int(os.environ.get("XLA_TEST_CUDA_DEVICES", "1")))]
        return names

    os.listdir = listdir
