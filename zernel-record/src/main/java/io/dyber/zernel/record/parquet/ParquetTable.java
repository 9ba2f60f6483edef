package io.dyber.zernel.record.parquet;

import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import java.util.List;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Types;

/// The event table as Parquet sees it: every column optional, an INT64 or a UTF-8 string.
public final class ParquetTable {
    private ParquetTable() {}

    public static MessageType schema(List<Column> columns) {
        List<Type> types = columns.stream().map(ParquetTable::type).toList();
        return new MessageType("events", types);
    }

    private static Type type(Column column) {
        return switch (column.type()) {
            case BIGINT -> Types.optional(PrimitiveTypeName.INT64).named(column.name());
            case VARCHAR ->
                    Types.optional(PrimitiveTypeName.BINARY)
                            .as(LogicalTypeAnnotation.stringType())
                            .named(column.name());
        };
    }

    /// Times and durations are nearly all distinct but close to their neighbours; a dictionary would only grow.
    static boolean isTime(Column column) {
        return column.type() == ColumnType.BIGINT && column.unit().equals("ns");
    }
}
