package io.dyber.zernel.record.attach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.record.builtin.Probe;
import io.dyber.zernel.record.builtin.Probes;
import io.dyber.zernel.record.option.RecorderException;
import io.dyber.zernel.record.schema.Btf;
import io.dyber.zernel.record.schema.EventType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// That what is compiled and what `Probes` lists are the same.
final class CompiledProgramsTest {
    private static final Path BUILT = Path.of("../bpf/prebuilt/x86_64");
    private static final String SUFFIX = ".bpf.o";

    /// What the recorder loads for no kind: see `Backend` and `KernelProbes`.
    private static final List<String> OF_THE_RECORDER = List.of("functions-multi", "functions-session-ctx", "loads");

    private static Set<String> built() throws IOException {
        try (Stream<Path> files = Files.list(BUILT)) {
            return files.map(file -> String.valueOf(file.getFileName()))
                    .filter(name -> name.endsWith(SUFFIX))
                    .map(name -> name.substring(0, name.length() - SUFFIX.length()))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    /// Kinds that an object declares and these probes do not have.
    private static List<String> kindsWithoutLine(Stream<Probe> probes) throws IOException {
        Set<String> known = probes.map(Probe::kind).collect(Collectors.toSet());
        List<String> without = new ArrayList<>();
        for (String object : built()) {
            EventType.allIn(Btf.ofObject(CompiledPrograms.bytes(object))).stream()
                    .filter(type -> !known.contains(type.kind()))
                    .forEach(type -> without.add("kind '" + type.kind() + "' of bpf/" + object + ".bpf.c has no line in Probes"));
        }
        return without;
    }

    @Test
    void everyObjectThatShipsIsOfAKindOrOfTheRecorder() throws IOException {
        Set<String> used = new TreeSet<>(CompiledPrograms.objects());
        used.addAll(OF_THE_RECORDER);
        assertThat(built()).containsExactlyElementsOf(used);
    }

    @Test
    void everyKindThatAnObjectDeclaresHasALine() throws IOException {
        assertThat(kindsWithoutLine(Probes.all().stream())).isEmpty();
    }

    @Test
    void aKindWhoseLineIsLeftOutIsNamed() throws IOException {
        assertThat(kindsWithoutLine(Probes.all().stream().filter(probe -> !probe.kind().equals("io_open"))))
                .containsExactly("kind 'io_open' of bpf/syscalls.bpf.c has no line in Probes");
    }

    @Test
    void anObjectThatIsNotBuiltIsNamed() {
        assertThatThrownBy(() -> CompiledPrograms.bytes("signal"))
                .isInstanceOf(RecorderException.class)
                .hasMessage("opening BPF object 'signal': not built for x86_64")
                .extracting(e -> ((RecorderException) e).hint().orElseThrow())
                .isEqualTo("'make -C bpf' builds it from bpf/signal.bpf.c, and then the recorder has to be built");
    }
}
