package io.dyber.zernel.record.job;

import io.dyber.zernel.record.event.Row;
import io.dyber.zernel.record.event.RowEnricher;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The device memory that each process holds: what is freed is what was allocated there.
///
/// An allocation counts from its return, a release from its entry: in that order an address that one thread frees and
/// another gets at once is never mistaken.
final class DeviceMemory {
    private static final long NULL_POINTER = 0;

    /// `CU_MEM_LOCATION_TYPE_DEVICE`; those after it are the host's, whose `device` is a NUMA node.
    private static final long OF_A_DEVICE = 1;

    private record Allocation(long bytes, long device) {}

    private final Columns columns;
    private final Processes processes;
    private final PerProcess<Allocation> live = new PerProcess<>();
    private final Map<Long, Allocation> leaving = new HashMap<>();
    private final PerProcess<Long> devicesOfThreads = new PerProcess<>();
    private long tickets;

    DeviceMemory(Columns columns, Processes processes) {
        this.columns = columns;
        this.processes = processes;
    }

    /// A thread begins on no chosen device, whatever one of its number had before.
    void threadBegan(int pid, int tid) {
        Optional<Long> _ = devicesOfThreads.remove(pid, tid);
    }

    void deviceChosen(Row row) {
        if (columns.succeeded(row)) {
            devicesOfThreads.put(row.pid(), row.tid(), row.get(columns.device));
        }
    }

    void allocated(Row row) {
        if (row.get(columns.src) > OF_A_DEVICE) {
            row.leaveOut();
            return;
        }
        row.clear(columns.src);
        columns.multiply(row);
        if (row.get(columns.device) == Row.NONE) {
            long device = currentDevice(row);
            if (device != Row.NONE) {
                row.put(columns.device, device);
            }
        }
        if (row.get(columns.status) > 0) {
            row.clear(columns.addr);
        } else if (row.get(columns.addr) != Row.NONE) {
            Allocation allocation = new Allocation(row.get(columns.bytes), row.get(columns.device));
            live.put(row.pid(), row.get(columns.addr), allocation);
        }
    }

    /// The runtime starts every thread on device 0.
    private long currentDevice(Row row) {
        return devicesOfThreads
                .get(row.pid(), row.tid())
                .orElse(processes.seenFromStart(row.pid()) ? 0 : Row.NONE);
    }

    RowEnricher release() {
        return new RowEnricher() {
            @Override
            public long entered(int pid, long first) {
                Optional<Allocation> allocation = live.remove(pid, first);
                if (allocation.isEmpty()) {
                    return 0;
                }
                leaving.put(++tickets, allocation.get());
                return tickets;
            }

            @Override
            public void handOn(int pid, long first, long note) {
                Allocation allocation = leaving.remove(note);
                if (allocation != null) {
                    live.put(pid, first, allocation);
                }
            }

            @Override
            public void complete(Row row, long note) {
                released(row, leaving.remove(note));
            }
        };
    }

    private void released(Row row, @Nullable Allocation allocation) {
        if (allocation == null) {
            if (row.get(columns.addr) == NULL_POINTER) {
                row.put(columns.bytes, 0);
            }
            return;
        }
        if (row.get(columns.status) > 0) {
            boolean _ = live.putIfAbsent(row.pid(), row.get(columns.addr), allocation);
            return;
        }
        if (allocation.bytes() != Row.NONE) {
            row.put(columns.bytes, allocation.bytes());
        }
        if (allocation.device() != Row.NONE) {
            row.put(columns.device, allocation.device());
        }
    }

    /// What is held was not watched for a while.
    void forgetAll() {
        live.clear();
    }

    void forget(int pid) {
        live.forget(pid);
        devicesOfThreads.forget(pid);
    }
}
