package io.dyber.zernel.record.recording;

import io.dyber.zernel.record.Comparison;
import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.zip.GZIPOutputStream;

/// Bytes per event of the same events, every value of them, in other formats.
///
/// Perfetto: TrackEvents, two packets a span, with interned names, categories and annotation names, and times as
/// increments; its annotations are typed. Chrome: complete events, what is no field of its own in `args`.
final class SizeBenchmark {
    private static final int BATCHES = 32;
    private static final List<String> FIELDS = List.of("kind", "name", "ts_ns", "dur_ns", "pid", "tid");

    private final MixedEvents events = new MixedEvents(BATCHES);
    private final List<Column> columns = events.schema().columns();
    private final int kind = events.schema().index("kind");
    private final int name = events.schema().index("name");
    private final int start = events.schema().index("ts_ns");
    private final int duration = events.schema().index("dur_ns");
    private final int pid = events.schema().index("pid");
    private final int tid = events.schema().index("tid");

    public static void main(String[] args) throws IOException {
        new SizeBenchmark().compare();
    }

    private interface Encoding {
        void write(OutputStream out) throws IOException;
    }

    private void compare() throws IOException {
        Comparison sizes = new Comparison("Size, " + MixedEvents.DESCRIPTION, "bytes/event");
        sizes.add("run.parquet", recording() / (double) events.rows());
        add("CSV", this::csv, sizes);
        add("Chrome JSON", this::chrome, sizes);
        add("Perfetto protobuf", this::perfetto, sizes);
        sizes.print();
    }

    private void add(String format, Encoding encoding, Comparison sizes) throws IOException {
        CountingOutput plain = new CountingOutput();
        CountingOutput zipped = new CountingOutput();
        encoding.write(plain);
        try (GZIPOutputStream gzip = new GZIPOutputStream(zipped, 1 << 16)) {
            encoding.write(gzip);
        }
        sizes.add(format + ", gzip", zipped.bytes / (double) events.rows());
        sizes.add(format, plain.bytes / (double) events.rows());
    }

    private long recording() throws IOException {
        Path folder = Files.createTempDirectory("zernel-benchmark");
        Path output = folder.resolve("run.parquet");
        try (RecordingFile file =
                RecordingFile.create(output, columns, events.texts(), new RecordingFile.Options())) {
            events.batches().forEach(file::write);
            file.finish(Map.of());
        }
        long size = Files.size(output);
        Files.delete(output);
        Files.delete(folder);
        return size;
    }

    private void rows(BiConsumer<Batch, Integer> each) {
        for (Batch batch : events.batches()) {
            for (int row = 0; row < batch.rows(); row++) {
                each.accept(batch, row);
            }
        }
    }

    private String text(Batch batch, int column, int row) {
        long value = batch.value(column, row);
        return columns.get(column).type() == ColumnType.VARCHAR
                ? events.texts().text((int) value)
                : Long.toString(value);
    }

    private void csv(OutputStream out) throws IOException {
        Lines lines = new Lines(out);
        lines.add(String.join(",", columns.stream().map(Column::name).toList()));
        rows((batch, row) -> {
            StringBuilder line = new StringBuilder();
            for (int c = 0; c < columns.size(); c++) {
                line.append(c == 0 ? "" : ",").append(batch.isNull(c, row) ? "" : text(batch, c, row));
            }
            lines.add(line);
        });
        lines.flush();
    }

    private void chrome(OutputStream out) throws IOException {
        Lines lines = new Lines(out);
        lines.add("{\"traceEvents\":[");
        rows((batch, row) -> {
            boolean span = !batch.isNull(duration, row);
            StringBuilder line = new StringBuilder("{\"ph\":\"").append(span ? 'X' : 'i')
                    .append("\",\"cat\":\"").append(text(batch, kind, row))
                    .append("\",\"name\":\"").append(text(batch, name, row))
                    .append("\",\"ts\":").append(micros(batch.value(start, row)));
            if (span) {
                line.append(",\"dur\":").append(micros(batch.value(duration, row)));
            }
            line.append(",\"pid\":").append(batch.value(pid, row)).append(",\"tid\":").append(batch.value(tid, row))
                    .append(",\"args\":{");
            String comma = "";
            for (int c = 0; c < columns.size(); c++) {
                if (!batch.isNull(c, row) && !FIELDS.contains(columns.get(c).name())) {
                    String quote = columns.get(c).type() == ColumnType.VARCHAR ? "\"" : "";
                    line.append(comma).append('"').append(columns.get(c).name()).append("\":")
                            .append(quote).append(text(batch, c, row)).append(quote);
                    comma = ",";
                }
            }
            lines.add(line.append("}},"));
        });
        lines.add("{}]}");
        lines.flush();
    }

