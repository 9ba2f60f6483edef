package io.dyber.zernel.record.attach;

import io.dyber.zernel.record.bpf.BpfObject;
import io.dyber.zernel.record.builtin.KernelPart;
import io.dyber.zernel.record.builtin.Origin;
import io.dyber.zernel.record.builtin.Probe;
import io.dyber.zernel.record.builtin.Probes;
import io.dyber.zernel.record.event.Load;
import io.dyber.zernel.record.option.RecorderException;
import io.dyber.zernel.record.schema.Btf;
import io.dyber.zernel.record.schema.CodeRecord;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.EventType;
import io.dyber.zernel.record.schema.FileRecord;
import io.dyber.zernel.record.schema.Schema;
import io.dyber.zernel.record.schema.StackRecord;
import io.dyber.zernel.record.schema.Wire;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/// The BPF objects that ship with the recorder, and the schema they declare.
public final class CompiledPrograms {
    private static final String FUNCTIONS = "functions-session";
    private static final Map<String, Btf> TYPES = new ConcurrentHashMap<>();

    private CompiledPrograms() {}

    /// The objects of the kinds: those that declare them and those that see them.
    static List<String> objects() {
        return Probes.all().stream()
                .flatMap(probe -> Stream.concat(Stream.of(probe.object()), parts(probe).map(KernelPart::object)))
                .distinct()
                .toList();
    }

    private static Stream<KernelPart> parts(Probe probe) {
        return probe.origin() instanceof Origin.Kernel(List<KernelPart> parts) ? parts.stream() : Stream.empty();
    }

    /// The bytes of a shipped object.
    ///
    /// @throws RecorderException when it was not built for this machine
    static byte[] bytes(String object) {
        String arch = System.getProperty("os.arch").equals("aarch64") ? "aarch64" : "x86_64";
        String resource = "/bpf/" + arch + "/" + object + ".bpf.o";
        try (InputStream in = CompiledPrograms.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new RecorderException(
                        "opening BPF object '" + object + "': not built for " + arch,
                        arch.equals("x86_64")
                                ? "'make -C bpf' builds it from bpf/" + object + ".bpf.c, and then the recorder has to be built"
                                : "only x86-64 is supported so far");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Btf btf(String object) {
        return TYPES.computeIfAbsent(object, name -> Btf.ofObject(bytes(name)));
    }

    public static BpfObject open(String object) {
        return BpfObject.open(object, bytes(object));
    }

    /// The columns and kinds of every recording, and the extra columns of the user's probes.
    public static Schema schema(Collection<Column> extra) {
        Map<String, List<EventType>> declared = new HashMap<>();
        List<EventType> ordered = new ArrayList<>();
        for (Probe probe : Probes.all()) {
            ordered.add(declared.computeIfAbsent(probe.object(), CompiledPrograms::declared).stream()
                    .filter(type -> type.kind().equals(probe.kind()))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException(
                            "BPF object '" + probe.object() + "' declares no kind '" + probe.kind() + "'")));
        }
        return Schema.of(ordered, extra);
    }

    private static List<EventType> declared(String object) {
        return EventType.allIn(btf(object));
    }

    public static FileRecord fileRecord() {
        return FileRecord.of(btf("syscalls"));
    }

    public static StackRecord stackRecord() {
        return StackRecord.of(btf("syscalls"));
    }

    public static CodeRecord codeRecord() {
        return CodeRecord.of(btf("syscalls"));
    }

    /// That of an object with `struct python`.
    public static Btf pythonBtf() {
        return btf("process");
    }

    public static Load.Layout loadLayout() {
        return Load.Layout.of(btf("process"));
    }

    public static Wire wire() {
        return Wire.of(btf(FUNCTIONS));
    }
}
