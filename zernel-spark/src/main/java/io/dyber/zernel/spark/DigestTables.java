package io.dyber.zernel.spark;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.recording.DigestColumns;
import io.dyber.zernel.analyze.recording.DigestFooters;
import io.dyber.zernel.analyze.recording.Digests;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.format.Footer;
import java.io.IOException;
import java.io.Serializable;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import org.jspecify.annotations.Nullable;

/// The rows of digests as tables of Spark: what the library's views read.
///
/// What digests hold is read from them by Spark. What is made of their footers is a row for each recording or process, and DuckDB
/// makes it in the driver. So both engines number recordings alike.
final class DigestTables implements AutoCloseable {
    private static final String FILE = "_file";

    private final SparkSession spark;
    private final DigestFooters footers;
    private final Database ofFooters;
    private final Database empty = Recordings.none(SqlLibrary.builtIn());
    /// By name of the view or finding, its rows in the digests of each layout.
    private final Map<String, List<Dataset<Row>>> parts = new TreeMap<>();

    private DigestTables(SparkSession spark, DigestFooters footers, Map<Path, String> names) {
        this.spark = spark;
        this.footers = footers;
        this.ofFooters = Recordings.open(footers);
        Dataset<Row> numbers = functions.broadcast(numbers(names));
        for (DigestFooters.Layout layout : footers.layouts()) {
            String[] files = layout.paths().stream().map(path -> names.getOrDefault(path, path.toString())).toArray(String[]::new);
            Dataset<Row> stored = spark.read().parquet(files).withColumn(FILE, file(functions.col("_metadata.file_path")));
            DigestColumns columns = new DigestColumns();
            for (Footer.DigestPart part : layout.digest().parts()) {
                Column[] selected = columns.of(part).stream().map(DigestTables::column).toArray(Column[]::new);
                parts.computeIfAbsent(part.name(), _ -> new ArrayList<>())
                        .add(stored.filter(functions.col("part").equalTo(part.name()))
                                .join(numbers, FILE)
                                .select(selected));
            }
        }
    }

    /// Opens digests.
    ///
    /// @throws io.dyber.zernel.format.RecordingException if none of the files is one
    static DigestTables open(List<String> files, SparkSession spark) {
        JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
        Broadcast<SerializableConfiguration> shared = context.broadcast(new SerializableConfiguration(context.hadoopConfiguration()));
        List<Read> read = context.parallelize(files, Math.min(files.size(), 1000)).map(file -> read(file, shared.value().value())).collect();
        Map<Path, Map<String, String>> footers = new LinkedHashMap<>();
        Map<Path, String> names = new HashMap<>();
        List<Digests.Unread> damaged = new ArrayList<>();
        for (int i = 0; i < files.size(); i++) {
            Path path = Path.of(files.get(i));
            names.put(path, files.get(i));
            String damage = read.get(i).damage();
            if (damage == null) {
                footers.put(path, read.get(i).footer());
            } else {
                damaged.add(new Digests.Unread(path, "damaged", damage));
            }
        }
        return new DigestTables(spark, DigestFooters.of(footers, damaged, 0), names);
    }

    private record Read(Map<String, String> footer, @Nullable String damage) implements Serializable {}

    private static Read read(String file, Configuration configuration) {
        try {
            return new Read(new HashMap<>(StoredFiles.footer(file, configuration)), null);
        } catch (IOException e) {
            return new Read(new HashMap<>(), String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
        }
    }

    /// Files that were left out.
    List<Digests.Unread> unread() {
        return footers.unread();
    }

    /// How many digests there are.
    int size() {
        return footers.recordings().size();
    }

    /// The rows of a view that is not made of other views here; of one that no digest has, none.
    Dataset<Row> of(String name) {
        if (name.equals(Digests.HELD_FINDINGS)) {
            return findings();
        }
        SqlObject object = SqlLibrary.builtIn().find(name);
        if (object != null && object.isOfFooter()) {
            return dataset(ofFooters.query("FROM " + name));
        }
        return union(parts.getOrDefault(name, List.of())).orElseGet(() -> dataset(empty.query("FROM " + name)));
    }

    private Dataset<Row> findings() {
        List<Dataset<Row>> findings = new ArrayList<>();
        parts.forEach((name, rows) -> {
            SqlObject object = SqlLibrary.builtIn().find(name);
            if (object != null && object.role() == SqlObject.Role.FINDING) {
                rows.forEach(one -> findings.add(one.select(
                        functions.lit(name).as("finding"), optional("recording", "bigint", one), optional("pid", "bigint", one),
                        optional("lost_ns", "double", one))));
            }
        });
        return union(findings).orElseGet(() -> dataset(empty.query("FROM " + Digests.HELD_FINDINGS)));
    }

    private static Column optional(String name, String type, Dataset<Row> rows) {
        boolean there = List.of(rows.columns()).contains(name);
        return (there ? functions.col(name) : functions.lit(null)).cast(type).as(name);
    }

    private static Optional<Dataset<Row>> union(List<Dataset<Row>> parts) {
        return parts.stream().reduce((one, other) -> one.unionByName(other, true));
    }

    /// The number of each recording, by its file as [#file] writes it. Spark may or may not escape what is special in URIs.
    private Dataset<Row> numbers(Map<Path, String> names) {
        Map<String, Long> numbers = new TreeMap<>();
        footers.recordings().forEach(attached -> {
            String name = names.getOrDefault(attached.recording().path(), attached.recording().path().toString());
            numbers.put(name, (long) attached.recording().index());
            numbers.put(new org.apache.hadoop.fs.Path(name).toUri().toString(), (long) attached.recording().index());
        });
        List<Row> rows = numbers.entrySet().stream().map(entry -> RowFactory.create(entry.getKey(), entry.getValue())).toList();
        StructType schema = new StructType().add(FILE, DataTypes.StringType).add("recording", DataTypes.LongType);
        return spark.createDataFrame(rows, schema).withColumn(FILE, file(functions.col(FILE)));
    }

    /// `file:/a` and `file:///a` are the same.
    private static Column file(Column path) {
        return functions.regexp_replace(path, "^file:/+", "file:/");
    }

    private static Column column(DigestColumns.Column column) {
        return functions.col(column.name().equals("recording") ? "recording" : "`" + column.place() + "`").as(column.name());
    }

    private Dataset<Row> dataset(Table table) {
        List<StructField> fields =
                table.columns().stream().map(column -> DataTypes.createStructField(column.name(), type(column.type()), true)).toList();
        List<Row> rows = table.rows().stream()
                .map(row -> RowFactory.create(row.values().stream().map(DigestTables::value).toArray()))
                .toList();
        return spark.createDataFrame(rows, DataTypes.createStructType(fields));
    }

    private static DataType type(String duckDb) {
        return switch (duckDb) {
            case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UINTEGER", "HUGEINT" -> DataTypes.LongType;
            case "FLOAT", "DOUBLE" -> DataTypes.DoubleType;
            case "BOOLEAN" -> DataTypes.BooleanType;
            default -> DataTypes.StringType;
        };
    }

    private static @Nullable Object value(@Nullable Object value) {
        return switch (value) {
            case null -> null;
            case Long number -> number;
            case Double number -> number;
            case Boolean flag -> flag;
            case BigInteger number -> number.longValueExact();
            default -> value.toString();
        };
    }

    @Override
    public void close() {
        ofFooters.close();
        empty.close();
    }
}
