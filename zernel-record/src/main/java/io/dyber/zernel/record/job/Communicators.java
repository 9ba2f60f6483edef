package io.dyber.zernel.record.job;

import io.dyber.zernel.record.event.Row;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.process.ProcessMemory;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The NCCL communicators of all processes: who they are in every rank, and how often they were used.
final class Communicators {
    /// `ncclDataType_t`, in the order of its numbers, with the bytes of an element.
    private static final List<Map.Entry<String, Integer>> TYPES = List.of(
            Map.entry("int8", 1), Map.entry("uint8", 1), Map.entry("int32", 4), Map.entry("uint32", 4),
            Map.entry("int64", 8), Map.entry("uint64", 8), Map.entry("float16", 2), Map.entry("float32", 4),
            Map.entry("float64", 8), Map.entry("bfloat16", 2), Map.entry("float8_e4m3", 1),
            Map.entry("float8_e5m2", 1));

    private static final class Communicator {
        long id = Row.NONE;
        long rank = Row.NONE;
        long nranks = Row.NONE;
        long used;
        long splits;
    }

    private final Columns columns;
    private final Map<Long, Integer> elementBytes = new HashMap<>();
    private final PerProcess<Communicator> communicators = new PerProcess<>();
    private final PerProcess<Integer> groupsOfThreads = new PerProcess<>();

    Communicators(Columns columns, StringDictionary texts) {
        this.columns = columns;
        TYPES.forEach(type -> elementBytes.put((long) texts.id(type.getKey()), type.getValue()));
    }

    private Communicator of(Row row, long handle) {
        return communicators.getOrPut(row.pid(), handle, Communicator::new);
    }

    private @Nullable Communicator known(Row row) {
        return communicators.get(row.pid(), row.get(columns.communicator)).orElse(null);
    }

    void made(Row row) {
        if (row.get(columns.communicator) != Row.NONE) {
            Communicator made = new Communicator();
            made.id = row.get(columns.commId);
            made.rank = row.get(columns.rank);
            made.nranks = row.get(columns.nranks);
            communicators.put(row.pid(), row.get(columns.communicator), made);
        }
    }

    /// `ncclCommInitAll(comms, n, ...)`: the handles lie in an array of the process, rank after rank.
    void madeTogether(Row row) {
        long nranks = row.get(columns.nranks);
        if (!columns.succeeded(row) || nranks <= 0) {
            return;
        }
        long[] handles = ProcessMemory.longs(row.pid(), row.get(columns.addr), (int) Math.min(nranks, 1024));
        for (int rank = 0; rank < handles.length; rank++) {
            Communicator made = new Communicator();
            made.id = mix(mix(row.pid(), handles[0]), nranks);
            made.rank = rank;
            made.nranks = nranks;
            communicators.put(row.pid(), handles[rank], made);
            row.put(columns.commId, made.id);
        }
        row.clear(columns.addr);
    }

    /// Every rank calls this in the same order on the same parent, so all find the same id.
    void derived(Row row) {
        Communicator parent = of(row, row.get(columns.parent));
        Communicator made = new Communicator();
        made.id = row.get(columns.commId);
        if (made.id == Row.NONE && parent.id != Row.NONE) {
            made.id = mix(mix(parent.id, row.get(columns.color)), parent.splits);
            row.put(columns.commId, made.id);
        }
        parent.splits++;
        made.rank = row.get(columns.rank);
        made.nranks = row.get(columns.nranks);
        if (row.get(columns.communicator) > 0) {
            communicators.put(row.pid(), row.get(columns.communicator), made);
        }
    }

    void described(Row row) {
        if (columns.succeeded(row)) {
            Communicator communicator = of(row, row.get(columns.communicator));
            communicator.rank = row.get(columns.rank) == Row.NONE ? communicator.rank : row.get(columns.rank);
            communicator.nranks = row.get(columns.nranks) == Row.NONE ? communicator.nranks : row.get(columns.nranks);
        }
    }

    void used(Row row) {
        fill(row, known(row));
        Integer size = elementBytes.get(row.get(columns.dtype));
        if (size != null && row.get(columns.count) != Row.NONE) {
            row.put(columns.bytes, row.get(columns.count) * size);
        }
        row.put(columns.grouped, groupsOfThreads.get(row.pid(), row.tid()).isPresent() ? 1 : 0);
        if (columns.isOutermost(row)) {
            row.put(columns.seq, of(row, row.get(columns.communicator)).used++);
        }
    }

    private void fill(Row row, @Nullable Communicator communicator) {
        if (communicator != null) {
            put(row, columns.commId, communicator.id);
            put(row, columns.rank, communicator.rank);
            put(row, columns.nranks, communicator.nranks);
        }
    }

    private static void put(Row row, int column, long value) {
        if (value != Row.NONE) {
            row.put(column, value);
        }
    }

    /// It stays known: one that is finalized is still to be destroyed.
    void ended(Row row) {
        fill(row, known(row));
    }

    /// Groups nest; the work of all is issued when the outermost ends.
    void groupBegun(Row row) {
        int depth = groupsOfThreads.get(row.pid(), row.tid()).orElse(0);
        groupsOfThreads.put(row.pid(), row.tid(), depth + 1);
    }

    void groupEnded(Row row) {
        int depth = groupsOfThreads.remove(row.pid(), row.tid()).orElse(0);
        if (depth > 1) {
            groupsOfThreads.put(row.pid(), row.tid(), depth - 1);
        }
    }

    private static long mix(long hash, long value) {
        return (hash ^ value) * 0x100000001b3L;
    }

    void forget(int pid) {
        communicators.forget(pid);
        groupsOfThreads.forget(pid);
    }
}
