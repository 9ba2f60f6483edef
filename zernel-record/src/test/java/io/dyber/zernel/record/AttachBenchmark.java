package io.dyber.zernel.record;

import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.attach.FunctionDefinition;
import io.dyber.zernel.record.attach.FunctionTable;
import io.dyber.zernel.record.bpf.Backend;
import io.dyber.zernel.record.bpf.ProbeLinks;
import io.dyber.zernel.record.bpf.Site;
import io.dyber.zernel.record.bpf.UprobeProbes;
import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.probe.Capture;
import io.dyber.zernel.record.probe.Function;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.probe.ProbeSpec;
import io.dyber.zernel.record.probe.Symbols;
import io.dyber.zernel.record.probe.Width;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/// How long it takes to probe many functions of a library that a process has loaded, and to take the probes away. Not a
/// test; run its `main` as root with the test class path: `java -cp ... io.dyber.zernel.record.AttachBenchmark [rounds]
/// [functions]`. Needs gcc.
///
/// Perf probes are detached at a tenth of a second each, so only 10 are tried there.
final class AttachBenchmark {
    private static final int PERF_FUNCTIONS = 10;

    private final Path library;
    private final Map<String, List<Double>> millis = new LinkedHashMap<>();

    private AttachBenchmark(Path library) {
        this.library = library;
    }

    /// Prints one line per backend and part.
    public static void main(String[] args) throws IOException, InterruptedException, ElfException {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 11;
        int functions = args.length > 1 ? Integer.parseInt(args[1]) : 600;
        Path folder = Files.createTempDirectory("zernel-attach");
        AttachBenchmark benchmark = new AttachBenchmark(library(folder, functions));
        System.load(benchmark.library.toString());
        for (int round = 0; round < rounds; round++) {
            benchmark.round(Backend.SESSION, functions);
            benchmark.round(Backend.MULTI, functions);
            benchmark.round(Backend.PERF, PERF_FUNCTIONS);
        }
        benchmark.print();
    }

    private static Path library(Path folder, int functions) throws IOException, InterruptedException {
        StringBuilder source = new StringBuilder();
        for (int i = 0; i < functions; i++) {
            source.append("long attach_me_").append(i).append("(long n) { return n + ").append(i).append("; }\n");
        }
        Path file = folder.resolve("attach.c");
        Files.writeString(file, source);
        Path library = folder.resolve("libattach.so");
        Process gcc = new ProcessBuilder("gcc", "-shared", "-fPIC", "-o", library.toString(), file.toString())
                .inheritIO()
                .start();
        if (gcc.waitFor() != 0) {
            throw new IOException("compiling " + file);
        }
        return library;
    }

    private void round(Backend backend, int functions) throws ElfException {
        FunctionProbe hook = FunctionProbe.named(new Function(
                ProbeSpec.CALL,
                "",
                library.toString(),
                "attach_me_*",
                List.of(Capture.argument("number", 1, Width.U64), Capture.returned("result", Width.U64))));
        String title = backend.title() + ", " + functions + ": ";
        long start = System.nanoTime();
        try (UprobeProbes probes = Backend.choose(
                List.of(backend),
                name -> CompiledPrograms.open(name).entries("functions", functions + 1).entries("counters", functions + 1))) {
            FunctionTable table = new FunctionTable(probes.object().btf(), Set.of());
            long loaded = took(title + "load the programs", start);
            List<Site> sites = new ArrayList<>();
            try (ElfFile elf = ElfFile.open(library)) {
                for (Symbols.Found found :
                        Symbols.resolve(elf, List.of((Function) hook.probe())).found().subList(0, functions)) {
                    sites.add(new Site(found.probeOffset(), sites.size() + 1, Site.End.RETURN, 0));
                }
            }
            long found = took(title + "find symbols and sites", loaded);
            for (Site site : sites) {
                FunctionDefinition definition = table.encode(hook, 1, backend.joinsByStackPointer());
                probes.object().map("functions").put(site.function(), definition.bytes());
            }
            long defined = took(title + "define the functions", found);
            ProbeLinks links = probes.attach(library.toString(), sites);
            long attached = took(title + "attach", defined);
            links.detach();
            long detached = took(title + "detach", attached);
            add(title + "find, define, attach", attached - loaded);
            add(title + "all but the load", detached - loaded);
        }
    }

    private long took(String part, long since) {
        long now = System.nanoTime();
        add(part, now - since);
        return now;
    }

    private void add(String part, long nanos) {
        millis.computeIfAbsent(part, _ -> new ArrayList<>()).add(nanos / 1e6);
    }

    private void print() {
        System.out.printf("%-44s %8s %8s  %s%n", "milliseconds", "first", "median", "min..max");
        millis.forEach((part, values) -> {
            double first = values.getFirst();
            List<Double> sorted = values.stream().sorted().toList();
            System.out.printf(
                    Locale.ROOT,
                    "%-44s %8.1f %8.1f  %.1f..%.1f%n",
                    part,
                    first,
                    sorted.get(sorted.size() / 2),
                    sorted.getFirst(),
                    sorted.getLast());
        });
    }
}
