package io.dyber.zernel.record.attach;

import java.util.Set;

/// The processes that the BPF programs record: those added here and the children that they have from then on. The programs
/// take out a process when it ends.
public interface Targets {
    void addTarget(int pid);

    void removeTarget(int pid);

    /// The processes recorded now: those added, and their children.
    Set<Integer> targets();

    /// The processes that have started, or mapped new code, since the last call.
    Set<Integer> takeCodeChanges();

    /// Whether the programs tell of each process that maps code.
    boolean hearsOfLoads();
}
