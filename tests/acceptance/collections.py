"""The collections that the pages of ``pages`` read: invented results, and two small ones beside them."""

from __future__ import annotations

from typing import Any

from bson.decimal128 import Decimal128
from bson.int64 import Int64

from tests.resultdocuments import result_documents

MIXED = [
    1,
    2.5,
    Int64(3),
    Decimal128("4.50"),
    None,
    0.1,
    -0.0,
    2**31 - 1,
    Int64(2**62),
    1e21,
    2.675,
    Decimal128("1E+3"),
]
COLLECTIONS: dict[str, list[dict[str, Any]]] = {
    "results": result_documents(),
    "machines": [
        {"_id": name, "cores": cores, "memory": cores * 4, "price": Decimal128(price)}
        for name, cores, price in (("M30", 2, "0.54"), ("M40", 4, "1.04"), ("M80", 32, "7.30"))
    ],
    "mixed": [{"_id": n, "v": value} for n, value in enumerate(MIXED)] + [{"_id": len(MIXED)}],
}
