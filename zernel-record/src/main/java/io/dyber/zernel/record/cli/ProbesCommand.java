package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.ProbeListing.Row;
import io.dyber.zernel.record.ProbeListing;
import io.dyber.zernel.record.elf.x86.Site;
import io.dyber.zernel.record.probe.ProbeSpec;
import io.dyber.zernel.record.probe.ProbeSyntaxException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.ObjectMapper;

/// `zernel-record probes`: the kinds of events and where on this machine they would be seen.
@Command(
        name = "probes",
        mixinStandardHelpOptions = true,
        description = {
            "Lists the kinds of events and whether their functions are here:",
            "in the libraries that running processes have loaded, or in the given files.",
            "One line for each kind and library."
        },
        footer = {
            "",
            "Examples:",
            "  sudo zernel-record probes",
            "  zernel-record probes --functions --probe 'libfoo.so:my_*' /opt/foo/libfoo.so",
            "",
            "Then: sudo zernel-record -o run.parquet -p PID"
        })
final class ProbesCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(names = "--probe", paramLabel = "SPEC", description = "also this probe; repeatable")
    private List<String> probes = new ArrayList<>();

    @Option(names = "--functions", description = "one line for each function, with the cost of its probe")
    private boolean functions;

    @Option(names = "--json", description = "print the list as JSON")
    private boolean json;

    @Parameters(arity = "0..*", paramLabel = "LIBRARY", description = "files to look into instead of running processes")
    private List<Path> libraries = new ArrayList<>();

    @Override
    public Integer call() {
        List<Row> rows = ProbeListing.of(libraries, specs());
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(rows));
            return 0;
        }
        if (functions) {
            out.printf("%-11s %-8s %-14s %s%n", "KIND", "STATE", "COST", "WHERE");
            rows.forEach(row -> out.printf("%-11s %-8s %-14s %s%n", row.kind(), row.state(), row.cost(), where(row)));
        } else {
            out.printf("%-11s %-8s %s%n", "KIND", "STATE", "WHERE");
            groups(rows).forEach(group -> out.printf(
                    "%-11s %-8s %s%n", group.getFirst().kind(), group.getFirst().state(), where(group)));
        }
        return 0;
    }

    /// The functions of a kind in a library that are in the same state.
    private static Collection<List<Row>> groups(List<Row> rows) {
        return rows.stream()
                .collect(Collectors.groupingBy(
                        row -> List.of(row.kind(), row.library(), row.state()), LinkedHashMap::new, Collectors.toList()))
                .values();
    }

    private static String where(List<Row> group) {
        Row first = group.getFirst();
        if (group.size() == 1) {
            return where(first);
        }
        long dear = group.stream().filter(row -> row.cost().equals(Site.Cost.SINGLE_STEPPED.label())).count();
        String functions = group.size() + " functions in " + first.library();
        return switch (first.state()) {
            case "found" -> functions + (dear == 0 ? "" : ", " + dear + " of them single-stepped");
            case "missing" -> "none of " + functions + ": " + first.note();
            default -> functions + ": " + first.note();
        };
    }

    private static String where(Row row) {
        return switch (row.state()) {
            case "found" -> row.symbol() + " in " + row.library();
            case "missing", "off" -> row.symbol() + " in " + row.library() + ": " + row.note();
            case "waiting" -> row.library().isEmpty()
                    ? row.note()
                    : "no process has loaded " + row.library() + " (" + row.note() + ")";
            default -> row.note();
        };
    }

    private List<ProbeSpec> specs() {
        try {
            return probes.stream().map(ProbeSpec::parse).toList();
        } catch (ProbeSyntaxException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }
}
