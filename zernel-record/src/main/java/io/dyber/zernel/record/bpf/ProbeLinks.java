package io.dyber.zernel.record.bpf;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// Probes that were attached together and end together. Not thread-safe.
public final class ProbeLinks {
    private final List<Integer> links = new ArrayList<>();
    private final List<MemorySegment> perfLinks = new ArrayList<>();

    ProbeLinks() {}

    void add(int link) {
        links.add(link);
    }

    void add(MemorySegment perfLink) {
        perfLinks.add(perfLink);
    }

    /// Takes the probes away; a second call does nothing.
    public void detach() {
        links.forEach(Libc::close);
        links.clear();
        perfLinks.forEach(LibBpf::destroy);
        perfLinks.clear();
    }
}
