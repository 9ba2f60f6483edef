package io.dyber.zernel.record.event;

import io.dyber.zernel.record.schema.CodeRecord;
import io.dyber.zernel.record.schema.StackRecord;
import io.dyber.zernel.record.schema.Wire;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The texts of stacks by the numbers that events carry instead (`z_stack` of `bpf/zernel.bpf.h`).
///
/// The kernel side tells a stack when it first sees it in a process, and again when it has forgotten that it did, which is
/// sooner than it is forgotten here. Not thread-safe.
final class StackTexts {
    private static final int NO_TEXT = -1;
    /// In the tables: told, but nothing of it is known.
    private static final int NAMELESS = Integer.MAX_VALUE;

    private final StringDictionary texts;
    private KeyTable recent = new KeyTable(1 << 16);
    private KeyTable older = new KeyTable(16);
    private Optional<StackRecord> layout = Optional.empty();
    private Optional<CodeRecord> code = Optional.empty();
    private StackNames names = StackNames.NONE;

    StackTexts(StringDictionary texts) {
        this.texts = texts;
    }

    void readAs(StackRecord record, CodeRecord codeRecord, StackNames stackNames) {
        layout = Optional.of(record);
        code = Optional.of(codeRecord);
        names = stackNames;
    }

    void forget(int pid) {
        names.forget(pid);
    }

    /// The text of a number in an event of a process, -1 for none.
    int text(int pid, long stack) {
        if (stack == 0) {
            return NO_TEXT;
        }
        int text = recent.get(pid, stack);
        if (text < 0) {
            text = older.get(pid, stack);
            if (text >= 0) {
                put(pid, stack, text);
            }
        }
        return text == NAMELESS ? NO_TEXT : text;
    }

    /// Takes in a record that tells a stack.
    void learn(ByteBuffer data, int at) {
        layout.ifPresent(record -> {
            StackFrames frames = frames(record, data, at);
            Optional<String> text = names.text(frames);
            put(frames.pid(), data.getLong(at + record.stack()), text.map(texts::idOfMany).orElse(NAMELESS));
        });
    }

    /// Takes in a record that tells what a code object says.
    void learnCode(ByteBuffer data, int at) {
        code.ifPresent(record -> {
            List<StackNames.CodeParts.Part> parts = new ArrayList<>();
            for (int part : record.parts()) {
                byte[] bytes = new byte[data.getInt(at + part + CodeRecord.SIZE)];
                data.get(at + part + CodeRecord.DATA, bytes);
                parts.add(new StackNames.CodeParts.Part(data.getLong(at + part + CodeRecord.ADDRESS), bytes));
            }
            names.learn(new StackNames.CodeParts(
                    data.getInt(at + Wire.PID),
                    data.getLong(at + record.runtime()),
                    parts.getFirst().address(),
                    parts));
        });
    }

    private void put(int pid, long stack, int text) {
        if (recent.isFull()) {
            older = recent;
            recent = new KeyTable(older.capacity());
        }
        recent.put(pid, stack, text);
    }

    private static StackFrames frames(StackRecord record, ByteBuffer data, int at) {
        List<Long> natives = new ArrayList<>();
        for (int i = 0; i < data.getInt(at + record.nativeFrames()); i++) {
            natives.add(data.getLong(at + record.natives() + Long.BYTES * i));
        }
        List<StackFrames.PythonFrame> pythons = new ArrayList<>();
        for (int i = 0; i < data.getInt(at + record.pythonFrames()); i++) {
            int frame = at + record.pythons() + record.frameSize() * i;
            pythons.add(new StackFrames.PythonFrame(
                    data.getLong(frame),
                    data.getLong(frame + record.instruction()),
                    data.getInt(frame + record.identity()),
                    (data.getInt(frame + record.frameFlags()) & StackRecord.ENTERED_FROM_C) != 0));
        }
        int flags = data.getInt(at + record.flags());
        return new StackFrames(
                data.getInt(at + Wire.PID),
                data.getLong(at + record.runtime()),
                natives,
                pythons,
                (flags & StackRecord.DEEPER) != 0,
                (flags & StackRecord.UNREAD) != 0);
    }
}
