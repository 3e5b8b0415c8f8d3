"""SettingsClient: a client with the options of the run, which all tests open."""

from __future__ import annotations

from collections.abc import Sequence

import xla_core as xla
from xla_core.backend import load_backend
from xla_core.cli import programs
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import HloModule


class WrongSettingError(InvalidArgumentError):
    """The backend has no option of that name, or the option has no such value."""


class SettingsClient(xla.Client):
    """A client whose programs get options of the backend, unless a test sets them.

    Args:
        platform: a backend's name; None for the default one.
        settings: the options, NAME=VALUE, as `xla conform --set` takes them.

    Attributes:
        options: options with these settings.
    """

    def __init__(self, platform: str | None = None, settings: Sequence[str] = ()) -> None:
        super().__init__(platform)
        self.options = self._with_settings(settings)

    def compile(
        self, program: str | bytes | HloModule, options: xla.CompileOptions | None = None, *, file: str = ""
    ) -> xla.LoadedExecutable:
        if options is None:
            options = self.options
        elif isinstance(options, xla.CompileOptions) and isinstance(options.backend, dict):
            options = options.model_copy(update={"backend": {**self.options.backend, **options.backend}})
        return super().compile(program, options, file=file)

    def _with_settings(self, settings: Sequence[str]) -> xla.CompileOptions:
        try:
            options = programs.compile_options(settings)
            if common := options.model_fields_set - {"backend"}:
                raise InvalidArgumentError(f"--set takes options of the backend; {', '.join(common)} is not one")
            load_backend(self.platform_name).options.model_validate(options.backend)
        except InvalidArgumentError as error:
            self.close()
            raise WrongSettingError(error.message, hint=error.hint) from error
        return options
