package io.dyber.zernel.record.stack;

import io.dyber.zernel.record.python.InterpreterLayout;
import io.dyber.zernel.record.python.InterpreterLayout.Frames.Entry;
import io.dyber.zernel.record.schema.Btf;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.stream.Collectors;

/// Writes a `struct python` of `bpf/python.bpf.h`: where the programs find the frames of an interpreter.
final class PythonStruct {
    private static final int NOT_THERE = 0xff;
    private static final int NAMES_BYTES = 40;

    private final Map<String, Integer> offsets;
    private final int size;

    /// @param btf of an object that has the struct
    PythonStruct(Btf btf) {
        Btf.Struct struct = btf.struct("python").orElseThrow();
        this.offsets = struct.members().stream().collect(Collectors.toMap(Btf.Member::name, Btf.Member::offset));
        this.size = struct.size();
    }

    /// @param bias of the file in the process: what is to be added to addresses as linked
    byte[] bytes(InterpreterLayout layout, long bias) {
        ByteBuffer value = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        value.putLong(at("runtime"), layout.runtime() + bias);
        value.putLong(at("code_type"), layout.codeType() + bias);
        putThreads(value, layout.threads());
        putFrames(value, layout.frames());
        putCode(value, layout.code());
        putTexts(value, layout.texts());
        return value.array();
    }

    private void putThreads(ByteBuffer value, InterpreterLayout.Threads threads) {
        value.putInt(at("interpreters"), threads.interpreters());
        value.putInt(at("next_interpreter"), threads.nextInterpreter());
        value.putInt(at("threads"), threads.threads());
        value.putInt(at("next_thread"), threads.nextThread());
        value.putInt(at("thread_id"), threads.threadId());
        value.putInt(at("frame"), threads.frame());
        putByte(value, "frame_step", threads.currentFrame());
    }

    private void putFrames(ByteBuffer value, InterpreterLayout.Frames frames) {
        int instructionSize = frames.index() ? Integer.BYTES : Long.BYTES;
        int end = Math.max(
                Math.max(frames.code(), frames.previous()) + Long.BYTES,
                Math.max(frames.instruction() + instructionSize, Math.max(frames.owner(), frames.entryFlag()) + 1));
        putByte(value, "frame_size", end);
        putByte(value, "code", frames.code());
        putByte(value, "previous", frames.previous());
        putByte(value, "instruction", frames.instruction());
        putByte(value, "instruction_size", instructionSize);
        putByte(value, "owner", frames.owner());
        putByte(value, "foreign", frames.foreignOwner());
        putByte(value, "entry", frames.entry() == Entry.FLAG ? frames.entryFlag() : -1);
        putByte(value, "tags", frames.codeTags());
    }

    private void putCode(ByteBuffer value, InterpreterLayout.Code code) {
        int end = Math.max(Math.max(code.type(), code.lineTable()), Math.max(code.file(), code.name())) + Long.BYTES;
        putByte(value, "type", code.type());
        putByte(value, "code_size", end);
        putByte(value, "file_name", code.file());
        putByte(value, "function_name", code.name());
        putByte(value, "line_table", code.lineTable());
        int first = Math.min(code.lineTable(), Math.min(code.file(), code.name()));
        int last = Math.max(code.lineTable(), Math.max(code.file(), code.name()));
        if (last + Long.BYTES - first > NAMES_BYTES) {
            throw new IllegalArgumentException("describing a Python: the names of its code lie " + (last - first) + " bytes apart");
        }
        putByte(value, "names", first);
    }

    private void putTexts(ByteBuffer value, InterpreterLayout.Texts texts) {
        putByte(value, "text_length", texts.length());
        putByte(value, "text_state", texts.state());
        putByte(value, "text_kind", texts.kindShift());
        putByte(value, "text", Math.max(texts.ascii(), texts.compact()));
        putByte(value, "bytes_size", texts.bytesSize());
        putByte(value, "bytes", texts.bytes());
    }

    private void putByte(ByteBuffer value, String member, int offset) {
        if (offset >= NOT_THERE) {
            throw new IllegalArgumentException("describing a Python: '" + member + "' lies at " + offset);
        }
        value.put(at(member), (byte) (offset < 0 ? NOT_THERE : offset));
    }

    private int at(String member) {
        return offsets.getOrDefault(member, -1);
    }
}
