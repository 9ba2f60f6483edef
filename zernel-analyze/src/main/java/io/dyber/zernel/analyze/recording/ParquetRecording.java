package io.dyber.zernel.analyze.recording;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.sql.GoldenSchema;
import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.LiveFolder;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A closed Parquet file as a recording.
public final class ParquetRecording {
    static final String COPY_AGAIN = "copy it again from where it was recorded";

    private ParquetRecording() {}

    public static AttachedRecording attach(Path path, int index, DuckDb duckDb) {
        checkIsParquet(path);
        try {
            return attach(path, index, DuckDb.pathLiteral(path), duckDb);
        } catch (RecordingException e) {
            if (e.getCause() instanceof SQLException why) {
                throw unreadable(path, "damaged: " + DuckDb.firstLine(why), COPY_AGAIN);
            }
            throw e;
        }
    }

    private static AttachedRecording attach(Path path, int index, String file, DuckDb duckDb) {
        Map<String, String> metadata = metadata(path, file, duckDb);
        if (metadata.containsKey(Footer.DIGEST)) {
            throw new RecordingException(
                    "opening '" + path + "': it is a digest, which has no events to compare", "compare the recordings that digests are of");
        }
        AttachedRecording.Relation relation = AttachedRecording.Relation.of("read_parquet(" + file + ")", duckDb);
        String format = metadata.get(Footer.FORMAT);
        if (format != null) {
            checkFormat(path, format);
        }
        checkColumns(path, relation, format);
        Recording recording = new Recording(
                index,
                path,
                format == null ? Recording.State.FOREIGN : Recording.State.FINISHED,
                duckDb.query("SELECT coalesce(sum(num_rows), 0) AS n FROM parquet_file_metadata(" + file + ")")
                        .only()
                        .integer("n"),
                metadata,
                format == null ? "it has no zernel footer: probes and losses are unknown" : cutFrom(metadata));
        return new AttachedRecording(recording, List.of(relation));
    }

    /// Which rotating recording it is a file of; empty where it is of none.
    public static String seriesOf(Path path, DuckDb duckDb) {
        checkIsParquet(path);
        return duckDb.query("SELECT decode(value) ->> '$.series.id' AS id FROM parquet_kv_metadata(" + DuckDb.pathLiteral(path)
                        + ") WHERE decode(key) = " + DuckDb.literal(Footer.RECORDING))
                .rows()
                .stream()
                .map(row -> row.text("id"))
                .filter(id -> id != null)
                .findFirst()
                .orElse("");
    }

    private static Map<String, String> metadata(Path path, String file, DuckDb duckDb) {
        Map<String, String> metadata = new HashMap<>();
        String sql = "SELECT decode(key) AS key, decode(value) AS value, json_valid(decode(value)) AS is_json "
                + "FROM parquet_kv_metadata(" + file + ") WHERE starts_with(decode(key), 'zernel.')";
        for (Table.Row row : duckDb.query(sql).rows()) {
            if (!row.flag("is_json")) {
                throw unreadable(
                        path, "damaged: footer key '" + row.requiredText("key") + "' is not JSON", COPY_AGAIN);
            }
            metadata.put(row.requiredText("key"), row.requiredText("value"));
        }
        return metadata;
    }

    /// Of what it is a part, if it was cut out by `zernel-analyze export`.
    private static @Nullable String cutFrom(Map<String, String> metadata) {
        // Parsing takes longer than opening.
        boolean mayBe = metadata.getOrDefault(Footer.RECORDING, "").contains("\"cut\":");
        Footer.Cut cut = mayBe ? Footer.parse(metadata).recording().cut() : null;
        return cut == null
                ? null
                : String.format(
                        Locale.ROOT,
                        "cut out of %s, %.3f s long: what happened before, such as allocations, is not in it",
                        cut.of(),
                        (cut.toNs() - cut.fromNs()) / 1e9);
    }

