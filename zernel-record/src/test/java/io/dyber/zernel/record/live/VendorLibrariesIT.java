package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.builtin.Probes;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.probe.LibrarySelector;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// The libraries that the vendors ship, probed without a GPU: a program maps them, and what each exports of the
/// recorder's tables must be found and attached, in a virtual machine too. What a library exports is what `nm` and `readelf` say.
///
/// The driver's own libcuda.so.1 comes with the driver and is in no package, so it is not among them.
class VendorLibrariesIT {
    private static final List<String> KINDS = List.of(
            "cuda_launch", "cuda_graph", "cuda_copy", "cuda_sync", "gpu_alloc", "gpu_free", "gpu_map",
            "torch_alloc", "torch_free", "nccl", "nccl_comm");

    private static List<Path> libraries = List.of();
    private static Recording recording = Recording.none();

    @BeforeAll
    static void attach(@TempDir Path directory) {
        Needs.bpf();
        libraries = Needs.vendorLibraries();
        Path file = directory.resolve("run.parquet");
        List<String> files = libraries.stream().map(Path::toString).toList();
        try (Running recorder = Recorder.recordTo(file)
                .with("--kinds", String.join(",", KINDS), "--", Programs.built("maps").toString())
                .with(files.toArray(String[]::new))
                .start()) {
            files.forEach(library -> recorder.awaitLine(" of " + library));
            recorder.say("");
            assertThat(recorder.await().status()).isZero();
        }
        recording = Recording.open(file);
    }

    @AfterAll
    static void close() {
        recording.close();
    }

    @Test
    void everyFunctionOfTheTablesThatALibraryExportsIsAttached() {
        List<String> wrong = new ArrayList<>();
        for (Path library : libraries) {
            Map<String, String> exported = exported(library);
            Map<String, String> states = states(library, exported);
            print(library, states);
            wrong.addAll(states.entrySet().stream()
                    .filter(symbol -> symbol.getValue().startsWith("MISSING"))
                    .map(symbol -> library + ": " + symbol.getKey() + ": " + symbol.getValue())
                    .toList());
        }
        System.out.println("libcuda.so.1 is in no package: not tested");
        assertThat(wrong).isEmpty();
    }

    @Test
    void everyNameOfTheTablesIsInSomeVersion() {
        Set<String> unknown = new TreeSet<>();
        libraries.forEach(library -> unknown.addAll(symbols(library)));
        libraries.forEach(library -> unknown.removeAll(exported(library).keySet()));
        assertThat(unknown).isEmpty();
    }

    @Test
    void theTablesKnowMostOfEachLibrary() {
        Map<String, Long> attached = new HashMap<>();
        for (Path library : libraries) {
            attached.merge(library.getFileName().toString(), attached(library), Math::min);
        }
        // The oldest of each; newer versions have more.
        assertThat(attached.get("libcudart.so.12")).isGreaterThanOrEqualTo(57);
        assertThat(attached.get("libcudart.so.13")).isGreaterThanOrEqualTo(60);
        assertThat(attached.get("libnccl.so.2")).isGreaterThanOrEqualTo(24);
    }

    private static long attached(Path library) {
        return rows(library).filter(row -> row.path("state").asString("").equals("attached")).count();
    }

    /// How each function of the tables fares in a library: in the words of the printed table.
    private static Map<String, String> states(Path library, Map<String, String> exported) {
        Map<String, JsonNode> probed = new HashMap<>();
        Set<String> codes = new HashSet<>();
        rows(library).filter(row -> row.path("state").asString("").equals("attached")).forEach(row -> {
            probed.put(row.path("symbol").asString(""), row);
            codes.add(exported.getOrDefault(row.path("symbol").asString(""), ""));
        });
        Map<String, String> states = new LinkedHashMap<>();
        for (String symbol : symbols(library)) {
            JsonNode row = probed.get(symbol);
            if (row != null) {
                states.put(symbol, row.path("cost").asString("") + " at " + row.path("site").asString(""));
            } else if (!exported.containsKey(symbol)) {
                states.put(symbol, "not in this version");
            } else {
                states.put(symbol, codes.contains(exported.get(symbol)) ? "same code as another" : "MISSING");
            }
        }
        return states;
    }

    private static Stream<JsonNode> rows(Path library) {
        return recording.footer("zernel.probes").valueStream()
                .filter(row -> row.path("library").asString("").equals(library.toString()));
    }

    private static List<String> symbols(Path library) {
        return Probes.all().stream()
                .filter(probe -> KINDS.contains(probe.kind()))
                .flatMap(probe -> probe.hooks().stream())
                .filter(hook -> new LibrarySelector(hook.probe().library()).matches(library.toString(), "", false))
                .map(FunctionProbe::symbol)
                .distinct()
                .sorted()
                .toList();
    }

    private static void print(Path library, Map<String, String> states) {
        Map<String, Long> counts = new LinkedHashMap<>();
        states.values().forEach(state -> counts.merge(state.replaceFirst(" at .*", ""), 1L, Long::sum));
        System.out.println(library + ": " + counts);
        states.forEach((symbol, state) -> System.out.printf("    %-34s %s%n", symbol, state));
    }

    /// The exported functions with their addresses, and the tracepoints, as binutils see them.
    private static Map<String, String> exported(Path library) {
        Map<String, String> exported = new HashMap<>();
        for (String line : lines("nm", "-D", "--defined-only", library.toString())) {
            String[] words = line.split(" ");
            if (words.length == 3) {
                exported.put(words[2].replaceFirst("@.*", ""), words[0]);
            }
        }
        String provider = "";
        for (String line : lines("readelf", "-n", library.toString())) {
            String[] words = line.strip().split(": ");
            if (words[0].equals("Provider")) {
                provider = words[1];
            } else if (words[0].equals("Name") && !provider.isEmpty()) {
                exported.put(provider + ":" + words[1], provider + ":" + words[1]);
                provider = "";
            }
        }
        return exported;
    }

    private static List<String> lines(String... command) {
        try (Running running = Running.start(command)) {
            Running.Outcome outcome = running.await();
            assertThat(outcome.status()).as(outcome.toString()).isZero();
            return outcome.out();
        }
    }

    @Test
    void theStandInsHaveTheSignaturesOfTheVendorsHeaders() {
        Path sources = Path.of(Programs.source("standin"));
        // The first is older than some of the functions.
        List<Path> runtimes = Needs.vendorHeaders("cuda_runtime_api.h");
        Path collectives = Needs.vendorHeaders("nccl.h").getLast();
        for (Path runtime : runtimes.subList(1, runtimes.size())) {
            lines("gcc", "-fsyntax-only", "-D__CUDA_API_VERSION_INTERNAL", "-DCUDART=12", "-I" + runtime,
                    "-I" + collectives, "-I" + sources.resolve("headers"), sources.resolve("signatures.c").toString());
        }
    }
}
