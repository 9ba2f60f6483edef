package io.dyber.zernel.record.nvml;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;

/// GPU performance monitoring, the part of NVML that reads hardware counters; Hopper and newer, drivers from 520 on.
///
/// Versions of its structures are plain numbers, and have stayed 1 while `NVML_GPM_METRIC_MAX` grew: memory is that of
/// the largest, and a driver looks only at as many metrics as it is told of.
final class Gpm {
    private static final int VERSION = 1;

    /// `struct nvmlGpmSupport_t { unsigned version, isSupportedDevice; }`
    private static final int SUPPORT_SIZE = 8;

    /// `struct nvmlGpmMetricsGet_t { unsigned version, numMetrics; nvmlGpmSample_t sample1, sample2;
    /// nvmlGpmMetric_t metrics[333]; }`, as of NVML 13.2.
    private static final int METRICS_OFFSET = 24;

    /// `struct nvmlGpmMetric_t { unsigned metricId; nvmlReturn_t nvmlReturn; double value;
    /// struct { char *shortName, *longName, *unit; } metricInfo; }`
    private static final int METRIC_SIZE = 40;

    private static final int MOST_METRICS = 333;

    private final Nvml nvml;
    private final MemorySegment support;
    private final MemorySegment metrics;
    private final MemorySegment created;

    Gpm(Nvml nvml) {
        this.nvml = nvml;
        this.support = nvml.arena().allocate(SUPPORT_SIZE, 8);
        this.metrics = nvml.arena().allocate(METRICS_OFFSET + MOST_METRICS * METRIC_SIZE, 8);
        this.created = nvml.arena().allocate(ADDRESS);
    }

    /// Whether a device has counters.
    ///
    /// `nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t *gpmSupport)`
    ///
    /// @return the return code, [NvmlCode#SUCCESS] where it has
    int support(MemorySegment device) {
        MethodHandle function = nvml.function(List.of("nvmlGpmQueryDeviceSupport"), ADDRESS, ADDRESS);
        support.set(JAVA_INT, 0, VERSION);
        support.set(JAVA_INT, 4, 0);
        try {
            int code = (int) function.invokeExact(device, support);
            return code == NvmlCode.SUCCESS && support.get(JAVA_INT, 4) == 0 ? NvmlCode.NOT_SUPPORTED : code;
        } catch (Throwable e) {
            throw Nvml.unexpected(e);
        }
    }

    /// Memory for a sample, which the caller frees; null where there is none.
    ///
    /// `nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *gpmSample)`
    MemorySegment allocate() {
        MethodHandle function = nvml.function(List.of("nvmlGpmSampleAlloc"), ADDRESS);
        try {
            int code = (int) function.invokeExact(created);
            return code == NvmlCode.SUCCESS ? created.get(ADDRESS, 0) : MemorySegment.NULL;
        } catch (Throwable e) {
            throw Nvml.unexpected(e);
        }
    }

    /// `nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t gpmSample)`
    void free(MemorySegment sample) {
        MethodHandle function = nvml.function(List.of("nvmlGpmSampleFree"), ADDRESS);
        try {
            int _ = (int) function.invokeExact(sample);
        } catch (Throwable e) {
            throw Nvml.unexpected(e);
        }
    }

    /// Reads the counters of a device.
    ///
    /// `nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t gpmSample)`
    ///
    /// @return the return code
    int sample(MemorySegment device, MemorySegment sample) {
        MethodHandle function = nvml.function(List.of("nvmlGpmSampleGet"), ADDRESS, ADDRESS);
        try {
            return (int) function.invokeExact(device, sample);
        } catch (Throwable e) {
            throw Nvml.unexpected(e);
        }
    }

    /// Reads the counters of a part of a device.
    ///
    /// `nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t device, unsigned gpuInstanceId, nvmlGpmSample_t gpmSample)`
    ///
    /// @return the return code
    int sample(MemorySegment device, int instance, MemorySegment sample) {
        MethodHandle function = nvml.function(List.of("nvmlGpmMigSampleGet"), ADDRESS, JAVA_INT, ADDRESS);
        try {
            return (int) function.invokeExact(device, instance, sample);
        } catch (Throwable e) {
            throw Nvml.unexpected(e);
        }
    }

    /// Takes the metrics between two samples, one at a time.
    @FunctionalInterface
    interface Taker {
        /// Called for each metric.
        ///
        /// @param code its own return code: each may fail alone
        void take(GpmMetric metric, int code, double value);
    }

    /// Computes metrics.
    ///
    /// `nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t *metricsGet)`
    ///
    /// @return the return code; unless it is [NvmlCode#SUCCESS], the taker is not called
    int metrics(MemorySegment before, MemorySegment after, List<GpmMetric> asked, Taker taker) {
        MethodHandle function = nvml.function(List.of("nvmlGpmMetricsGet"), ADDRESS);
        metrics.fill((byte) 0);
        metrics.set(JAVA_INT, 0, VERSION);
        metrics.set(JAVA_INT, 4, asked.size());
        metrics.set(ADDRESS, 8, before);
        metrics.set(ADDRESS, 16, after);
        for (int i = 0; i < asked.size(); i++) {
            metrics.set(JAVA_INT, METRICS_OFFSET + (long) i * METRIC_SIZE, asked.get(i).id());
        }
        int code;
        try {
            code = (int) function.invokeExact(metrics);
        } catch (Throwable e) {
            throw Nvml.unexpected(e);
        }
        for (int i = 0; i < asked.size() && code == NvmlCode.SUCCESS; i++) {
            long at = METRICS_OFFSET + (long) i * METRIC_SIZE;
            taker.take(asked.get(i), metrics.get(JAVA_INT, at + 4), metrics.get(JAVA_DOUBLE, at + 8));
        }
        return code;
    }
}