    private static void checkFormat(Path path, String format) {
        if (!format.strip().matches("\\d{1,9}")) {
            throw new RecordingException("opening '" + path + "': its format is '" + format + "', not a number", null);
        }
        if (Integer.parseInt(format.strip()) > Footer.CURRENT_FORMAT) {
            throw new RecordingException(
                    "opening '" + path + "': it has format " + format.strip() + ", newer than " + Footer.CURRENT_FORMAT,
                    "use the zernel-analyze that came with its recorder");
        }
    }

    private static void checkColumns(Path path, AttachedRecording.Relation relation, @Nullable String format) {
        List<String> missing = GoldenSchema.columns().stream()
                .filter(GoldenSchema.Column::required)
                .map(GoldenSchema.Column::name)
                .filter(name -> !relation.columns().containsKey(name))
                .toList();
        if (!missing.isEmpty()) {
            throw new RecordingException(
                    "opening '" + path + "': not a recording: columns missing: " + String.join(", ", missing),
                    format == null ? "zernel-record writes recordings; other Parquet files open in duckdb" : null);
        }
    }

    static void checkIsParquet(Path path) {
        if (!Files.isRegularFile(path)) {
            throw unreadable(path, "not a file", null); // opening a pipe would wait for its other end
        }
        try (FileChannel channel = FileChannel.open(path)) {
            long size = channel.size();
            if (size == 0) {
                throw unreadable(path, "the file is empty", null);
            }
            if (!magic(channel, 0)) {
                throw unreadable(
                        path,
                        "not a Parquet file",
                        path.toString().endsWith(".nsys-rep")
                                ? "of Nsight Systems an export is read: nsys export --type sqlite " + path
                                : "zernel-analyze reads what zernel-record wrote, and traces of profilers (.json, .json.gz, .sqlite)");
            }
            if (size < 12 || !magic(channel, size - 4) || footerStart(channel, size) < 4) {
                throw unreadable(
                        path,
                        "the file has no footer: truncated, or still being copied",
                        Files.isDirectory(Path.of(path + LiveFolder.SUFFIX))
                                ? "read what was saved while recording: " + path + LiveFolder.SUFFIX
                                : COPY_AGAIN);
            }
        } catch (AccessDeniedException e) {
            throw unreadable(path, "permission denied", "run as its owner, or: sudo chown $USER " + path);
        } catch (IOException e) {
            throw unreadable(path, String.valueOf(e.getMessage()), null);
        }
    }

    /// Whether a key stands in the footer of a Parquet file: to ask DuckDB takes longer.
    static boolean footerHas(Path path, String key) {
        try (FileChannel channel = FileChannel.open(path)) {
            long start = footerStart(channel, channel.size());
            ByteBuffer footer = ByteBuffer.allocate(Math.toIntExact(channel.size() - 8 - start));
            while (footer.hasRemaining() && channel.read(footer, start + footer.position()) >= 0) {
                // reads on until all is there or the file ends
            }
            return new String(footer.array(), StandardCharsets.ISO_8859_1).contains(key);
        } catch (IOException e) {
            throw unreadable(path, String.valueOf(e.getMessage()), null);
        }
    }

    private static boolean magic(FileChannel channel, long at) throws IOException {
        return new String(bytes(channel, at).array(), StandardCharsets.US_ASCII).equals("PAR1");
    }

    private static long footerStart(FileChannel channel, long size) throws IOException {
        return size - 8 - Integer.toUnsignedLong(bytes(channel, size - 8).getInt(0));
    }

    private static ByteBuffer bytes(FileChannel channel, long at) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining() && channel.read(bytes, at + bytes.position()) >= 0) {
            // reads on until four bytes are there or the file ends
        }
        return bytes;
    }

    private static RecordingException unreadable(Path path, String why, @Nullable String hint) {
        return new RecordingException("opening '" + path + "': " + why, hint);
    }
}
