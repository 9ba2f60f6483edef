package io.dyber.zernel.record.nvml;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;

/// How busy a device was, by samples that the driver takes by itself, five or six a second, and keeps for ten seconds
/// or more.
///
/// Each is the share of the time since the one before it in which a kernel ran. Read once a second, they cover all of
/// the time, where the utilization that the driver tells is of the last fifth of a second.
final class BusySamples {
    /// `NVML_GPU_UTILIZATION_SAMPLES` of `nvmlSamplingType_t`.
    private static final int GPU_UTILIZATION = 1;

    /// `NVML_VALUE_TYPE_UNSIGNED_INT` of `nvmlValueType_t`.
    private static final int UNSIGNED_INT = 1;

    /// `struct nvmlSample_t { unsigned long long timeStamp; nvmlValue_t sampleValue; }`, microseconds of the time of
    /// day and a union of 8 bytes.
    private static final int SIZE = 16;

    private static final int LEAST_ROOM = 128;
    private static final int MOST_ROOM = 1 << 16;

    private final Nvml nvml;
    private final MemorySegment device;
    private final MemorySegment type;
    private final MemorySegment count;
    private long seenMicros;

    /// Gets each sample.
    @FunctionalInterface
    interface Taker {
        /// Takes one.
        ///
        /// @param micros time of day at its end
        /// @param percent of the time since the sample before
        void take(long micros, int percent);
    }

    BusySamples(Nvml nvml, MemorySegment device) {
        this.nvml = nvml;
        this.device = device;
        this.type = nvml.arena().allocate(JAVA_INT);
        this.count = nvml.arena().allocate(JAVA_INT);
    }

    /// Hands on the samples that came since the last call, the oldest first; all that the driver has the first time.
    ///
    /// After somebody has set the time of day back, some may be told again, later than now.
    ///
    /// `nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t device, nvmlSamplingType_t type,
    /// unsigned long long lastSeenTimeStamp, nvmlValueType_t *sampleValType, unsigned int *sampleCount,
    /// nvmlSample_t *samples)`
    ///
    /// @param nowMicros time of day
    /// @return the return code; a success where none came
    int read(long nowMicros, Taker taker) {
        seenMicros = Math.min(seenMicros, nowMicros);
        MethodHandle function = nvml.function(
                List.of("nvmlDeviceGetSamples"), ADDRESS, JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS);
        try (Arena arena = Arena.ofConfined()) {
            int code = (int)
                    function.invokeExact(device, GPU_UTILIZATION, seenMicros, type, count, MemorySegment.NULL);
            if (code == NvmlCode.SUCCESS) {
                int room = Math.clamp(count.get(JAVA_INT, 0), LEAST_ROOM, MOST_ROOM);
                MemorySegment samples = arena.allocate((long) SIZE * room, JAVA_LONG.byteAlignment());
                count.set(JAVA_INT, 0, room);
                code = (int) function.invokeExact(device, GPU_UTILIZATION, seenMicros, type, count, samples);
                if (code == NvmlCode.SUCCESS && type.get(JAVA_INT, 0) != UNSIGNED_INT) {
                    code = NvmlCode.NOT_SUPPORTED;
                }
                if (code == NvmlCode.SUCCESS) {
                    hand(samples, Math.min(count.get(JAVA_INT, 0), room), taker);
                }
            }
            return code == NvmlCode.NOT_FOUND ? NvmlCode.SUCCESS : code;
        } catch (Throwable e) {
            throw Nvml.unexpected(e);
        }
    }

    private void hand(MemorySegment samples, int there, Taker taker) {
        for (int i = 0; i < there; i++) {
            long micros = samples.get(JAVA_LONG, (long) i * SIZE);
            if (micros > seenMicros) {
                seenMicros = micros;
                taker.take(micros, samples.get(JAVA_INT, (long) i * SIZE + Long.BYTES));
            }
        }
    }
}
