package io.dyber.zernel.spark;

import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.StorageLevel;

/// Views of the library that say `dialect: common`, computed by Spark from their own text.
final class Reduction {
    /// What is asked of a fleet, and grows with ranks times steps.
    static final List<String> VIEWS = List.of("collective_arrivals", "rank_paces", "host_paces", "rank_outliers", "finding_counts");

    private static final Pattern CREATE = Pattern.compile("(?s)^CREATE (TABLE|VIEW) \\w+ AS\\n(.*?);?\\s*$");

    private final SparkSession spark;
    private final DigestTables digests;
    private final Set<String> created = new HashSet<>();

    Reduction(SparkSession spark, DigestTables digests) {
        this.spark = spark;
        this.digests = digests;
    }

    /// The rows of a view, which are kept once they are computed.
    Dataset<Row> of(String view) {
        create(view);
        return spark.table(view);
    }

    private void create(String name) {
        if (!created.add(name)) {
            return;
        }
        SqlObject object = SqlLibrary.builtIn().find(name);
        if (object == null || !object.isCommon()) {
            digests.of(name).createOrReplaceTempView(name);
            return;
        }
        object.needs().forEach(this::create);
        Matcher text = CREATE.matcher(object.statement());
        if (!text.find()) {
            throw new IllegalStateException("'" + name + "' creates no table or view");
        }
        Dataset<Row> rows = spark.sql(text.group(2));
        // A table is read several times by several others: with its plan inside theirs, plans grow with each, and planning takes longer than running.
        Dataset<Row> kept = text.group(1).equals("TABLE")
                ? rows.localCheckpoint()
                : VIEWS.contains(name) ? rows.persist(StorageLevel.MEMORY_AND_DISK()) : rows;
        kept.createOrReplaceTempView(name);
    }
}
