package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.builtin.Origin;
import io.dyber.zernel.record.builtin.Probe;
import io.dyber.zernel.record.builtin.Probes;
import io.dyber.zernel.record.event.Layer;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.probe.ProbeSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The recipe of CONTRIBUTING.md for a function of a library, followed with one that does not ship: what is said when a step
/// is left out. `GpuCallsIT` calls what the stand-ins have, and `VendorLibrariesIT` finds names that no library has.
class NewSymbolTest {
    private static final Path STAND_INS = Path.of("src/test/workloads/standin");
    private static final Pattern ROW = Pattern.compile("(?m)^(ONE|STREAM|DEVICE)\\(\\w+, (\\w+),");
    private static final Pattern DEFINITION = Pattern.compile("(?m)^\\w[\\w *]*?\\b(\\w+)\\([^;]*$");
    private static final Pattern TRACEPOINT = Pattern.compile("\\bTRACEPOINT\\(\"(\\w+)\"");

    /// The functions of the stand-ins' tables, those that they define beside, and their tracepoints.
    private static Set<String> standIns() throws IOException {
        Set<String> names = new TreeSet<>();
        for (String table : List.of("driver.def", "runtime.def", "nccl.def")) {
            String prefix = table.equals("nccl.def") ? "nccl" : "";
            Matcher row = ROW.matcher(Files.readString(STAND_INS.resolve(table)));
            while (row.find()) {
                names.add(prefix + row.group(2));
                if (!row.group(1).equals("ONE")) {
                    names.add(prefix + row.group(2) + (row.group(1).equals("STREAM") ? "_ptsz" : "_ptds"));
                }
            }
        }
        for (String library : List.of("libcuda.c", "libcudart.c", "libnccl.c")) {
            Matcher definition = DEFINITION.matcher(Files.readString(STAND_INS.resolve(library)));
            while (definition.find()) {
                names.add(definition.group(1));
            }
        }
        Matcher tracepoint = TRACEPOINT.matcher(Files.readString(STAND_INS.resolve("libc10_cuda.c")));
        while (tracepoint.find()) {
            names.add("pytorch:" + tracepoint.group(1));
        }
        return names;
    }

    /// What is left out of the functions of these probes.
    private static List<String> breaches(List<Probe> probes) throws IOException {
        List<String> breaches = new ArrayList<>();
        Set<String> known = standIns();
        List<String> kinds = List.of(GpuCallsIT.ALL_KINDS.split(" "));
        Set<String> called = new TreeSet<>(StandIns.probedSymbols(probes, kinds, Layer.DRIVER));
        called.addAll(StandIns.probedSymbols(probes, kinds, Layer.RUNTIME));
        called.removeAll(known);
        called.forEach(symbol -> breaches.add("the stand-ins do not have '" + symbol + "'"));
        String page = Files.readString(Path.of("../docs/events.md"));
        for (Probe probe : probes) {
            String section = section(page, probe.kind());
            probe.hooks().stream()
                    .map(FunctionProbe::symbol)
                    .distinct()
                    .filter(symbol -> !section.contains("`" + symbol + "`"))
                    .forEach(symbol -> breaches.add("docs/events.md does not have '" + symbol + "' of kind '" + probe.kind()
                            + "': -Dtest=EventReferenceTest -Dgolden.update"));
        }
        return breaches;
    }

    private static String section(String page, String kind) {
        int begin = page.indexOf("\n## `" + kind + "`\n");
        int end = page.indexOf("\n## ", begin + 1);
        return begin < 0 ? "" : page.substring(begin, end < 0 ? page.length() : end);
    }

    /// The probes, and a function more of a kind.
    private static List<Probe> with(String kind, String library, String symbol) {
        FunctionProbe hook = FunctionProbe.named(ProbeSpec.parse(library + ":" + symbol + "(status=ret:s32)"));
        Probe more = new Probe(kind, kind, new Origin.Functions(library, List.of(hook)), "one more");
        return Stream.concat(Probes.all().stream(), Stream.of(more)).toList();
    }

    @Test
    void nothingIsLeftOutOfTheFunctionsThatShip() throws IOException {
        assertThat(breaches(Probes.all())).isEmpty();
    }

    @Test
    void aFunctionThatTheStandInsDoNotHaveIsNamed() throws IOException {
        assertThat(breaches(with("nccl", "libnccl.so", "ncclReduceToAll")))
                .contains("the stand-ins do not have 'ncclReduceToAll'");
    }

    @Test
    void aFunctionThatThePageDoesNotHaveIsNamed() throws IOException {
        assertThat(breaches(with("cuda_sync", "libcuda.so.1", "cuMemFree_v2"))).containsExactly(
                "docs/events.md does not have 'cuMemFree_v2' of kind 'cuda_sync': -Dtest=EventReferenceTest -Dgolden.update");
    }
}
