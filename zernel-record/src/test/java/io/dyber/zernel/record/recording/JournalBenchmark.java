package io.dyber.zernel.record.recording;

import com.github.luben.zstd.Zstd;
import io.dyber.zernel.record.Comparison;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.KindRows;
import io.dyber.zernel.record.journal.Journal;
import io.dyber.zernel.record.journal.MessageBody;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;

/// Columns to journal: CPU time of the writing thread per event. See [io.dyber.zernel.record.Comparison].
///
/// The floor writes as many bytes as the journal takes on the disk, from memory that is ready, and does nothing else.
final class JournalBenchmark {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int ROUNDS = 11;

    private final MixedEvents events = new MixedEvents(16);
    private final Comparison comparison =
            new Comparison("Columns to journal, " + MixedEvents.DESCRIPTION, "ns CPU/event");
    private final MessageBody message = new MessageBody();
    private final Path file;

    private JournalBenchmark(Path folder) {
        this.file = folder.resolve("journal.arrows");
    }

    public static void main(String[] args) throws IOException {
        Path folder = Files.createTempDirectory("zernel-benchmark");
        JournalBenchmark benchmark = new JournalBenchmark(folder);
        for (int round = -3; round < ROUNDS; round++) {
            benchmark.round(round >= 0);
        }
        benchmark.comparison.print();
        Files.delete(folder);
    }

    private interface Writing {
        void write(FileChannel channel) throws IOException;
    }

    private void round(boolean counts) throws IOException {
        long bytes = measure("journal", this::journal, counts);
        measure("floor: write() of its bytes", channel -> floor(channel, bytes), counts);
        measure("ZSTD's own frames, level -7", this::zstd, counts);
        measure("Arrow Java's vectors and ArrowStreamWriter", this::arrow, counts);
    }

    private long measure(String way, Writing writing, boolean counts) throws IOException {
        long before = THREADS.getCurrentThreadCpuTime();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            writing.write(channel);
        }
        long nanos = THREADS.getCurrentThreadCpuTime() - before;
        long disk = MixedEvents.diskBytes(file);
        if (counts) {
            comparison.add(way, nanos / (double) events.rows());
            comparison.note(way, "%.0f bytes of disk/event".formatted(disk / (double) events.rows()));
        }
        Files.delete(file);
        return disk;
    }

    private void journal(FileChannel channel) throws IOException {
        Journal journal = new Journal(channel, events.schema().columns(), events.texts(), 0, message);
        for (Batch batch : events.batches()) {
            journal.append(batch);
        }
    }

    private void floor(FileChannel channel, long bytes) throws IOException {
        int count = events.batches().size();
        ByteBuffer memory = ByteBuffer.allocateDirect((int) (bytes / count));
        for (int i = 0; i < count; i++) {
            int _ = channel.write(memory.rewind());
        }
    }

    /// The same columns compressed by ZSTD's library; those that no row has a value in are left out.
    private void zstd(FileChannel channel) throws IOException {
        ByteBuffer frame = ByteBuffer.allocateDirect(1 << 20);
        ByteBuffer plain = ByteBuffer.allocateDirect(1 << 20).order(ByteOrder.LITTLE_ENDIAN);
        for (Batch batch : events.batches()) {
            for (int c = 0; c < events.schema().columns().size(); c++) {
                boolean isText = events.schema().columns().get(c).type() == ColumnType.VARCHAR;
                plain.clear();
                for (KindRows kind : batch.kinds()) {
                    put(kind, c, isText, plain);
                }
                if (plain.position() > 0) {
                    int length = (int) Zstd.compressDirectByteBuffer(
                            frame, 0, frame.capacity(), plain, 0, plain.position(), -7);
                    int _ = channel.write(frame.slice(0, length));
                }
            }
        }
    }

    private static void put(KindRows kind, int column, boolean isText, ByteBuffer target) {
        if (!kind.has(column)) {
            return;
        }
        long[] values = kind.values(column);
        for (int row = 0; row < kind.rows(); row++) {
            if (isText) {
                target.putInt((int) values[row]);
            } else {
                target.putLong(values[row]);
            }
        }
    }

    /// Without the dictionary of strings: ids only.
    private void arrow(FileChannel channel) throws IOException {
        try (BufferAllocator allocator = new RootAllocator();
                VectorSchemaRoot root = new VectorSchemaRoot(vectors(allocator));
                ArrowStreamWriter writer = new ArrowStreamWriter(root, null, channel)) {
            for (Batch batch : events.batches()) {
                root.allocateNew();
                for (int c = 0; c < batch.columns().size(); c++) {
                    fill(root.getVector(c), batch, c);
                }
                root.setRowCount(batch.rows());
                writer.writeBatch();
            }
        }
    }

    private List<FieldVector> vectors(BufferAllocator allocator) {
        List<FieldVector> vectors = new ArrayList<>();
        for (Column column : events.schema().columns()) {
            vectors.add(column.type() == ColumnType.VARCHAR
                    ? new IntVector(column.name(), allocator)
                    : new BigIntVector(column.name(), allocator));
            vectors.getLast().setInitialCapacity(MixedEvents.BATCH);
        }
        return vectors;
    }

    private static void fill(FieldVector vector, Batch batch, int column) {
        for (int row = 0; row < batch.rows(); row++) {
            if (!batch.isNull(column, row)) {
                switch (vector) {
                    case BigIntVector longs -> longs.set(row, batch.value(column, row));
                    case IntVector ints -> ints.set(row, (int) batch.value(column, row));
                    default -> throw new IllegalStateException(vector.toString());
                }
            }
        }
    }
}
