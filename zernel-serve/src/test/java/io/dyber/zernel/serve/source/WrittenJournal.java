package io.dyber.zernel.serve.source;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.WriteChannel;
import org.apache.arrow.vector.ipc.message.ArrowDictionaryBatch;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.arrow.vector.util.DictionaryUtility;

/// Writes a journal as the recorder does: text columns share dictionary 1, which grows by a delta before each batch
/// that needs new words.
final class WrittenJournal implements AutoCloseable {
    private static final DictionaryEncoding WORDS = new DictionaryEncoding(1, false, new ArrowType.Int(32, true));

    private final BufferAllocator allocator = new RootAllocator();
    private final FileChannel file;
    private final WriteChannel out;
    private final VectorSchemaRoot root;
    private final List<String> words = new ArrayList<>();
    private int written;
    private int rows;

    WrittenJournal(Path path, int segment) throws IOException {
        file = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        out = new WriteChannel(file);
        FieldType text = new FieldType(true, new ArrowType.Int(32, true), WORDS);
        List<Field> fields = new ArrayList<>();
        fields.add(new Field("kind", text, null));
        fields.add(new Field("name", text, null));
        for (String number : List.of("ts_ns", "dur_ns", "pid", "tid")) {
            fields.add(Field.nullable(number, new ArrowType.Int(64, true)));
        }
        root = VectorSchemaRoot.create(new Schema(fields, Map.of("zernel.segment", "" + segment)), allocator);
        try (VarCharVector none = new VarCharVector("words", allocator)) {
            none.allocateNew();
            DictionaryProvider provider = new DictionaryProvider.MapDictionaryProvider(new Dictionary(none, WORDS));
            List<Field> asStrings = new ArrayList<>();
            for (Field field : fields) {
                asStrings.add(DictionaryUtility.toMessageFormat(field, provider, new HashSet<>()));
            }
            MessageSerializer.serialize(out, new Schema(asStrings, root.getSchema().getCustomMetadata()));
        }
    }

    WrittenJournal add(String kind, String name, long start, long duration, long pid) {
        ((IntVector) root.getVector("kind")).setSafe(rows, word(kind));
        ((IntVector) root.getVector("name")).setSafe(rows, word(name));
        ((BigIntVector) root.getVector("ts_ns")).setSafe(rows, start);
        ((BigIntVector) root.getVector("dur_ns")).setSafe(rows, duration);
        ((BigIntVector) root.getVector("pid")).setSafe(rows, pid);
        ((BigIntVector) root.getVector("tid")).setSafe(rows, pid);
        rows++;
        return this;
    }

    /// Appends the added events as a batch.
    void flush() throws IOException {
        writeWords();
        root.setRowCount(rows);
        try (ArrowRecordBatch batch = new VectorUnloader(root).getRecordBatch()) {
            MessageSerializer.serialize(out, batch);
        }
        for (FieldVector vector : root.getFieldVectors()) {
            vector.reset();
        }
        rows = 0;
    }

    /// The bytes written so far.
    long size() throws IOException {
        return file.size();
    }

    @Override
    public void close() throws IOException {
        root.close();
        allocator.close();
        file.close();
    }

    private void writeWords() throws IOException {
        if (written == words.size()) {
            return;
        }
        try (VarCharVector fresh = new VarCharVector("words", allocator)) {
            fresh.allocateNew();
            for (int i = written; i < words.size(); i++) {
                fresh.setSafe(i - written, words.get(i).getBytes(StandardCharsets.UTF_8));
            }
            fresh.setValueCount(words.size() - written);
            VectorSchemaRoot single = new VectorSchemaRoot(List.of(fresh.getField()), List.of(fresh));
            single.setRowCount(fresh.getValueCount());
            try (ArrowDictionaryBatch batch =
                    new ArrowDictionaryBatch(1, new VectorUnloader(single).getRecordBatch(), written > 0)) {
                MessageSerializer.serialize(out, batch);
            }
        }
        written = words.size();
    }

    private int word(String text) {
        int known = words.indexOf(text);
        if (known >= 0) {
            return known;
        }
        words.add(text);
        return words.size() - 1;
    }
}
