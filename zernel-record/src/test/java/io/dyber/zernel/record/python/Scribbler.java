package io.dyber.zernel.record.python;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.process.AddressSpace.Region;
import io.dyber.zernel.record.process.MappedFiles;
import io.dyber.zernel.record.process.ProcessMemory;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.random.RandomGenerator;

/// Writes garbage where a blocked Python program has its structures.
public final class Scribbler {
    private final int pid;
    private final InterpreterLayout layout;
    private final long bias;
    private final ProcessMemory memory;
    private final RandomGenerator random;

    private Scribbler(int pid, InterpreterLayout layout, long bias, RandomGenerator random) {
        this.pid = pid;
        this.layout = layout;
        this.bias = bias;
        this.memory = ProcessMemory.of(pid);
        this.random = random;
    }

    /// That of a process with one thread that runs Python.
    public static Scribbler of(int pid, RandomGenerator random) throws ElfException {
        for (Region region : new MappedFiles().addressSpace(pid).regions()) {
            if (region.code()) {
                try (ElfFile elf = ElfFile.open(region.file().opened())) {
                    if (Interpreter.of(elf).orElse(null) instanceof Interpreter.Known(InterpreterLayout layout)) {
                        long linked = elf.codeAddress(region.offset()).orElseThrow();
                        return new Scribbler(pid, layout, region.start() - linked, random);
                    }
                }
            }
        }
        throw new AssertionError("process " + pid + " runs no Python");
    }

    /// Writes garbage of one of the kinds that there are.
    public void scribble(int kind) throws IOException {
        InterpreterLayout.Threads threads = layout.threads();
        InterpreterLayout.Frames frames = layout.frames();
        long head = layout.runtime() + bias + threads.interpreters();
        long state = pointer(pointer(head) + threads.threads());
        long holder = state + threads.frame();
        long place = threads.currentFrame() < 0 ? holder : pointer(holder) + threads.currentFrame();
        long frame = pointer(place);
        long outer = pointer(frame + frames.previous());
        long code = pointer(frame + frames.code()) & ~(long) frames.codeTags();
        switch (kind % 12) {
            case 0 -> write(place, anything());
            case 1 -> write(frame + frames.previous(), frame);
            case 2 -> write(frame + frames.previous(), anything());
            case 3 -> write(frame + frames.code(), anything());
            case 4 -> write(outer + frames.previous(), frame);
            case 5 -> write(frame + frames.instruction(), anything());
            case 6 -> {
                write(state + threads.nextThread(), state);
                write(state + threads.threadId(), anything());
            }
            case 7 -> write(head, anything());
            case 8 -> write(pointer(head) + threads.nextInterpreter(), pointer(head));
            case 9 -> write(code + layout.code().name(), anything());
            case 10 -> write(pointer(code + layout.code().file()) + layout.texts().length(), anything());
            default -> write(pointer(code + layout.code().lineTable()) + layout.texts().bytesSize(), anything());
        }
    }

    private long anything() {
        return List.of(0L, 1L, -1L, 7L, 0xffff800000000000L, random.nextLong(), random.nextLong() & 0x7fffffffffffL, Long.MAX_VALUE)
                .get(random.nextInt(8));
    }

    private long pointer(long address) {
        byte[] bytes = memory.read(address, Long.BYTES);
        if (bytes.length < Long.BYTES) {
            throw new AssertionError("nothing to read at " + Long.toHexString(address));
        }
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }

    private void write(long address, long value) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile("/proc/" + pid + "/mem", "rw")) {
            file.seek(address);
            file.write(ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array());
        }
    }
}
