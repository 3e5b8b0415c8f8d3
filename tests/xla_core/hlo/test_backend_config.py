from __future__ import annotations

import pytest

from xla_core.hlo.backend_config import parse_backend_config


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("{}", {}),
        ("{uplo = 76 : ui8, low = -1 : i32}", {"uplo": 76, "low": -1}),
        (
            '{s = "a\\22b, c", t = true, f = 2.500000e-01 : f32, unit}',
            {"s": 'a"b, c', "t": True, "f": 0.25, "unit": True},
        ),
        ("{a = array<i64: 1, 2>, e = array<i32>, l = [1 : i64, [true]]}", {"a": [1, 2], "e": [], "l": [1, [True]]}),
        ('{d = {x = 0x10 : i64}, "quoted key" = 3 : i8}', {"d": {"x": 16}, "quoted key": 3}),
        ('{"json": {"x": [1, 2.5]}}', {"json": {"x": [1, 2.5]}}),
        ('{s = "\\C3\\A9 é \\FF\\n\\t\\\\\\0A", "\\C3\\A9" = 1 : i64}', {"s": "é é \udcff\n\t\\\n", "é": 1}),
        (
            '{"s": "\\u00e9\\n\\"", "n": null, "l": [1e3, {"x": -2}]}',
            {"s": 'é\n"', "n": None, "l": [1000.0, {"x": -2}]},
        ),
        ("[1, 2]", {"": "[1, 2]"}),
        ("3", {"": "3"}),
        ("hello world", {"": "hello world"}),
        ("{unclosed = 3", {"": "{unclosed = 3"}),
        ("{m = affine_map<(d0) -> (d0)>}", {"": "{m = affine_map<(d0) -> (d0)>}"}),
        ('"a"', {"": '"a"'}),
        ("{a = " + "[" * 10_000, {"": "{a = " + "[" * 10_000}),
    ],
)
def test_parse(text, expected):
    assert dict(parse_backend_config(text)) == expected
