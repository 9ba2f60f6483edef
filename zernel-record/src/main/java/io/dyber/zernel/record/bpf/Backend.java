package io.dyber.zernel.record.bpf;

import java.util.ArrayList;
import java.util.List;

/// How user-space functions are probed on this kernel. The best that loads is used ([#choose]).
public enum Backend {
    /// One link per library, entry and return in one program (Linux 6.13 and newer).
    SESSION("functions-session", 57, false),
    /// The same for kernels whose session kfuncs take the context.
    SESSION_CTX("functions-session-ctx", 57, false),
    /// One link per library for the entries and one for the returns (Linux 6.6 and newer).
    MULTI("functions-multi", Backend.UPROBE_MULTI, true),
    /// One perf event per function and direction. Detaching takes about a tenth of a second each.
    PERF("functions-multi", 0, true);

    /// `BPF_TRACE_UPROBE_MULTI`.
    static final int UPROBE_MULTI = 48;

    private static final int LEAST_KEPT = 16384;
    private static final int KEPT_PER_CPU = 256;

    private final String object;
    private final int attachType;
    private final boolean joinsByStackPointer;

    Backend(String object, int attachType, boolean joinsByStackPointer) {
        this.object = object;
        this.attachType = attachType;
        this.joinsByStackPointer = joinsByStackPointer;
    }

    /// The name as given on the command line.
    public String title() {
        return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
    }

    /// Whether a return knows nothing of its entry, so that every entry must be sent.
    public boolean joinsByStackPointer() {
        return joinsByStackPointer;
    }

    /// Opens a BPF object by name and configures it, without loading it.
    @FunctionalInterface
    public interface Opener {
        /// Opens the object called `name`.
        BpfObject open(String name);
    }

    /// The first of the candidates whose programs this kernel loads.
    ///
    /// @throws BpfException that of the last candidate, when none loads
    public static UprobeProbes choose(List<Backend> candidates, Opener opener) {
        List<BpfException> refusals = new ArrayList<>();
        for (Backend backend : candidates) {
            BpfObject object = opener.open(backend.object);
            try {
                int plain = backend == PERF ? 0 : UPROBE_MULTI;
                object.entries("kept", keptOn(LibBpf.possibleCpus()))
                        .expectedAttachType(backend.attachType)
                        .expectedAttachType("tracepoint", plain)
                        .expectedAttachType("call_enter", plain)
                        .expectedAttachType("call_exit", plain)
                        .expectedAttachType("call_jump", plain)
                        .load();
                return new UprobeProbes(backend, object);
            } catch (BpfException e) {
                object.close();
                refusals.add(e);
            }
        }
        throw refusals.getLast();
    }

    /// How many open calls the kernel keeps. It sets 128 places aside for each CPU that takes one, and where none is left lets
    /// go of calls that are still open.
    static int keptOn(int cpus) {
        return Math.max(LEAST_KEPT, KEPT_PER_CPU * cpus);
    }

    int attachType() {
        return attachType;
    }
}
