package io.dyber.zernel.record.host;

import io.dyber.zernel.record.host.Cgroups.Limit;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/// What a cgroup with a limit uses of it.
///
/// @param files of version 2 or 1
/// @param values where they go
record CgroupValues(KernelFiles files, Taker values) {
    private static final long NANOS_PER_MICRO = 1000;

    /// Takes a value of an object.
    @FunctionalInterface
    interface Taker {
        void take(String object, String name, long value, String unit);
    }

    void cpu(Limit limit) {
        String group = limit.group();
        String stat = files.text(limit.folder().resolve("cpu.stat")).orElse("");
        put(group, "cgroup_periods", KernelFile.field(stat, "nr_periods "), 1, HostValue.COUNT);
        put(group, "cgroup_throttled", KernelFile.field(stat, "nr_throttled "), 1, HostValue.COUNT);
        OptionalLong micros = KernelFile.field(stat, "usage_usec ");
        if (micros.isPresent()) {
            put(group, "cgroup_cpu", micros, NANOS_PER_MICRO, HostValue.NANOS);
        } else {
            put(group, "cgroup_cpu", files.number(limit.folder().resolve("cpuacct.usage")), 1, HostValue.NANOS);
        }
    }

    /// What is used, and what of it cannot be had back by dropping file pages.
    void memory(Limit limit) {
        Path folder = limit.folder();
        Optional<String> current = files.text(folder.resolve("memory.current"));
        String prefix = current.isPresent() ? "" : "total_";
        OptionalLong used = current.map(KernelFile::number)
                .orElseGet(() -> files.number(folder.resolve("memory.usage_in_bytes")));
        String stat = files.text(folder.resolve("memory.stat")).orElse("");
        OptionalLong inactive = KernelFile.field(stat, prefix + "inactive_file ");
        OptionalLong active = KernelFile.field(stat, prefix + "active_file ");
        put(limit.group(), "cgroup_memory", used, 1, HostValue.BYTES);
        if (used.isPresent() && inactive.isPresent() && active.isPresent()) {
            long kept = Math.max(0, used.getAsLong() - inactive.getAsLong() - active.getAsLong());
            values.take(limit.group(), "cgroup_kept", kept, HostValue.BYTES);
        }
    }

    private void put(String group, String name, OptionalLong value, long scale, String unit) {
        value.ifPresent(found -> values.take(group, name, found * scale, unit));
    }
}
