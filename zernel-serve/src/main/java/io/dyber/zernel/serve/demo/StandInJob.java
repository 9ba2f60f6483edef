package io.dyber.zernel.serve.demo;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/// The demo's job where PyTorch is not installed: a program of its own that works like a training loop, with the same
/// flaw. Two threads read a file and pack each piece with the system's zlib, a third waits for the pieces and
/// multiplies matrices. Its system calls, waits and calls of `compress2` are as real as any.
///
/// No PyTorch means no `record_function` regions, so a recording of it has no training steps.
public final class StandInJob {
    private static final int STEPS = 100;
    private static final int LOADERS = 2;
    private static final int PIECE_BYTES = 256 << 10;
    private static final int SIZE = 128;
    private static final int DEFLATE_LEVEL = 9;

    private StandInJob() {}

    /// Runs it; takes no arguments.
    public static void main(String... arguments) throws IOException, InterruptedException {
        Path data = Files.createTempFile("zernel-demo", ".data");
        try {
            Files.write(data, text(STEPS * PIECE_BYTES / 10));
            run(data);
        } finally {
            Files.deleteIfExists(data);
        }
    }

    private static void run(Path data) throws InterruptedException {
        BlockingQueue<Integer> pieces = new ArrayBlockingQueue<>(2);
        for (int i = 0; i < LOADERS; i++) {
            Thread.ofPlatform().daemon().name("loader-" + i).start(() -> load(data, pieces));
        }
        double[] left = new Random(1).doubles(SIZE * SIZE).toArray();
        double[] product = left;
        long waited = 0;
        long begin = System.nanoTime();
        for (int step = 0; step < STEPS; step++) {
            long asked = System.nanoTime();
            int packed = pieces.take();
            waited += System.nanoTime() - asked;
            product = multiply(left, product, 1.0 / packed);
        }
        double seconds = (System.nanoTime() - begin) / 1e9;
        System.out.printf(
                "the stand-in job measured itself: %d rounds in %.2f s, %.2f s of it waiting for data (%.0f %%)%n",
                STEPS, seconds, waited / 1e9, waited / 1e7 / seconds);
    }

    private static void load(Path data, BlockingQueue<Integer> pieces) {
        byte[] piece = new byte[PIECE_BYTES];
        try (Zlib zlib = new Zlib()) {
            while (true) {
                try (InputStream in = Files.newInputStream(data)) {
                    while (in.readNBytes(piece, 0, piece.length) == piece.length) {
                        pieces.put(zlib.pack(piece));
                    }
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException("reading '" + data + "'", e);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private static double[] multiply(double[] left, double[] right, double scale) {
        double[] product = new double[SIZE * SIZE];
        for (int row = 0; row < SIZE; row++) {
            for (int k = 0; k < SIZE; k++) {
                double factor = left[row * SIZE + k] * scale;
                for (int column = 0; column < SIZE; column++) {
                    product[row * SIZE + column] += factor * right[k * SIZE + column];
                }
            }
        }
        return product;
    }

    /// Bytes that pack about as well as text.
    private static byte[] text(int length) {
        byte[] bytes = new byte[length];
        Random random = new Random(7);
        for (int i = 0; i < length; i++) {
            bytes[i] = i >= 4096 && random.nextInt(4) > 0 ? bytes[i - 4096] : (byte) ('a' + random.nextInt(26));
        }
        return bytes;
    }

    /// `int compress2(Bytef *dest, uLongf *destLen, const Bytef *source, uLong sourceLen, int level)` of zlib.
    private static final class Zlib implements AutoCloseable {
        private final Arena arena = Arena.ofConfined();
        private final MethodHandle compress2 = Linker.nativeLinker()
                .downcallHandle(
                        SymbolLookup.libraryLookup("libz.so.1", arena).findOrThrow("compress2"),
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_INT,
                                ValueLayout.ADDRESS,
                                ValueLayout.ADDRESS,
                                ValueLayout.ADDRESS,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_INT));
        private final MemorySegment source = arena.allocate(PIECE_BYTES);
        private final MemorySegment packed = arena.allocate(2L * PIECE_BYTES);
        private final MemorySegment packedLength = arena.allocate(ValueLayout.JAVA_LONG);

        /// The packed length of `piece`.
        int pack(byte[] piece) {
            MemorySegment.copy(piece, 0, source, ValueLayout.JAVA_BYTE, 0, piece.length);
            packedLength.set(ValueLayout.JAVA_LONG, 0, packed.byteSize());
            try {
                int status = (int) compress2.invokeExact(
                        packed, packedLength, source, (long) piece.length, DEFLATE_LEVEL);
                if (status != 0) {
                    throw new IllegalStateException("compress2: status " + status);
                }
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
            return (int) packedLength.get(ValueLayout.JAVA_LONG, 0);
        }

        @Override
        public void close() {
            arena.close();
        }
    }
}
