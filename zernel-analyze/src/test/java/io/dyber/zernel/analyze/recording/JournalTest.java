package io.dyber.zernel.analyze.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.Recordings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

public class JournalTest {
    @TempDir
    Path folder;

    @Test
    void aJournalIsPartOfALiveRecording() throws IOException {
        Path live = Files.createDirectory(folder.resolve("run.parquet.live"));
        RecordingFixture.recording().region("a", 1, 1).write(live.resolve("000000.parquet"));
        Files.write(live.resolve("journal-000001.arrows"), journal(2));
        try (Database database = Recordings.open(live.toString())) {
            assertThat(database.query("SELECT kind, name, ts_ns - 1800000000000000000 AS ts FROM events ORDER BY ALL")
                            .toString())
                    .isEqualTo("kind\tname\tts\nregion\ta\t1000000\nregion\tbatch 0\t0\nregion\tbatch 1\t1");
        }
    }

    @Test
    void aCutInTheLastBatchKeepsTheOnesBefore() throws IOException {
        Path live = Files.createDirectory(folder.resolve("run.parquet.live"));
        byte[] bytes = journal(3);
        Files.write(live.resolve("journal-000000.arrows"), Arrays.copyOf(bytes, bytes.length - 60));
        try (Database database = Recordings.open(live.toString())) {
            assertThat(database.query("SELECT count(*) AS n FROM events").toString()).isEqualTo("n\n2");
            assertThat(database.recordings().getFirst().note()).endsWith("the last batch is incomplete and left out");
        }
    }

    @Test
    void aJournalThatHasNotBegunHoldsNothing() throws IOException {
        Path live = Files.createDirectory(folder.resolve("run.parquet.live"));
        RecordingFixture.recording().region("a", 1, 1).write(live.resolve("000000.parquet"));
        Files.write(live.resolve("journal-000001.arrows"), Arrays.copyOf(journal(1), 20));
        Files.createFile(live.resolve("journal-000002.arrows"));
        try (Database database = Recordings.open(live.toString())) {
            assertThat(database.rows()).isEqualTo(1);
        }
    }

    /// Arrow and DuckDB would follow the index out of the dictionary.
    @Test
    void aStringThatIsNotInTheDictionaryEndsTheJournal() throws IOException {
        Path live = Files.createDirectory(folder.resolve("run.parquet.live"));
        byte[] bytes = journal(3);
        int last = indexOf(bytes, RecordingFixture.START_NS + 2);
        Arrays.fill(bytes, last - 16, last - 13, (byte) 0x7f); // the index of the name
        Files.write(live.resolve("journal-000000.arrows"), bytes);
        try (Database database = Recordings.open(live.toString())) {
            assertThat(database.rows()).isEqualTo(2);
        }
    }

    /// All lengths, offsets and indices are still right.
    @Test
    void aValueThatChangedEndsTheJournal() throws Exception {
        Path live = Files.createDirectory(folder.resolve("run.parquet.live"));
        Path recorded = Path.of(Objects.requireNonNull(JournalTest.class.getResource("/recorded/run.parquet.live")).toURI());
        for (String name : List.of("000000.parquet", "journal-000001.arrows", "meta.json")) {
            Files.copy(recorded.resolve(name), live.resolve(name));
        }
        long last;
        try (Database database = Recordings.open(live.toString())) {
            assertThat(database.rows()).isEqualTo(175);
            last = database.query("SELECT ts_ns FROM events").rows().getLast().integer("ts_ns");
        }
        byte[] bytes = Files.readAllBytes(live.resolve("journal-000001.arrows"));
        bytes[indexOf(bytes, last)] ^= 1;
        Files.write(live.resolve("journal-000001.arrows"), bytes);
        try (Database database = Recordings.open(live.toString())) {
            assertThat(database.rows()).isLessThan(175);
            assertThat(database.recordings().getFirst().note()).endsWith("the last batch is incomplete and left out");
        }
    }

    private static int indexOf(byte[] bytes, long number) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int at = 0;
        while (buffer.getLong(at) != number) {
            at++;
        }
        return at;
    }

    @Test
    void aJournalWhoseSegmentExistsIsStale() throws IOException {
        Path live = Files.createDirectory(folder.resolve("run.parquet.live"));
        RecordingFixture.recording().region("a", 1, 1).write(live.resolve("000000.parquet"));
        Files.write(live.resolve("journal-000000.arrows"), journal(2));
        try (Database database = Recordings.open(live.toString())) {
            assertThat(database.rows()).isEqualTo(1);
        }
    }

    /// A stream of batches with one row each; text columns share one dictionary, as the recorder writes them.
    public static byte[] journal(int batches) throws IOException {
        DictionaryEncoding encoding = new DictionaryEncoding(1, false, new ArrowType.Int(32, true));
        FieldType text = new FieldType(true, new ArrowType.Int(32, true), encoding);
        Schema schema = new Schema(
                List.of(
                        new Field("kind", text, null),
                        new Field("name", text, null),
                        Field.nullable("ts_ns", new ArrowType.Int(64, true))),
                Map.of("zernel.segment", "1"));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (BufferAllocator allocator = new RootAllocator();
                VarCharVector texts = new VarCharVector("texts", allocator)) {
            texts.allocateNew();
            texts.setSafe(0, "region".getBytes(StandardCharsets.UTF_8));
            for (int i = 0; i < batches; i++) {
                texts.setSafe(i + 1, ("batch " + i).getBytes(StandardCharsets.UTF_8));
            }
            texts.setValueCount(batches + 1);
            DictionaryProvider provider = new DictionaryProvider.MapDictionaryProvider(new Dictionary(texts, encoding));
            try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, allocator);
                    ArrowStreamWriter writer = new ArrowStreamWriter(root, provider, Channels.newChannel(out))) {
                for (int i = 0; i < batches; i++) {
                    ((IntVector) root.getVector("kind")).setSafe(0, 0);
                    ((IntVector) root.getVector("name")).setSafe(0, i + 1);
                    ((BigIntVector) root.getVector("ts_ns")).setSafe(0, RecordingFixture.START_NS + i);
                    root.setRowCount(1);
                    writer.writeBatch();
                }
            }
        }
        return out.toByteArray();
    }
}
