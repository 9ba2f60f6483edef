package io.dyber.zernel.record.event;

import io.dyber.zernel.record.schema.CodeRecord;
import io.dyber.zernel.record.schema.Field;
import io.dyber.zernel.record.schema.FileRecord;
import io.dyber.zernel.record.schema.Schema;
import io.dyber.zernel.record.schema.StackRecord;
import io.dyber.zernel.record.schema.Wire;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/// From ring records to rows in batches.
///
/// One thread calls it; batches are handed on from that thread and reused after the consumer returns.
public final class Decoder {
    private static final int MOST_FUNCTIONS = 1 << 16;
    private static final int NOT_A_CALL = 0;
    private static final int CALL = 1;

    private final List<EventReader> readers;
    private final CallReader calls;
    private final CallCounts counts = new CallCounts();
    private final Rows rows;
    private final StringDictionary texts;
    private final FilePaths files;
    private final StackTexts stacks;
    private final int[] names = new int[MOST_FUNCTIONS];
    private final byte[] functionKinds = new byte[MOST_FUNCTIONS];
    private final RowEnricher[] interpretations;
    private final Row row;
    private final int processKind;
    private final int childPid;
    private final int childTid;
    private final int exit;
    private final int exec;
    private final ExitedProcesses endings = new ExitedProcesses();
    private Consumer<Integer> gone = _ -> {};

    /// Kinds are numbered in the schema's order, from 1, as their `kind_` constants in the BPF objects.
    ///
    /// @param clockOffset what to add to CLOCK_MONOTONIC for nanoseconds since the epoch
    public Decoder(Schema schema, Wire wire, StringDictionary texts, long clockOffset, int batchRows, Consumer<Batch> full) {
        this.texts = texts;
        this.rows = new Rows(schema, new Batch(schema.columns(), batchRows), full);
        ThreadNames comms = new ThreadNames(texts);
        this.stacks = new StackTexts(texts);
        this.calls = new CallReader(wire, schema, texts, comms, rows, clockOffset, counts, stacks);
        this.files = new FilePaths(texts);
        this.readers = schema.kinds().stream()
                .map(kind -> new EventReader(kind, schema, texts, comms, files, stacks, clockOffset))
                .toList();
        java.util.Arrays.fill(names, -1);
        this.row = new Row(rows);
        this.interpretations = new RowEnricher[readers.size()];
        java.util.Arrays.fill(interpretations, RowEnricher.NONE);
        this.processKind = numberOf(schema, "process");
        this.childPid = offsetInProcess(schema, "child_pid");
        this.childTid = offsetInProcess(schema, "child_tid");
        this.exit = texts.id("exit");
        this.exec = texts.id("exec");
    }

    private static int offsetInProcess(Schema schema, String field) {
        return schema.kinds().stream()
                .filter(kind -> kind.kind().equals("process"))
                .flatMap(kind -> kind.fields().stream())
                .filter(candidate -> candidate.name().equals(field))
                .mapToInt(Field::offset)
                .findFirst()
                .orElse(0);
    }

    /// The number of a kind in its `kind_` constant, 0 when the schema has no such kind.
    public static int numberOf(Schema schema, String kind) {
        for (int i = 0; i < schema.kinds().size(); i++) {
            if (schema.kinds().get(i).kind().equals(kind)) {
                return i + 1;
            }
        }
        return 0;
    }

    /// Gives function number `function` the name its events carry.
    public void name(int function, String name) {
        names[function] = texts.id(name);
    }

    /// Registers what completes the rows of a kind that is seen in the kernel.
    public void interpret(String kind, RowEnricher interpretation) {
        for (int i = 0; i < readers.size(); i++) {
            if (readers.get(i).isOf(texts.id(kind))) {
                interpretations[i] = interpretation;
            }
        }
    }

    /// Registers a listener that is told of each process that is gone, when nothing of it can come any more.
    public void onceGone(Consumer<Integer> listener) {
        gone = listener;
    }

    /// Says how the call records of a function become rows.
    public void define(int function, CallShape shape) {
        name(function, shape.name());
        functionKinds[function] = CALL;
        calls.define(function, shape);
    }

    /// Says where the parts of a file record lie, and who knows the mapped files of a process. Without it, file
    /// records are not read.
    public void readFiles(FileRecord layout, MappedPath mapped) {
        files.readAs(layout, mapped);
    }

    /// Says where the parts of the records of stacks lie, and who knows the names of frames. Without it, stacks are not read.
    public void readStacks(StackRecord layout, CodeRecord code, StackNames names) {
        stacks.readAs(layout, code, names);
    }

    /// Takes in the path of a file that is mapped already, for page faults on it.
    public void learnMapped(int device, long inode, String path) {
        files.learn(device, inode, path);
    }

    /// Whether any call of these functions that was entered before this CLOCK_MONOTONIC time is open, and no call inside
    /// it is its row.
    public boolean isOpen(Set<Integer> functions, long before) {
        return calls.isOpen(functions, before);
    }

    /// Says that the ends of open calls of these functions will not be seen, and that the calls inside them are the rows.
    public void coverOpen(Set<Integer> functions) {
        calls.coverOpen(functions);
    }

    /// Says that the ends of open calls of these functions will not be seen: they are rows without a duration.
    public void giveUpOpen(Set<Integer> functions) {
        calls.giveUpOpen(functions);
    }

    /// Decodes one record.
    public void read(ByteBuffer data, int at) {
        int function = Short.toUnsignedInt(data.getShort(at + Wire.FUNCTION));
        if (functionKinds[function] != NOT_A_CALL) {
            calls.read(data, at, function);
            return;
        }
        int kind = Short.toUnsignedInt(data.getShort(at + Wire.KIND));
        if (kind == FileRecord.KIND) {
            files.learn(data, at);
            return;
        }
        if (kind == StackRecord.KIND) {
            stacks.learn(data, at);
            return;
        }
        if (kind == CodeRecord.KIND) {
            stacks.learnCode(data, at);
            return;
        }
        if (kind == 0 || kind > readers.size()) {
            counts.unknown++;
            return;
        }
        if (kind == processKind) {
            noteLife(data, at, names[function]);
        }
        counts.event(function);
        readers.get(kind - 1).read(data, at, names[function], rows);
        interpretations[kind - 1].complete(row, 0);
    }

    private void noteLife(ByteBuffer data, int at, int name) {
        long time = data.getLong(at + Wire.START);
        int child = data.getInt(at + childTid);
        int pid = data.getInt(at + childPid);
        if (child > 0) {
            calls.born(child, time, pid > 0);
        }
        if (pid > 0) {
            endings.began(pid);
        }
        if (name == exec) {
            stacks.forget(data.getInt(at + Wire.PID));
        }
        if (name == exit) {
            endings.ended(data.getInt(at + Wire.PID), time);
        }
        endings.release(time, processes -> {
            calls.release(processes);
            processes.forEach(stacks::forget);
            processes.forEach(gone);
        });
    }

    /// Hands on the rows decoded so far.
    public void flush() {
        rows.flush();
    }

    /// Turns what is still open into rows without a duration and hands everything on.
    public void finish() {
        calls.finish();
        rows.flush();
    }

    /// Adds a row that no record brought: `values` are column and value in turn, texts as dictionary ids.
    public void add(String kind, long... values) {
        rows.add(texts.id(kind));
        counts.add(kind);
        for (int i = 0; i + 1 < values.length; i += 2) {
            rows.put((int) values[i], values[i + 1]);
        }
    }

    public CallCounts counts() {
        return counts;
    }
}
