"""Apache Parquet: numbers as int64 (times are epoch ms), text as strings, flags as booleans, all of them nullable.

Row groups hold at most 50,000 rows or about 32 MiB, so that memory does not grow with the number of rows.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # the same

from tui_crawler.export.output import Output
from tui_crawler.export.text_rows import Row, without_surrogates
from tui_crawler.text.sheet import CellKind, kind_of

GROUP_ROWS = 50_000
_GROUP_BYTES = 32 << 20
_TYPES = dict.fromkeys((CellKind.integer, CellKind.time), pa.int64()) | {CellKind.flag: pa.bool_()}


def write_parquet(windows: Iterable[Sequence[Row]], columns: Sequence[str], output: Output) -> int:
    """Writes all rows; answers how many. Raises CannotWrite, ReaderGone."""
    schema = pa.schema([pa.field(column, _TYPES.get(kind_of(column), pa.string())) for column in columns])
    writer = pq.ParquetWriter(output, schema, compression="zstd")
    count = waiting = 0
    group: list[Any] = []
    try:
        for window in windows:
            cells = zip(*window, strict=True)
            arrays = [_array(values, kind) for values, kind in zip(cells, schema.types, strict=True)]
            group.append(pa.RecordBatch.from_arrays(arrays, schema=schema))
            waiting += len(window)
            if waiting >= GROUP_ROWS or sum(batch.nbytes for batch in group) >= _GROUP_BYTES:
                writer.write_table(pa.Table.from_batches(group, schema), row_group_size=waiting)
                count, waiting, group = count + waiting, 0, []
        if group:
            writer.write_table(pa.Table.from_batches(group, schema), row_group_size=waiting)
        writer.close()
    except BaseException:
        output.drop()  # the writer writes a footer when it goes: half an export would look like a whole one
        raise
    return count + waiting


def _array(values: Sequence[Any], kind: Any) -> Any:
    if kind == pa.bool_():
        return pa.array([None if value is None else bool(value) for value in values], kind)
    try:
        return pa.array(values, kind)
    except (UnicodeEncodeError, pa.ArrowTypeError):
        if kind != pa.string():
            raise
        return pa.array([None if value is None else without_surrogates(str(value)) for value in values], kind)