    private static String micros(long nanos) {
        return nanos / 1000 + "." + String.valueOf(1000 + nanos % 1000).substring(1);
    }

    /// Packets of one sequence in order of time.
    private void perfetto(OutputStream out) throws IOException {
        record Moment(long time, Batch batch, int row, boolean end) {}
        List<Moment> moments = new ArrayList<>();
        rows((batch, row) -> {
            long time = batch.value(start, row);
            moments.add(new Moment(time, batch, row, false));
            if (!batch.isNull(duration, row)) {
                moments.add(new Moment(time + batch.value(duration, row), batch, row, true));
            }
        });
        moments.sort(Comparator.comparingLong(Moment::time));
        Map<String, Integer> interned = new HashMap<>();
        long last = moments.getFirst().time();
        for (Moment moment : moments) {
            Protobuf packet = new Protobuf();
            packet.number(8, moment.time() - last).number(10, 1);
            packet.message(11, trackEvent(moment.batch(), moment.row(), moment.end(), interned, packet));
            new Protobuf().message(1, packet).writeTo(out);
            last = moment.time();
        }
    }

    private Protobuf trackEvent(Batch batch, int row, boolean end, Map<String, Integer> interned, Protobuf packet) {
        Protobuf event = new Protobuf();
        int type = end ? 2 : batch.isNull(duration, row) ? 3 : 1;
        event.number(9, type).number(11, batch.value(tid, row));
        if (end) {
            return event;
        }
        event.number(3, intern(1, text(batch, kind, row), interned, packet));
        event.number(10, intern(2, text(batch, name, row), interned, packet));
        for (int c = 0; c < columns.size(); c++) {
            if (batch.isNull(c, row) || FIELDS.contains(columns.get(c).name())) {
                continue;
            }
            Protobuf annotation = new Protobuf().number(1, intern(3, columns.get(c).name(), interned, packet));
            if (columns.get(c).type() == ColumnType.VARCHAR) {
                annotation.number(17, intern(29, text(batch, c, row), interned, packet));
            } else {
                annotation.number(4, batch.value(c, row));
            }
            event.message(4, annotation);
        }
        return event;
    }

    /// The number of a text; the packet that has it first brings it.
    private static int intern(int field, String text, Map<String, Integer> interned, Protobuf packet) {
        String key = field + text;
        Integer known = interned.get(key);
        if (known != null) {
            return known;
        }
        int number = interned.size() + 1;
        interned.put(key, number);
        packet.message(12, new Protobuf().message(field, new Protobuf().number(1, number).text(2, text)));
        return number;
    }

    /// A protobuf message being written.
    private static final class Protobuf {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(64);

        Protobuf number(int field, long value) {
            varint((long) field << 3);
            varint(value);
            return this;
        }

        Protobuf text(int field, String value) {
            return bytes(field, value.getBytes(StandardCharsets.UTF_8));
        }

        Protobuf message(int field, Protobuf message) {
            return bytes(field, message.bytes.toByteArray());
        }

        void writeTo(OutputStream out) throws IOException {
            bytes.writeTo(out);
        }

        private Protobuf bytes(int field, byte[] value) {
            varint(((long) field << 3) | 2);
            varint(value.length);
            bytes.writeBytes(value);
            return this;
        }

        private void varint(long value) {
            long rest = value;
            while ((rest & ~0x7FL) != 0) {
                bytes.write((int) ((rest & 0x7F) | 0x80));
                rest >>>= 7;
            }
            bytes.write((int) rest);
        }
    }

    /// Text, line by line.
    private static final class Lines {
        private final OutputStream out;
        private final StringBuilder text = new StringBuilder();

        Lines(OutputStream out) {
            this.out = out;
        }

        void add(CharSequence line) {
            text.append(line).append('\n');
            if (text.length() > 1 << 16) {
                flush();
            }
        }

        void flush() {
            try {
                out.write(text.toString().getBytes(StandardCharsets.UTF_8));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            text.setLength(0);
        }
    }

    private static final class CountingOutput extends OutputStream {
        private long bytes;

        @Override
        public void write(int value) {
            bytes++;
        }

        @Override
        public void write(byte[] value, int offset, int length) {
            bytes += length;
        }
    }
}
