package io.dyber.zernel.record.nvml;

import java.util.List;

/// A value of a GPU: what to ask, and where in the answer it lies.
///
/// @param name of its `gpu_sample` rows
/// @param unit of the value in the rows
/// @param offset of the value in the answer
/// @param width 4 or 8 bytes, unsigned
/// @param scale what one of the driver's units is in ours
record Metric(String name, String unit, Question question, int offset, int width, long scale) {
    /// `unsigned int gpu, memory`.
    private static final Question UTILIZATION = Question.of("nvmlDeviceGetUtilizationRates");

    /// `unsigned long long total, free, used`.
    private static final Question MEMORY = Question.of("nvmlDeviceGetMemoryInfo");

    private static final int TEMPERATURE_GPU = 0;
    private static final int CLOCK_SM = 1;
    private static final int CLOCK_MEM = 2;
    private static final int ECC_CORRECTED = 0;
    private static final int ECC_UNCORRECTED = 1;
    private static final int ECC_VOLATILE = 0;
    private static final int PCIE_TX = 0;
    private static final int PCIE_RX = 1;

    /// Of the link to the host. The generation in use falls while a GPU is idle, on some; so that is the highest one.
    static final Metric PCIE_GENERATION =
            word("pcie_generation", "", Question.of("nvmlDeviceGetMaxPcieLinkGeneration"), 0);

    static final Metric PCIE_WIDTH = word("pcie_width", "lanes", Question.of("nvmlDeviceGetCurrPcieLinkWidth"), 0);

    static final Metric MEMORY_TOTAL = number("memory_total", "bytes", MEMORY, 0);

    /// Every value that is asked for, in the order of asking. Those of one question follow each other. The driver
    /// watches the bus for 20 ms for each PCIe value, so these come last.
    static final List<Metric> ALL = List.of(
            word("utilization", "percent", UTILIZATION, 0),
            word("memory_utilization", "percent", UTILIZATION, 4),
            MEMORY_TOTAL,
            number("memory_used", "bytes", MEMORY, 16),
            word("power", "mW", Question.of("nvmlDeviceGetPowerUsage"), 0),
            word("power_limit", "mW", Question.of("nvmlDeviceGetEnforcedPowerLimit"), 0),
            number("energy", "mJ", Question.of("nvmlDeviceGetTotalEnergyConsumption"), 0),
            word("temperature", "C", Question.of("nvmlDeviceGetTemperature", TEMPERATURE_GPU), 0),
            word("fan", "percent", Question.of("nvmlDeviceGetFanSpeed"), 0),
            word("clock_sm", "MHz", Question.of("nvmlDeviceGetClockInfo", CLOCK_SM), 0),
            word("clock_mem", "MHz", Question.of("nvmlDeviceGetClockInfo", CLOCK_MEM), 0),
            number(
                    "throttle",
                    "bits",
                    Question.renamed(
                            "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"),
                    0),
            word("encoder", "percent", Question.paired("nvmlDeviceGetEncoderUtilization"), 0),
            word("decoder", "percent", Question.paired("nvmlDeviceGetDecoderUtilization"), 0),
            number("ecc_errors", "", Question.of("nvmlDeviceGetTotalEccErrors", ECC_UNCORRECTED, ECC_VOLATILE), 0),
            number("ecc_corrected", "", Question.of("nvmlDeviceGetTotalEccErrors", ECC_CORRECTED, ECC_VOLATILE), 0),
            kilobytes("pcie_tx", Question.of("nvmlDeviceGetPcieThroughput", PCIE_TX)),
            kilobytes("pcie_rx", Question.of("nvmlDeviceGetPcieThroughput", PCIE_RX)));

    private static Metric word(String name, String unit, Question question, int offset) {
        return new Metric(name, unit, question, offset, 4, 1);
    }

    private static Metric number(String name, String unit, Question question, int offset) {
        return new Metric(name, unit, question, offset, 8, 1);
    }

    private static Metric kilobytes(String name, Question question) {
        return new Metric(name, "bytes/s", question, 0, 4, 1024);
    }
}
