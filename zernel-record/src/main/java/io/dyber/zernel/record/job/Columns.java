package io.dyber.zernel.record.job;

import io.dyber.zernel.record.event.Row;
import io.dyber.zernel.record.schema.Schema;

/// Where the columns stand that the job's knowledge reads and fills.
final class Columns {
    final int name;
    final int role;
    final int start;
    final int duration;
    final int childPid;
    final int childTid;
    final int status;
    final int depth;
    final int func;
    final int kernel;
    final int stream;
    final int addr;
    final int src;
    final int bytes;
    final int count;
    final int device;
    final int copyKind;
    final int hostMemory;
    final int dtype;
    final int communicator;
    final int commId;
    final int seq;
    final int rank;
    final int nranks;
    final int grouped;
    final int parent;
    final int color;
    final int generation;

    Columns(Schema schema) {
        this.name = schema.index("name");
        this.role = schema.index("role");
        this.start = schema.index("ts_ns");
        this.duration = schema.index("dur_ns");
        this.childPid = schema.index("child_pid");
        this.childTid = schema.index("child_tid");
        this.status = schema.index("status");
        this.depth = schema.index("depth");
        this.func = schema.index("func");
        this.kernel = schema.index("kernel");
        this.stream = schema.index("stream");
        this.addr = schema.index("addr");
        this.src = schema.index("src");
        this.bytes = schema.index("bytes");
        this.count = schema.index("count");
        this.device = schema.index("device");
        this.copyKind = schema.index("copy_kind");
        this.hostMemory = schema.index("host_memory");
        this.dtype = schema.index("dtype");
        this.communicator = schema.index("communicator");
        this.commId = schema.index("comm_id");
        this.seq = schema.index("seq");
        this.rank = schema.index("rank");
        this.nranks = schema.index("nranks");
        this.grouped = schema.index("grouped");
        this.parent = schema.index("parent");
        this.color = schema.index("color");
        this.generation = schema.index("generation");
    }

    /// Whether it is not known to have failed: not of each call it is known how it ended.
    boolean mayHaveSucceeded(Row row) {
        return row.get(status) == 0 || row.get(status) == Row.NONE;
    }

    /// Whether the call returned and did what it was asked to.
    boolean succeeded(Row row) {
        return row.get(status) == 0;
    }

    boolean isOutermost(Row row) {
        return row.get(depth) <= 0;
    }

    /// Some calls say how many bytes each of several rows or elements has: their product is what was moved.
    void multiply(Row row) {
        long factor = row.get(count);
        if (factor != Row.NONE) {
            if (row.get(bytes) != Row.NONE) {
                row.put(bytes, row.get(bytes) * factor);
            }
            row.clear(count);
        }
    }
}
