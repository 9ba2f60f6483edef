# SPDX-License-Identifier: Apache-2.0
"""Reads a recording with pyarrow and with duckdb, and prints what each sees as one line of JSON."""

import json
import sys

import duckdb
import pyarrow.compute as pc
import pyarrow.parquet as pq


def line(rows):
    return ", ".join(f"{kind} {count} {total}" for kind, count, total in sorted(rows))


def main(path):
    file = pq.ParquetFile(path)
    table = file.read(columns=["kind", "dur_ns"]).combine_chunks()
    kinds = table["kind"].cast("string")
    grouped = []
    for kind in pc.unique(kinds).to_pylist():
        of_kind = table.filter(pc.equal(kinds, kind))
        grouped.append((kind, of_kind.num_rows, pc.sum(of_kind["dur_ns"]).as_py() or 0))
    rows = duckdb.sql(
        f"SELECT kind, count(*), coalesce(sum(dur_ns), 0) FROM '{path}' GROUP BY kind"
    ).fetchall()
    footer = {
        key.decode(): json.loads(value)
        for key, value in file.metadata.metadata.items()
        if key.startswith(b"zernel.")
    }
    columns = [
        f"{field.name} {'BIGINT' if str(field.type) == 'int64' else 'VARCHAR' if str(field.type) == 'string' else field.type}"
        for field in file.schema_arrow
    ]
    print(json.dumps({"pyarrow": line(grouped), "duckdb": line(rows), "columns": columns, "footer": footer}))


main(sys.argv[1])
