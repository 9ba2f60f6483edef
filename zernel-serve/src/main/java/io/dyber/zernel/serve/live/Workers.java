package io.dyber.zernel.serve.live;

import io.dyber.zernel.format.Footer;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Which processes are DataLoader workers, as the analyzer's `workers` knows them, by the name that PyTorch gives them; and
/// for which process each works. A worker whose parent nobody said works for nobody.
///
/// Not thread-safe.
final class Workers {
    private static final String NAME = "pt_data_worker";
    private static final int MOST = 10_000;

    private final boolean apart;
    private final Listener listener;
    private final Map<Long, Long> parents = bounded();
    private final Map<Long, Long> owners = bounded();
    private Map<Long, Long> saidParents = Map.of();
    /// Without a parent so far.
    private final Set<Long> orphans = new HashSet<>();
    /// A recording that is being written goes on saying who they were.
    private final Set<Long> ended = Collections.newSetFromMap(bounded());

    /// Is told of each worker once.
    interface Listener {
        void adopted(long worker, long owner);
    }

    /// @param apart whether none is to be known
    Workers(boolean apart, Listener listener) {
        this.apart = apart;
        this.listener = listener;
    }

    private static <V> Map<Long, V> bounded() {
        return new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Long, V> eldest) {
                return size() > MOST;
            }
        };
    }

    /// The process that `pid` works for; itself where it is no worker.
    long ownerOf(long pid) {
        return owners.getOrDefault(pid, pid);
    }

    void forked(long parent, long child) {
        parents.put(child, parent);
        ended.remove(child);
    }

    /// A main thread has this name.
    void named(long pid, String comm) {
        if (comm.equals(NAME) && !owners.containsKey(pid)) {
            ended.remove(pid);
            @Nullable Long forker = parents.get(pid);
            @Nullable Long parent = forker == null ? saidParents.get(pid) : forker;
            if (parent != null) {
                adopt(pid, parent);
            } else if (orphans.size() < MOST) {
                orphans.add(pid);
            }
        }
    }

    /// What the recording says of its processes.
    void said(List<Footer.ProcessInfo> processes) {
        saidParents = processes.stream()
                .filter(process -> process.ppid() > 1)
                .collect(Collectors.toMap(Footer.ProcessInfo::pid, Footer.ProcessInfo::ppid, (_, later) -> later));
        for (Footer.ProcessInfo process : processes) {
            boolean works = !ended.contains(process.pid())
                    && (NAME.equals(process.comm()) || orphans.contains(process.pid()));
            if (works && saidParents.containsKey(process.pid()) && !owners.containsKey(process.pid())) {
                adopt(process.pid(), process.ppid());
            }
        }
    }

    /// A process has ended, and another one may get its number.
    void exit(long pid) {
        parents.remove(pid);
        owners.remove(pid);
        orphans.remove(pid);
        ended.add(pid);
    }

    /// All may have ended. What the recording said holds until the next one says something.
    void clear() {
        parents.clear();
        owners.clear();
        orphans.clear();
        ended.clear();
    }

    private void adopt(long worker, long parent) {
        long owner = ownerOf(parent);
        if (!apart && owner != worker) {
            owners.put(worker, owner);
            orphans.remove(worker);
            listener.adopted(worker, owner);
        }
    }
}
