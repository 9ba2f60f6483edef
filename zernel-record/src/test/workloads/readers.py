# SPDX-License-Identifier: Apache-2.0
"""Reads a recording with one of the readers below, and prints what it sees as one line of JSON:
{"rows", "rows_of_thread_7", "columns": {name: [values that are not NULL, checksum]}}, or {"missing": why}.

The checksum is the sum of the integers, or of the CRC-32 of the texts, modulo 2**64."""

import json
import sys
import zlib


def seen(columns, rows, of_thread):
    return {
        "rows": rows,
        "rows_of_thread_7": of_thread,
        "columns": {name: checksum(values) for name, values in columns.items()},
    }


def checksum(values):
    present = [v for v in values if v is not None]
    total = sum(zlib.crc32(v.encode()) if isinstance(v, str) else int(v) for v in present)
    return [len(present), str(total % 2**64)]


def pyarrow(path):
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    of_thread = ds.dataset(path).count_rows(filter=ds.field("tid") == 7)
    return seen({name: table[name].to_pylist() for name in table.column_names}, table.num_rows, of_thread)


def duckdb(path):
    import duckdb

    result = duckdb.sql(f"FROM '{path}'")
    rows = result.fetchall()
    columns = {name: [row[i] for row in rows] for i, name in enumerate(result.columns)}
    return seen(columns, len(rows), duckdb.sql(f"SELECT count(*) FROM '{path}' WHERE tid = 7").fetchall()[0][0])


def polars(path):
    import polars as pl

    frame = pl.read_parquet(path)
    of_thread = pl.scan_parquet(path).filter(pl.col("tid") == 7).collect().height
    return seen({name: frame[name].to_list() for name in frame.columns}, frame.height, of_thread)


def pandas(path):
    import pandas as pd

    frame = pd.read_parquet(path, dtype_backend="pyarrow")
    of_thread = len(pd.read_parquet(path, dtype_backend="pyarrow", filters=[("tid", "==", 7)]))
    columns = {name: [None if v is pd.NA else v for v in frame[name]] for name in frame.columns}
    return seen(columns, len(frame), of_thread)


def spark(path):
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        frame = session.read.parquet(path)
        rows = frame.collect()
        columns = {name: [row[i] for row in rows] for i, name in enumerate(frame.columns)}
        return seen(columns, len(rows), frame.where("tid = 7").count())
    finally:
        session.stop()


try:
    print(json.dumps(globals()[sys.argv[1]](sys.argv[2])))
except ImportError as e:
    print(json.dumps({"missing": str(e)}))
