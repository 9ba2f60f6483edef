package io.dyber.zernel.record.builtin;

import io.dyber.zernel.record.probe.FunctionProbe;
import java.util.List;

/// A kind of event and how it is seen.
///
/// @param object the BPF object that declares it: `bpf/NAME.bpf.c`
/// @param origin where its events come from
/// @param summary one line for `zernel-record probes`
public record Probe(String kind, String object, Origin origin, String summary) {
    /// A kind that the programs of the object of its name see in the kernel.
    ///
    /// @param events names of its events; the programs are told their numbers in the constants `name_NAME`
    static Probe inKernel(String kind, String summary, String... events) {
        return inKernel(kind, summary, KernelPart.whole(kind, KernelPart.Named.all(events)));
    }

    /// A kind that the programs of several objects, or of an object of another name, see in the kernel.
    static Probe inKernel(String kind, String summary, KernelPart... parts) {
        Origin.Kernel kernel = new Origin.Kernel(List.of(parts));
        return new Probe(kind, kernel.object(), kernel, summary);
    }

    /// A kind that is seen in calls of user-space functions.
    ///
    /// @param library what must be loaded for the functions to exist, for messages
    /// @param hooks the functions; empty where `--probe` says which
    static Probe ofFunctions(String kind, String object, String library, List<FunctionProbe> hooks, String summary) {
        return new Probe(kind, object, new Origin.Functions(library, hooks), summary);
    }

    /// Whether it is seen in calls of user-space functions.
    public boolean isOfFunctions() {
        return origin instanceof Origin.Functions;
    }

    /// Whether it is only recorded where `--probe` says what of it.
    public boolean isOptIn() {
        return isOfFunctions() && hooks().isEmpty();
    }

    /// The functions it probes; empty for a kind that is seen elsewhere.
    public List<FunctionProbe> hooks() {
        return origin instanceof Origin.Functions functions ? functions.hooks() : List.of();
    }

    /// The system calls in which it is seen.
    public List<KernelPart.Entry> systemCalls() {
        List<KernelPart> parts = origin instanceof Origin.Kernel kernel ? kernel.parts() : List.of();
        return parts.stream()
                .flatMap(part -> part.events().stream())
                .filter(SystemCalls.SystemCall.class::isInstance)
                .map(KernelPart.Entry.class::cast)
                .toList();
    }

    /// What must be loaded for its functions to exist; empty for a kind that is seen elsewhere.
    public String library() {
        return origin instanceof Origin.Functions functions ? functions.library() : "";
    }
}
