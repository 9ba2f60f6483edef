# SPDX-License-Identifier: Apache-2.0
"""Prints the columns and the footer of a recording as one line of JSON."""

import json
import sys

import pyarrow.parquet as pq

TYPES = {"int64": "BIGINT", "string": "VARCHAR"}

file = pq.ParquetFile(sys.argv[1])
footer = {
    key.decode(): json.loads(value)
    for key, value in file.metadata.metadata.items()
    if key.startswith(b"zernel.")
}
columns = [f"{field.name} {TYPES.get(str(field.type), field.type)}" for field in file.schema_arrow]
print(json.dumps({"columns": columns, "footer": footer}))
