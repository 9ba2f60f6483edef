package io.dyber.zernel.record.nvml;

import io.dyber.zernel.record.elf.Gcc;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// `src/test/workloads/nvml.c`: a library that answers as NVML does and keeps a log of what it said.
public final class StandIn {
    private static final Path SOURCE = Path.of("src/test/workloads/nvml.c");

    /// What a log line, `function,choice,field`, is called in a recording, its unit and the factor of its value.
    private static final Map<String, String> NAMES = Map.ofEntries(
            Map.entry("nvmlDeviceGetUtilizationRates,0,gpu", "utilization percent 1"),
            Map.entry("nvmlDeviceGetUtilizationRates,0,memory", "memory_utilization percent 1"),
            Map.entry("nvmlDeviceGetSamples,1,", "busy percent 1"),
            Map.entry("nvmlDeviceGetMemoryInfo,0,total", "memory_total bytes 1"),
            Map.entry("nvmlDeviceGetMemoryInfo,0,used", "memory_used bytes 1"),
            Map.entry("nvmlDeviceGetPowerUsage,0,", "power mW 1"),
            Map.entry("nvmlDeviceGetEnforcedPowerLimit,0,", "power_limit mW 1"),
            Map.entry("nvmlDeviceGetTotalEnergyConsumption,0,", "energy mJ 1"),
            Map.entry("nvmlDeviceGetTemperature,0,", "temperature C 1"),
            Map.entry("nvmlDeviceGetFanSpeed,0,", "fan percent 1"),
            Map.entry("nvmlDeviceGetClockInfo,1,", "clock_sm MHz 1"),
            Map.entry("nvmlDeviceGetClockInfo,2,", "clock_mem MHz 1"),
            Map.entry("nvmlDeviceGetCurrentClocksEventReasons,0,", "throttle bits 1"),
            Map.entry("nvmlDeviceGetCurrentClocksThrottleReasons,0,", "throttle bits 1"),
            Map.entry("nvmlDeviceGetEncoderUtilization,0,", "encoder percent 1"),
            Map.entry("nvmlDeviceGetDecoderUtilization,0,", "decoder percent 1"),
            Map.entry("nvmlDeviceGetTotalEccErrors,10,", "ecc_errors  1"),
            Map.entry("nvmlDeviceGetTotalEccErrors,0,", "ecc_corrected  1"),
            Map.entry("nvmlDeviceGetPcieThroughput,0,", "pcie_tx bytes/s 1024"),
            Map.entry("nvmlDeviceGetPcieThroughput,1,", "pcie_rx bytes/s 1024"),
            Map.entry("nvmlGpmMetricsGet,2,", "sm_active ppm 10000"),
            Map.entry("nvmlGpmMetricsGet,3,", "sm_occupancy ppm 10000"),
            Map.entry("nvmlGpmMetricsGet,4,", "int_active ppm 10000"),
            Map.entry("nvmlGpmMetricsGet,5,", "tensor_active ppm 10000"),
            Map.entry("nvmlGpmMetricsGet,10,", "dram_active ppm 10000"),
            Map.entry("nvmlGpmMetricsGet,11,", "fp64_active ppm 10000"),
            Map.entry("nvmlGpmMetricsGet,12,", "fp32_active ppm 10000"),
            Map.entry("nvmlGpmMetricsGet,20,", "pcie_tx bytes/s 1048576"),
            Map.entry("nvmlGpmMetricsGet,21,", "pcie_rx bytes/s 1048576"),
            Map.entry("nvmlGpmMetricsGet,60,", "nvlink_rx bytes/s 1048576"),
            Map.entry("nvmlGpmMetricsGet,61,", "nvlink_tx bytes/s 1048576"),
            Map.entry("xid,0,", "xid  1"),
            Map.entry("nvmlDeviceGetProcessUtilization,0,smUtil", "sm percent 1"),
            Map.entry("nvmlDeviceGetProcessUtilization,0,memUtil", "mem percent 1"),
            Map.entry("nvmlDeviceGetProcessUtilization,0,encUtil", "enc percent 1"),
            Map.entry("nvmlDeviceGetProcessUtilization,0,decUtil", "dec percent 1"),
            Map.entry("running,0,usedGpuMemory", "memory_used bytes 1"));

    private final Path library;
    private final Path log;

    private StandIn(Path library, Path log) {
        this.library = library;
        this.log = log;
    }

    /// Compiles it in a folder, under its true name.
    ///
    /// @param flags `-DOLD_DRIVER` and so on
    public static StandIn compiled(Path folder, String... flags) throws IOException, InterruptedException {
        Path log = folder.resolve("nvml.log");
        List<String> arguments = new ArrayList<>(
                List.of("-shared", "-fPIC", "-Wl,-soname,libnvidia-ml.so.1", "-DLOG=\"" + log + "\""));
        arguments.addAll(List.of(flags));
        String source = Files.readString(SOURCE);
        return new StandIn(
                Gcc.compile(folder, "libnvidia-ml.so.1", source, arguments.toArray(String[]::new)), log);
    }

    public Path library() {
        return library;
    }

    /// Every number it gave away, as `device pid name value unit instance`, trimmed. The memory that it told when it was only asked how
    /// much there is, is left out: that is the first answer of each device.
    public List<String> told() throws IOException {
        List<String> told = new ArrayList<>();
        boolean[] counted = new boolean[2];
        try (Stream<String> lines = Files.lines(log)) {
            for (String line : (Iterable<String>) lines::iterator) {
                String[] part = line.split(",", -1);
                int device = Integer.parseInt(part[1]);
                if (part[0].equals("nvmlShutdown") || part[0].startsWith("nvmlGpmSample")) {
                    continue;
                }
                if (part[0].equals("nvmlDeviceGetMemoryInfo") && !counted[device]) {
                    counted[device] = part[4].equals("used");
                    continue;
                }
                boolean counter = part[0].equals("nvmlGpmMetricsGet");
                String field = counter ? "" : part[4];
                String[] name = NAMES.getOrDefault(part[0] + "," + part[2] + "," + field, line).split(" ", -1);
                long value = new BigDecimal(part[5]).multiply(new BigDecimal(name[2])).longValueExact();
                String instance = counter && !part[4].equals("0") ? " " + part[4] : "";
                told.add((device + " " + part[3] + " " + name[0] + " " + value + " " + name[1] + instance).strip());
            }
        }
        return told;
    }

    /// How many samples of counters it was asked to make, and how many of them to free.
    public List<Long> samples() throws IOException {
        List<String> lines = Files.readAllLines(log);
        return Stream.of("Alloc", "Free")
                .map(what -> lines.stream().filter(line -> line.startsWith("nvmlGpmSample" + what)).count())
                .toList();
    }

    /// Whether it was shut down.
    public boolean isShutDown() throws IOException {
        return Files.readString(log).contains("nvmlShutdown");
    }
}
