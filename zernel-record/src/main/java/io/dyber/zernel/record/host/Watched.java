package io.dyber.zernel.record.host;

import java.io.IOException;
import java.nio.file.Path;
import java.util.BitSet;

/// A process that is sampled. Its file stays open, so that it is never mistaken for a later one with its number.
final class Watched implements AutoCloseable {
    static final long NEVER = Long.MIN_VALUE;

    private final int pid;
    private final Path folder;
    private final KernelFile stat;
    private BitSet cpus = new BitSet();
    private Cgroups.Limits limits = Cgroups.Limits.NONE;
    private long sharedNanos = NEVER;
    private int rounds;

    Watched(Path proc, int pid) throws IOException {
        this.pid = pid;
        this.folder = proc.resolve(Integer.toString(pid));
        this.stat = new KernelFile(folder.resolve("stat"));
    }

    int pid() {
        return pid;
    }

    /// How often this was asked before.
    int nextRound() {
        return rounds++;
    }

    Path folder() {
        return folder;
    }

    /// @throws IOException when it has ended
    ProcessStat stat() throws IOException {
        ProcessStat now = ProcessStat.parse(stat.text());
        if (now.isEnded()) {
            throw new IOException("ended");
        }
        return now;
    }

    /// The CPUs that its main thread may run on; empty when that is not known.
    BitSet cpus() {
        return cpus;
    }

    Cgroups.Limits limits() {
        return limits;
    }

    void limit(BitSet allowed, Cgroups.Limits found) {
        cpus = allowed;
        limits = found;
    }

    /// When it was last asked what it shares.
    long sharedNanos() {
        return sharedNanos;
    }

    void sharedAt(long nanos) {
        sharedNanos = nanos;
    }

    @Override
    public void close() {
        stat.close();
    }
}
