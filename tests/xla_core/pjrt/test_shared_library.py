"""The shared library, loaded by a host that is a C program, and by JAX."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.xla_core.c_declarations import declarations
from xla_core.cli import main
from xla_core.pjrt import shared_library

_compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

pytestmark = [
    pytest.mark.skipif(_compiler is None, reason="no C compiler is installed"),
    pytest.mark.skipif(not sysconfig.get_config_var("Py_ENABLE_SHARED"), reason="this Python has no shared library"),
]

HOST = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const Api* api;

static int check(void* error) {
  if (!error) return 0;
  Error_Message_Args message = {sizeof message, 0, error};
  api->Error_Message(&message);
  printf("%.*s\\n", (int)message.message_size, (char*)message.message);
  Error_Destroy_Args destroy = {sizeof destroy, 0, error};
  api->Error_Destroy(&destroy);
  return 1;
}
#define CALL(name, args) do { args.struct_size = sizeof args; if (check(api->name(&args))) return 1; } while (0)

static void await(void* event) {
  Event_Await_Args args = {sizeof args, 0, event};
  check(api->Event_Await(&args));
  Event_Destroy_Args destroy = {sizeof destroy, 0, event};
  check(api->Event_Destroy(&destroy));
}

int main(int count, char** words) {
  void* library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) { puts(dlerror()); return 1; }
  const Api* (*get)(void) = (const Api* (*)(void))dlsym(library, "GetPjrtApi");
  api = get();
  if (!api || get() != api) { puts("no table"); return 1; }
  Client_Create_Args create = {0};
  CALL(Client_Create, create);
  Client_AddressableDevices_Args devices = {0};
  devices.client = create.client;
  CALL(Client_AddressableDevices, devices);

  Program program = {sizeof program};
  program.code = words[2];
  program.code_size = strlen(words[2]);
  program.format = "mlir";
  program.format_size = 4;
  Client_Compile_Args compile = {0};
  compile.client = create.client;
  compile.program = &program;
  CALL(Client_Compile, compile);

  float data[4] = {0, 1, 2, 3};
  int64_t sizes[1] = {4};
  Client_BufferFromHostBuffer_Args put = {0};
  put.client = create.client;
  put.data = data;
  put.type = 11;
  put.dims = sizes;
  put.num_dims = 1;
  put.device = ((void**)devices.addressable_devices)[0];
  CALL(Client_BufferFromHostBuffer, put);
  await(put.done_with_host_buffer);

  ExecuteOptions options = {sizeof options};
  void* arguments[1] = {put.buffer};
  void* results[1] = {0};
  void* argument_lists[1] = {arguments};
  void* output_lists[1] = {results};
  LoadedExecutable_Execute_Args execute = {0};
  execute.executable = compile.executable;
  execute.options = &options;
  execute.argument_lists = argument_lists;
  execute.num_devices = 1;
  execute.num_args = 1;
  execute.output_lists = output_lists;
  CALL(LoadedExecutable_Execute, execute);

  Buffer_ToHostBuffer_Args get_back = {0};
  get_back.src = results[0];
  get_back.dst = data;
  get_back.dst_size = sizeof data;
  CALL(Buffer_ToHostBuffer, get_back);
  await(get_back.event);
  printf("%g %g %g %g\\n", data[0], data[1], data[2], data[3]);
  Client_Destroy_Args end = {0};
  end.client = create.client;
  CALL(Client_Destroy, end);
  return 0;
}
"""

DOUBLE = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("host")
    (folder / "host.c").write_text(declarations() + HOST)
    subprocess.run([_compiler, "-o", "host", "host.c", "-ldl"], cwd=folder, check=True)
    return folder / "host"


@pytest.fixture(scope="module", params=["cpu", "template"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("library") / f"libpjrt_{request.param}.so"
    assert main(["pjrt", "build", request.param, "-o", str(path)]) == 0
    return path


def run(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, words)), env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
    )


def test_a_c_program_runs_on_a_backend(host: Path, library: Path) -> None:
    done = run(host, library, DOUBLE)
    assert done.stdout == "0 2 4 6\n", done.stdout + done.stderr
    assert done.returncode == 0


def test_a_c_program_gets_the_text_of_an_error(host: Path, library: Path) -> None:
    done = run(host, library, DOUBLE.replace("add", "addd"))
    assert "stablehlo.addd" in done.stdout
    assert ":2:" in done.stdout
    assert done.returncode == 1


def test_a_backend_that_does_not_load_gives_no_table(host: Path, library: Path) -> None:
    done = run(host, library, DOUBLE, PYTHONPATH="", XLA_CORE_FLAGS="--no-such-flag")
    assert done.returncode == 1


def test_jax_loads_the_library(library: Path) -> None:
    pytest.importorskip("jax")
    program = "import jax, jax.numpy as jnp; print(jax.devices()[0].platform, jnp.arange(3.).sum())"
    done = run(sys.executable, "-c", program, PJRT_NAMES_AND_LIBRARY_PATHS=f"mine:{library}", JAX_PLATFORMS="mine,cpu")
    assert done.stdout.split()[1] == "3.0", done.stderr


def test_without_a_linker_the_error_names_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(shared_library.FailedPreconditionError, match="no linker is installed"):
        shared_library.build_library("cpu", tmp_path / "lib.so")


def test_two_python_threads_ask_for_the_table_at_once(library: Path) -> None:
    """One of them holds Python's lock while it waits for the other, which needs it."""
    code = f"""
import ctypes, threading, time
started, found = threading.Event(), []
def ask(load, seconds):
    function = load({str(library)!r}).GetPjrtApi
    function.restype = ctypes.c_void_p
    started.wait()
    time.sleep(seconds)
    found.append(function())
threads = [threading.Thread(target=ask, args=pair) for pair in ((ctypes.CDLL, 0), (ctypes.PyDLL, 0.05))]
for thread in threads:
    thread.start()
started.set()
for thread in threads:
    thread.join()
assert found[0] and found[0] == found[1], found
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
