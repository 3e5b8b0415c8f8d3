"""Writes data/digits.npz from scikit-learn's copy of the UCI digits. Needs scikit-learn; the result is committed.

`images` is uint8[1797, 8, 8] with values 0 to 16, `labels` uint8[1797], in scikit-learn's order. See data/NOTICE.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits


def main() -> None:
    digits = load_digits()
    images = digits.images.astype(np.uint8)
    labels = digits.target.astype(np.uint8)
    assert images.shape == (1797, 8, 8)
    assert images.max() == 16
    np.savez_compressed(Path(__file__).parent / "data" / "digits.npz", images=images, labels=labels)


if __name__ == "__main__":
    main()
