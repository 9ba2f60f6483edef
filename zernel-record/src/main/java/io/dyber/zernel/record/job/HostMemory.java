package io.dyber.zernel.record.job;

import io.dyber.zernel.record.event.Row;
import io.dyber.zernel.record.event.StringDictionary;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/// The host memory that each process has page-locked, to tell copies from it from those of pageable memory.
final class HostMemory {
    private final Columns columns;
    private final Processes processes;
    private final Map<Integer, TreeMap<Long, Long>> pinned = new HashMap<>();
    private final int pinnedText;
    private final int pageableText;
    private final int toDevice;
    private final int fromDevice;
    private final int anyDirection;

    HostMemory(Columns columns, Processes processes, StringDictionary texts) {
        this.columns = columns;
        this.processes = processes;
        this.pinnedText = texts.id("pinned");
        this.pageableText = texts.id("pageable");
        this.toDevice = texts.id("HtoD");
        this.fromDevice = texts.id("DtoH");
        this.anyDirection = texts.id("default");
    }

    void pinned(Row row) {
        long addr = row.get(columns.addr);
        if (columns.succeeded(row) && addr != Row.NONE && row.get(columns.bytes) > 0) {
            pinned.computeIfAbsent(row.pid(), _ -> new TreeMap<>()).put(addr, row.get(columns.bytes));
        }
    }

    void unpinned(Row row) {
        TreeMap<Long, Long> ranges = pinned.get(row.pid());
        if (ranges != null && columns.succeeded(row)) {
            ranges.remove(row.get(columns.addr));
        }
    }

    void copied(Row row) {
        columns.multiply(row);
        long kind = row.get(columns.copyKind);
        if (kind == toDevice) {
            tell(row, row.get(columns.src));
        } else if (kind == fromDevice) {
            tell(row, row.get(columns.addr));
        } else if (kind == anyDirection
                && (isPinned(row.pid(), row.get(columns.src)) || isPinned(row.pid(), row.get(columns.addr)))) {
            row.put(columns.hostMemory, pinnedText);
        }
    }

    private void tell(Row row, long addr) {
        if (isPinned(row.pid(), addr)) {
            row.put(columns.hostMemory, pinnedText);
        } else if (processes.seenFromStart(row.pid())) {
            row.put(columns.hostMemory, pageableText);
        }
    }

    private boolean isPinned(int pid, long addr) {
        TreeMap<Long, Long> ranges = pinned.get(pid);
        Map.Entry<Long, Long> range = ranges == null ? null : ranges.floorEntry(addr);
        return range != null && addr < range.getKey() + range.getValue();
    }

    void forget(int pid) {
        pinned.remove(pid);
    }
}
