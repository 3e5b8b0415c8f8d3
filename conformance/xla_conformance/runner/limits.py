"""The time limits of a run."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Limits:
    """Time limits in seconds: of one test; of opening the device, of collecting and of closing; of the whole run."""

    test: float
    stage: float
    total: float

    @staticmethod
    def of(profile: str, patience: float = 1.0) -> Limits:
        """The limits of a profile, times `patience`."""
        limits = {
            "quick": Limits(test=60, stage=120, total=1800),
            "full": Limits(test=300, stage=300, total=4 * 3600),
            "stress": Limits(test=900, stage=300, total=24 * 3600),
        }[profile]
        return Limits(limits.test * patience, limits.stage * patience, limits.total * patience)
