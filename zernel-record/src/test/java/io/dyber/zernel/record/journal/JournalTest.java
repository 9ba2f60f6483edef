package io.dyber.zernel.record.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.recording.Events;
import io.dyber.zernel.record.recording.RandomEvents;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.ValueVector;
import org.apache.arrow.vector.dictionary.DictionaryEncoder;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalTest {
    private static final List<Column> COLUMNS = RandomEvents.COLUMNS;

    @TempDir Path folder;

    /// Ends of the batches written so far, the schema's first.
    private final List<Long> ends = new ArrayList<>();

    @Test
    void arrowsOwnReaderSeesTheSameRows() throws IOException {
        List<List<@Nullable Object>> rows = new RandomEvents(1).rows(40_000);
        Path journal = write(rows, 17_001);

        assertThat(readByArrow(journal)).isEqualTo(rows);
    }

    @Test
    void ourReaderSeesTheSameRows() throws IOException {
        List<List<@Nullable Object>> rows = new RandomEvents(2).rows(40_000);
        Path journal = write(rows, 17_001);

        assertThat(read(journal)).isEqualTo(rows);
    }

    @Test
    void columnsAndUnitsComeBack() throws IOException {
        Path journal = write(List.of(), 1);

        try (FileChannel file = FileChannel.open(journal)) {
            assertThat(JournalReader.open(file).orElseThrow().columns()).isEqualTo(COLUMNS);
        }
    }

    @Test
    void emptyColumnsTakeHardlyAnyRoom() throws IOException {
        List<Column> wide = new ArrayList<>(COLUMNS);
        for (int i = 0; i < 200; i++) {
            wide.add(new Column("unused" + i, ColumnType.BIGINT, "", ""));
        }
        List<List<@Nullable Object>> rows = new RandomEvents(3).rows(32_768);
        long narrow = Files.size(write(COLUMNS, rows, 32_768));
        Files.delete(folder.resolve("journal-000003.arrows"));
        Path journal = write(wide, rows, 32_768);

        assertThat(Files.size(journal) - narrow).isLessThan(200 * 256L);
        assertThat(read(journal)).hasSize(32_768);
    }

    /// A launch as it mostly is: what it has in common with its neighbours takes no room.
    @Test
    void aCallTakesAFewBytes() throws IOException {
        List<Column> columns = CompiledPrograms.schema(List.of()).columns();
        Batch batch = new Batch(columns, 2_500);
        StringDictionary texts = new StringDictionary();
        int kind = texts.id("cuda_launch");
        SplittableRandom random = new SplittableRandom(11);
        for (int row = 0; row < 2_500; row++) {
            batch.addRow(kind);
            batch.put(index(columns, "kind"), kind);
            batch.put(index(columns, "name"), kind);
            batch.put(index(columns, "ts_ns"), 1_800_000_000_000_000_000L + 100_000L * row + random.nextInt(50_000));
            batch.put(index(columns, "dur_ns"), 2_000 + random.nextInt(8_000));
            batch.put(index(columns, "pid"), 4_000_000);
            batch.put(index(columns, "tid"), 4_000_000);
            batch.put(index(columns, "cpu"), random.nextInt(16));
            batch.put(index(columns, "func"), 0x7f00_1234_0000L + 64L * random.nextInt(200));
            batch.put(index(columns, "stream"), 0x5500_0000_1000L);
            batch.put(index(columns, "status"), 0);
        }
        Path file = folder.resolve("journal");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
                Journal journal = new Journal(channel, columns, texts, 0, new MessageBody())) {
            journal.append(batch);
            long before = journal.bytes();
            journal.append(batch);

            assertThat((journal.bytes() - before) / 2_500).isLessThanOrEqualTo(16);
        }
    }

    private static int index(List<Column> columns, String name) {
        return columns.stream().map(Column::name).toList().indexOf(name);
    }

    @Test
    void numbersOfEveryWidthComeBack() throws IOException {
        SplittableRandom random = new SplittableRandom(12);
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (int row = 0; row < 36_000; row++) {
            List<@Nullable Object> values = new ArrayList<>();
            for (Column column : COLUMNS) {
                values.add(switch (column.name()) {
                    case "kind" -> "kind" + (row / 10_000) % 3;
                    case "ts_ns" -> (long) row;
                    default -> random.nextInt(9) == 0 ? null : value(column, random, (row / 3_000) % 12);
                });
            }
            rows.add(values);
        }
        for (int batchRows : List.of(1, 15, 16, 17, 18_000)) {
            List<List<@Nullable Object>> some = rows.subList(0, Math.min(rows.size(), batchRows * 100));
            Path journal = write(some, batchRows);

            assertThat(read(journal)).as("%d rows a batch", batchRows).isEqualTo(some);
            assertThat(readByArrow(journal)).as("%d rows a batch", batchRows).isEqualTo(some);
            Files.delete(journal);
        }
    }

    /// Of so many low bytes, 9 and more for all of them.
    private static Object value(Column column, SplittableRandom random, int bytes) {
        if (column.type() == ColumnType.VARCHAR) {
            return "text" + random.nextInt(1 << Math.min(bytes, 10));
        }
        long bits = bytes >= 8 ? -1 : (1L << (8 * bytes)) - 1;
        return (0x7f12_3456_789a_bcdeL & ~bits) | (random.nextLong() & bits);
    }

    @Test
    void aJournalOfAnOlderRecorderIsReadAsItWas() throws IOException {
        Path journal = folder.resolve("old.arrows");
        try (InputStream old = JournalTest.class.getResourceAsStream("/journal-plain.arrows")) {
            Files.write(journal, Objects.requireNonNull(old).readAllBytes());
        }
        List<List<@Nullable Object>> rows = new RandomEvents(13).rows(300);

        assertThat(read(journal)).isEqualTo(rows);
        assertThat(readByArrow(journal)).isEqualTo(rows);
    }

    @Test
    void cuttingTheEndAnywhereLeavesTheCompleteBatches() throws IOException {
        List<List<@Nullable Object>> rows = new RandomEvents(4).rows(60);
        Path journal = write(rows, 10);
        long from = ends.get(ends.size() - 3);

        for (long length = Files.size(journal); length >= from; length--) {
            cut(journal, length);
            assertThat(read(journal)).as("cut at %d", length).isEqualTo(rows.subList(0, complete(length) * 10));
        }
    }

    @Test
    void cuttingAtAThousandRandomPlacesLeavesTheCompleteBatches() throws IOException {
        List<List<@Nullable Object>> rows = new RandomEvents(9).rows(200);
        Path journal = write(rows, 10);
        List<Long> lengths = new SplittableRandom(10)
                .longs(1000, ends.getFirst(), Files.size(journal))
                .boxed()
                .sorted(Comparator.reverseOrder())
                .toList();

        for (long length : lengths) {
            cut(journal, length);
            assertThat(read(journal)).as("cut at %d", length).isEqualTo(rows.subList(0, complete(length) * 10));
        }
    }

    @Test
    void cuttingTheBeginningAnywhereLeavesNothing() throws IOException {
        Path journal = write(new RandomEvents(5).rows(10), 10);

        for (long length = ends.get(1) - 1; length >= 0; length--) {
            cut(journal, length);
            assertThat(read(journal)).as("cut at %d", length).isEmpty();
        }
    }

    /// As after a power loss: the file has its length, but what was written last is zeros or something else.
    @Test
    void damageEndsTheJournalBeforeTheDamagedBatch() throws IOException {
        List<List<@Nullable Object>> rows = new RandomEvents(6).rows(60);
        Path journal = write(rows, 10);
        byte[] whole = Files.readAllBytes(journal);
        SplittableRandom random = new SplittableRandom(7);
        Path damaged = folder.resolve("damaged");

        for (int i = 0; i < 500; i++) {
            int at = random.nextInt(Math.toIntExact(ends.getFirst()), whole.length);
            byte[] bytes = whole.clone();
            if (i % 2 == 0) {
                Arrays.fill(bytes, at, bytes.length, (byte) 0);
            } else {
                bytes[at] ^= (byte) (1 << random.nextInt(8));
            }
            Files.write(damaged, bytes);
            List<List<@Nullable Object>> read = read(damaged);
            assertThat(read).as("damage at %d", at).isEqualTo(rows.subList(0, read.size()));
            assertThat(read).as("damage at %d", at).hasSizeGreaterThanOrEqualTo(complete(at) * 10);
        }
    }

    @Test
    void aFailedAppendLeavesTheJournalAsItWas() throws IOException {
        Path journal = folder.resolve("journal");
        StringDictionary texts = new StringDictionary();
        Batch batch = new Batch(COLUMNS, 10);
        List<List<@Nullable Object>> rows = new RandomEvents(8).rows(20);
        try (FileChannel file = FileChannel.open(journal, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            Journal writer = new Journal(file, COLUMNS, texts, 0, new MessageBody());
            fill(batch, texts, rows.subList(0, 10));
            writer.append(batch);
            // The garbage of a write that stopped half-way must not stay in front of the next batch.
            int _ = file.write(ByteBuffer.wrap(new byte[100]), file.size());
            batch.clear();
            fill(batch, texts, rows.subList(10, 20));
            writer.append(batch);
        }
        assertThat(read(journal)).isEqualTo(rows);
    }

    private static void cut(Path file, long length) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            FileChannel _ = channel.truncate(length);
        }
    }

    private int complete(long length) {
        return (int) ends.stream().skip(1).filter(end -> end <= length).count();
    }

    private Path write(List<List<@Nullable Object>> rows, int batchRows) throws IOException {
        return write(COLUMNS, rows, batchRows);
    }

    private Path write(List<Column> columns, List<List<@Nullable Object>> rows, int batchRows) throws IOException {
        Path journal = folder.resolve("journal-000003.arrows");
        StringDictionary texts = new StringDictionary();
        Batch batch = new Batch(columns, batchRows);
        try (FileChannel file = FileChannel.open(journal, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
                Journal writer = new Journal(file, columns, texts, 3, new MessageBody())) {
            ends.add(writer.bytes());
            for (int from = 0; from < rows.size(); from += batchRows) {
                batch.clear();
                fill(batch, texts, rows.subList(from, Math.min(rows.size(), from + batchRows)));
                writer.append(batch);
                ends.add(writer.bytes());
            }
        }
        return journal;
    }

    private static void fill(Batch batch, StringDictionary texts, List<List<@Nullable Object>> rows) {
        for (List<@Nullable Object> row : rows) {
            Events.add(batch, texts, row.toArray());
        }
    }

    private static List<List<@Nullable Object>> read(Path journal) throws IOException {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        try (FileChannel file = FileChannel.open(journal)) {
            Optional<JournalReader> reader = JournalReader.open(file);
            if (reader.isEmpty()) {
                return rows;
            }
            for (Optional<Batch> b = reader.get().next(); b.isPresent(); b = reader.get().next()) {
                rows.addAll(Events.rows(b.get(), reader.get().texts()));
            }
        }
        return inOrderOfArrival(rows);
    }

    /// A journal has each batch's rows by kind.
    private static List<List<@Nullable Object>> inOrderOfArrival(List<List<@Nullable Object>> rows) {
        return rows.stream()
                .sorted(Comparator.comparing((List<@Nullable Object> row) -> (Long) Objects.requireNonNull(row.get(1))))
                .toList();
    }

    private static List<List<@Nullable Object>> readByArrow(Path journal) throws IOException {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        try (BufferAllocator allocator = new RootAllocator();
                FileChannel file = FileChannel.open(journal);
                ArrowStreamReader reader = new ArrowStreamReader(file, allocator, new ArrowZstd())) {
            while (reader.loadNextBatch()) {
                List<ValueVector> columns = new ArrayList<>();
                for (FieldVector vector : reader.getVectorSchemaRoot().getFieldVectors()) {
                    boolean text = vector.getField().getDictionary() != null;
                    columns.add(text ? DictionaryEncoder.decode(vector, reader.lookup(1)) : vector);
                }
                for (int row = 0; row < reader.getVectorSchemaRoot().getRowCount(); row++) {
                    List<@Nullable Object> values = new ArrayList<>();
                    for (ValueVector column : columns) {
                        Object value = column.getObject(row);
                        values.add(value == null || value instanceof Long ? value : value.toString());
                    }
                    rows.add(values);
                }
                for (ValueVector column : columns) {
                    if (!reader.getVectorSchemaRoot().getFieldVectors().contains(column)) {
                        column.close();
                    }
                }
            }
        }
        return inOrderOfArrival(rows);
    }
}
