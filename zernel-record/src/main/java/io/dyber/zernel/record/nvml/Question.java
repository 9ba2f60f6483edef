package io.dyber.zernel.record.nvml;

import java.util.List;

/// A function of NVML that writes what it knows about one device into memory:
/// `nvmlReturn_t symbol(nvmlDevice_t device, int choice..., void *answer)`.
///
/// @param symbols the function under its names, the newest first
/// @param choices the enum values passed after the device, at most two
/// @param paired whether the function also takes `unsigned int *samplingPeriodUs`, which is not used
record Question(List<String> symbols, List<Integer> choices, boolean paired) {
    static Question of(String symbol, Integer... choices) {
        return new Question(List.of(symbol), List.of(choices), false);
    }

    static Question renamed(String symbol, String before) {
        return new Question(List.of(symbol, before), List.of(), false);
    }

    static Question paired(String symbol) {
        return new Question(List.of(symbol), List.of(), true);
    }
}
