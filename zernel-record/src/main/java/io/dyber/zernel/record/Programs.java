package io.dyber.zernel.record;

import io.dyber.zernel.record.bpf.BpfObject;
import io.dyber.zernel.record.event.Btf;
import io.dyber.zernel.record.event.Column;
import io.dyber.zernel.record.event.EventType;
import io.dyber.zernel.record.event.FileRecord;
import io.dyber.zernel.record.event.Load;
import io.dyber.zernel.record.event.Schema;
import io.dyber.zernel.record.event.Wire;
import io.dyber.zernel.record.probe.Probes;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/// The BPF objects that ship with the recorder, and the schema they declare.
public final class Programs {
    private static final String FUNCTIONS = "functions-session";
    static final List<String> OBJECTS =
            List.of(FUNCTIONS, "torch", "cuda", "nccl", "process", "syscalls", "sched", "nvml", "host", "recorder");

    private Programs() {}

    /// The bytes of a shipped object.
    static byte[] bytes(String object) {
        String arch = System.getProperty("os.arch").equals("aarch64") ? "aarch64" : "x86_64";
        String resource = "/bpf/" + arch + "/" + object + ".bpf.o";
        try (InputStream in = Programs.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new RecorderException(
                        "opening BPF object '" + object + "': not built for " + arch, "only x86-64 is supported so far");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static BpfObject open(String object) {
        return BpfObject.open(object, bytes(object));
    }

    /// The columns and kinds of every recording, and the extra columns of the user's probes.
    public static Schema schema(Collection<Column> extra) {
        List<EventType> declared = new ArrayList<>();
        for (String object : OBJECTS) {
            declared.addAll(EventType.allIn(Btf.ofObject(bytes(object))));
        }
        List<EventType> ordered = Probes.all().stream()
                .map(probe -> declared.stream()
                        .filter(type -> type.kind().equals(probe.kind()))
                        .findFirst()
                        .orElseThrow(() -> new IllegalStateException("no object declares kind " + probe.kind())))
                .toList();
        return Schema.of(ordered, extra);
    }

    static FileRecord fileRecord() {
        return FileRecord.of(Btf.ofObject(bytes("syscalls")));
    }

    static Load.Layout loadLayout() {
        return Load.Layout.of(Btf.ofObject(bytes("process")));
    }

    static Wire wire() {
        return Wire.of(Btf.ofObject(bytes(FUNCTIONS)));
    }
}
