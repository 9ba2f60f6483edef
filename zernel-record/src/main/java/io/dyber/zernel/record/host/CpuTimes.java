package io.dyber.zernel.record.host;

import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;

/// `/proc/stat`: what the CPUs did since the machine started.
///
/// @param all of them together
/// @param each by its number; those that are offline are missing
record CpuTimes(Times all, Map<Integer, Times> each) {
    /// Hundredths of a second are what the kernel tells user space (USER_HZ).
    static final long NANOS_PER_TICK = 10_000_000;

    private static final int FIELDS = 8;

    /// @param busyNanos running anything, with interrupts
    /// @param idleNanos nothing to run, also while a thread waits for a disk
    /// @param waitingNanos of the idle time, while a thread waited for a disk
    /// @param stolenNanos the hypervisor ran something else
    record Times(long busyNanos, long idleNanos, long waitingNanos, long stolenNanos) {
        /// `cpu user nice system idle iowait irq softirq steal guest guest_nice`; guests count as user already.
        static Times parse(String[] words) {
            long[] ticks = new long[FIELDS];
            for (int i = 0; i < FIELDS && i + 1 < words.length; i++) {
                ticks[i] = Long.parseLong(words[i + 1]) * NANOS_PER_TICK;
            }
            return new Times(
                    ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6], ticks[3] + ticks[4], ticks[4], ticks[7]);
        }
    }

    static CpuTimes parse(String text) {
        Times all = new Times(0, 0, 0, 0);
        Map<Integer, Times> each = new TreeMap<>();
        for (String line : text.split("\n")) {
            if (!line.startsWith("cpu")) {
                break;
            }
            String[] words = line.split(" +");
            if (words[0].equals("cpu")) {
                all = Times.parse(words);
            } else {
                each.put(Integer.parseInt(words[0].substring(3)), Times.parse(words));
            }
        }
        return new CpuTimes(all, each);
    }

    /// How many of these CPUs are online.
    int online(BitSet cpus) {
        return (int) each.keySet().stream().filter(cpus::get).count();
    }

    /// Idle time of these CPUs together.
    long idleNanos(BitSet cpus) {
        return each.entrySet().stream()
                .filter(cpu -> cpus.get(cpu.getKey()))
                .mapToLong(cpu -> cpu.getValue().idleNanos())
                .sum();
    }

    /// CPUs as the kernel lists them: `0-3,8`.
    static BitSet list(String text) {
        BitSet cpus = new BitSet();
        for (String range : text.strip().split(",")) {
            String[] ends = range.split("-");
            if (!ends[0].isBlank()) {
                int first = Integer.parseInt(ends[0].strip());
                cpus.set(first, Integer.parseInt(ends[ends.length - 1].strip()) + 1);
            }
        }
        return cpus;
    }
}
