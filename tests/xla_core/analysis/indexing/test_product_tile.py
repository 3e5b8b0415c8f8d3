from __future__ import annotations

import pytest

from xla_core.analysis.indexing import has_neighbouring_rows, product_space, product_tile
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.target import ParallelModel

DEVICE = ParallelModel(units=512, threads=1024, lanes=32)


def _product(rows: int, columns: int, layout: str = "{1,0}"):
    return parse_hlo(f"""HloModule m

ENTRY main {{
  x = f32[{rows},64] parameter(0)
  y = f32[64,{columns}] parameter(1)
  ROOT d = f32[{rows},{columns}]{layout} dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
""").entry.root


@pytest.mark.parametrize(
    ("rows", "columns", "layout", "tile"),
    [
        (4096, 4096, "{1,0}", (128, 128)),
        (256, 768, "{1,0}", (32, 32)),  # 48 blocks of the largest tile that gives so many would leave units idle
        (1408, 1024, "{1,0}", (128, 64)),
        (1408, 1024, "{0,1}", (64, 128)),  # the side whose neighbours are neighbours in memory is halved first
        (3, 5, "{1,0}", (4, 8)),
    ],
)
def test_there_are_tiles_for_the_whole_device(rows: int, columns: int, layout: str, tile: tuple[int, int]) -> None:
    product = _product(rows, columns, layout)
    space = product_space(product)
    assert space is not None
    assert has_neighbouring_rows(space, product.shape) == (layout == "{0,1}")
    assert product_tile(space, product.shape, DEVICE) == tile
