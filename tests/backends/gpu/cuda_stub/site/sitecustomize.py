"""Lets a Python process find the stub of CUDA's driver; Python imports this module when it starts."""

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
