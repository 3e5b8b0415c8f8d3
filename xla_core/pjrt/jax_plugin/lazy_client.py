"""LazyClient: stands for the client of a platform that no program has used."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class LazyClient:
    """Opens the client when it is first used, except by JAX's own start.

    JAX makes a client for each registered platform when it starts, also for those that a program doesn't name. Loading
    a backend takes up to a second, and a device may be in use by somebody else.
    """

    def __init__(self, platform: str, open_client: Callable[[], Any]) -> None:
        self.platform = platform
        self._open_client = open_client
        self._client: Any = None
        self._lock = threading.Lock()

    def _opened(self) -> Any:
        from jax._src import xla_bridge

        with self._lock:
            if self._client is None:
                try:
                    self._client = self._open_client()
                except Exception as error:
                    raise RuntimeError(f"Backend '{self.platform}' failed to initialize: {error}") from error
                if xla_bridge._backends.get(self.platform) is self:
                    xla_bridge._backends[self.platform] = self._client
            return self._client

    def _is_starting(self) -> bool:
        """Whether JAX is still making clients: it asks each new one for its devices, to print them."""
        from jax._src import xla_bridge

        return self._client is None and xla_bridge._backends.get(self.platform) is not self

    def process_index(self) -> int:
        return 0 if self._is_starting() else int(self._opened().process_index())

    def device_count(self) -> int:
        return 1 if self._is_starting() else int(self._opened().device_count())

    def local_devices(self) -> list[Any]:
        return [] if self._is_starting() else list(self._opened().local_devices())

    def live_arrays(self) -> list[Any]:
        return [] if self._client is None else list(self._client.live_arrays())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opened(), name)
