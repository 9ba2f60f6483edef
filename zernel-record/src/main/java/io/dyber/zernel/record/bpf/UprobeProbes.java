package io.dyber.zernel.record.bpf;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/// The loaded programs for user-space functions, and their links. Closing detaches everything. Not thread-safe.
public final class UprobeProbes implements AutoCloseable {
    private static final int LINK_CREATE = 28;
    private static final int ATTRIBUTES_SIZE = 64;
    private static final int ON_RETURN = 1;

    private final Backend backend;
    private final BpfObject object;
    private final List<ProbeLinks> attached = new ArrayList<>();

    UprobeProbes(Backend backend, BpfObject object) {
        this.backend = backend;
        this.object = object;
    }

    public Backend backend() {
        return backend;
    }

    public BpfObject object() {
        return object;
    }

    /// Probes the sites of one library file in every process that maps it, now or later.
    ///
    /// @param path readable from here, perhaps through the root of a process that maps it
    /// @throws BpfException when the kernel refuses; then nothing of this call stays attached
    public ProbeLinks attach(String path, List<Site> sites) {
        List<Site> left = sites.stream().filter(site -> site.end() == Site.End.EXITS).toList();
        List<Site> returning = sites.stream().filter(site -> site.end() != Site.End.EXITS).toList();
        return all(links -> {
            if (!left.isEmpty()) {
                attachLeft(links, path, left);
            }
            if (!returning.isEmpty()) {
                attachReturning(links, path, returning);
            }
        });
    }

    private void attachReturning(ProbeLinks links, String path, List<Site> sites) {
        List<Site> returns = sites.stream().filter(site -> site.end() == Site.End.RETURN).toList();
        switch (backend) {
            case SESSION, SESSION_CTX -> links.add(link("function", path, sites, backend.attachType(), 0));
            case MULTI -> {
                links.add(link("function_enter", path, sites, backend.attachType(), 0));
                if (!returns.isEmpty()) {
                    links.add(link("function_return", path, returns, backend.attachType(), ON_RETURN));
                }
            }
            case PERF -> {
                attachPerf(links, "function_return", path, returns, true);
                attachPerf(links, "function_enter", path, sites, false);
            }
        }
    }

    private void attachLeft(ProbeLinks links, String path, List<Site> sites) {
        attachExits(links, "call_exit", path, sites, Site::returns);
        attachExits(links, "call_jump", path, sites, site -> site.jumps().stream().map(at -> new Site.Exit(at, 0)).toList());
        attachPlain(links, "call_enter", path, sites);
    }

    private void attachExits(
            ProbeLinks links, String program, String path, List<Site> sites, Function<Site, List<Site.Exit>> places) {
        List<Site> exits = sites.stream()
                .flatMap(site -> places.apply(site).stream()
                        .map(place -> new Site(
                                place.offset(), site.function(), Site.End.NOT_SEEN, 0, place.height(), List.of(), List.of())))
                .toList();
        if (!exits.isEmpty()) {
            attachPlain(links, program, path, exits);
        }
    }

    /// Probes tracepoints of one library file and switches them on.
    ///
    /// @throws BpfException as for [#attach]
    public ProbeLinks attachTracepoints(String path, List<Site> sites) {
        return all(links -> attachPlain(links, "tracepoint", path, sites));
    }

    private void attachPlain(ProbeLinks links, String program, String path, List<Site> sites) {
        if (backend == Backend.PERF) {
            attachPerf(links, program, path, sites, false);
        } else {
            links.add(link(program, path, sites, Backend.UPROBE_MULTI, 0));
        }
    }

    private ProbeLinks all(Consumer<ProbeLinks> attaching) {
        ProbeLinks links = new ProbeLinks();
        try {
            attaching.accept(links);
        } catch (BpfException e) {
            links.detach();
            throw e;
        }
        attached.removeIf(ProbeLinks::isGone);
        attached.add(links);
        return links;
    }

    private void attachPerf(ProbeLinks links, String program, String path, List<Site> sites, boolean onReturn) {
        for (Site site : sites) {
            links.add(LibBpf.attachPerfUprobe(object.program(program), path, site, onReturn));
        }
    }

    /// `union bpf_attr` of BPF_LINK_CREATE for uprobe_multi, as in `include/uapi/linux/bpf.h`.
    private int link(String program, String path, List<Site> sites, int attachType, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment offsets = arena.allocate(JAVA_LONG, sites.size());
            MemorySegment semaphores = arena.allocate(JAVA_LONG, sites.size());
            MemorySegment cookies = arena.allocate(JAVA_LONG, sites.size());
            for (int i = 0; i < sites.size(); i++) {
                offsets.setAtIndex(JAVA_LONG, i, sites.get(i).offset());
                semaphores.setAtIndex(JAVA_LONG, i, sites.get(i).semaphore());
                cookies.setAtIndex(JAVA_LONG, i, sites.get(i).cookie());
            }
            MemorySegment attributes = arena.allocate(ATTRIBUTES_SIZE, 8);
            attributes.set(JAVA_INT, 0, object.programFd(program));
            attributes.set(JAVA_INT, 8, attachType);
            attributes.set(ADDRESS, 16, arena.allocateFrom(path));
            attributes.set(ADDRESS, 24, offsets);
            attributes.set(ADDRESS, 32, semaphores);
            attributes.set(ADDRESS, 40, cookies);
            attributes.set(JAVA_INT, 48, sites.size());
            attributes.set(JAVA_INT, 52, flags);
            int fd = Libc.bpf(LINK_CREATE, attributes);
            if (fd < 0) {
                throw BpfException.refused("attaching " + sites.size() + " probes to '" + path + "'", -fd, "");
            }
            return fd;
        }
    }

    /// Detaches everything; the counters stay readable until [#close].
    ///
    /// @return done when all is gone
    public CompletableFuture<Void> detach() {
        CompletableFuture<Void> gone = ProbeLinks.detachAll(attached);
        attached.clear();
        return gone;
    }

    @Override
    public void close() {
        detach().join();
        object.close();
    }
}
