package io.dyber.zernel.record.nvml;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/// The GPU instances into which MIG parts a device, as they are when it is looked at.
final class MigInstances {
    private static final int ENABLED = 1;
    private static final Question MODE = Question.paired("nvmlDeviceGetMigMode");
    private static final Question MOST = Question.of("nvmlDeviceGetMaxMigDeviceCount");
    private static final Question ID = Question.of("nvmlDeviceGetGpuInstanceId");

    private MigInstances() {}

    /// Their ids, in order; none where the device is not parted. Compute instances share that of their GPU instance.
    static List<Integer> of(Nvml nvml, MemorySegment device) {
        if (nvml.ask(MODE, device) != NvmlCode.SUCCESS
                || nvml.answered(0, 4) != ENABLED
                || nvml.ask(MOST, device) != NvmlCode.SUCCESS) {
            return List.of();
        }
        int most = (int) nvml.answered(0, 4);
        Set<Integer> ids = new TreeSet<>();
        for (int i = 0; i < most; i++) {
            Question handle = Question.of("nvmlDeviceGetMigDeviceHandleByIndex", i);
            if (nvml.ask(handle, device) == NvmlCode.SUCCESS) {
                MemorySegment part = MemorySegment.ofAddress(nvml.answered(0, 8));
                if (nvml.ask(ID, part) == NvmlCode.SUCCESS) {
                    ids.add((int) nvml.answered(0, 4));
                }
            }
        }
        return List.copyOf(ids);
    }
}
