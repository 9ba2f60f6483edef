package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Diff;
import io.dyber.zernel.analyze.DiffRule;
import io.dyber.zernel.analyze.cli.option.Input;
import io.dyber.zernel.analyze.cli.option.TerminalOptions;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.DiffReport;
import io.dyber.zernel.analyze.report.table.CsvTable;
import io.dyber.zernel.format.Visible;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

@Command(
        name = "diff",
        mixinStandardHelpOptions = true,
        description = {
            "What changed between two recordings, and whether by chance.",
            "Each may be a glob of several ranks or parts."
        },
        footer = {
            "",
            "A rule is MEASURE[_p50|_p90|_p99|_mean] >|< BOUND; a bound with a sign is on",
            "the change. Measures: step, data_loading, gpu_compute, nccl_collective,",
            "optimizer_step, unknown, launches, launch_time, copied, copy_time, syncs,",
            "sync_time, allocations, collectives, collective_size, dist_wait.",
            "",
            "Examples:",
            "  zernel-analyze diff before.parquet after.parquet",
            "  zernel-analyze diff --fail-on 'step_p50 > +5%%' main.parquet branch.parquet",
            "",
            "Then: zernel-analyze steps --slowest 10 after.parquet",
            "",
            "Exit status: 0 compared, 3 a rule of --fail-on is broken."
        })
final class DiffCommand implements Callable<Integer> {
    private static final int RULE_BROKEN = 3;
    private static final String NO_STACKS = "one of the two recordings has no stacks";

    static final class Rule implements ITypeConverter<DiffRule> {
        @Override
        public DiffRule convert(String text) {
            try {
                return DiffRule.parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }

    @Parameters(index = "0", paramLabel = "BEFORE", description = "A recording, glob or .live folder.")
    String before = "";

    @Parameters(index = "1", paramLabel = "AFTER", description = "The one to compare with it.")
    String after = "";

    @Option(
            names = "--fail-on",
            paramLabel = "RULE",
            converter = Rule.class,
            description = "Exit with 3 when this is so, e.g. 'step_p50 > +5%%'; repeatable.")
    List<DiffRule> rules = List.of();

    @ArgGroup(exclusive = true)
    Form form = new Form();

    /// The tables that `--csv` prints.
    enum Part {
        /// The view `step_diff`.
        steps,
        /// The view `call_diff`.
        calls,
        /// The view `line_diff`.
        lines
    }

    public static final class Form {
        @Option(names = "--json", description = "Print all of it as JSON, times in ns.")
        public boolean json;

        @Option(names = "--csv", paramLabel = "TABLE", description = "Print one table: ${COMPLETION-CANDIDATES}.")
        public @Nullable Part csv;

        @Option(names = "--folded", description = "Print folded stacks, ns per step before and after.")
        boolean folded;

        @Option(names = "--markdown", description = "Print Markdown, for a pull request.")
        boolean markdown;

        @Option(names = "--html", description = "Print a page with a differential flame graph.")
        boolean html;
    }

    @Mixin
    Input input = new Input();

    @Mixin
    TerminalOptions terminal = new TerminalOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        try (Database database = input.compare(before, after)) {
            Diff diff = Diff.of(database);
            List<DiffRule.Verdict> verdicts = rules.stream().map(rule -> rule.judge(diff)).toList();
            if (form.folded) {
                writeFolded(database, out);
            } else if (form.html) {
                Table stacks = database.query(database.hasStacks() ? "FROM flame_diff" : "FROM flame_diff LIMIT 0");
                new DiffReport(diff, verdicts).html(out, stacks);
            } else {
                write(diff, verdicts, out);
            }
            out.flush();
            return verdicts.stream().anyMatch(DiffRule.Verdict::broken) ? RULE_BROKEN : 0;
        }
    }

    /// Stacks that hold less than half a nanosecond in both are in no line.
    private void writeFolded(Database database, PrintWriter out) {
        Table stacks = database.query(database.hasStacks() ? "FROM stack_diff" : "FROM stack_diff LIMIT 0");
        if (stacks.rows().isEmpty()) {
            spec.commandLine().getErr().println(NO_STACKS);
        }
        for (Table.Row row : stacks.rows()) {
            long before = Math.round(Objects.requireNonNullElse(row.real("before_ns"), 0.0));
            long after = Math.round(Objects.requireNonNullElse(row.real("after_ns"), 0.0));
            if (before > 0 || after > 0) {
                out.println(Visible.of(row.requiredText("stack")) + " " + before + " " + after);
            }
        }
    }

    private void write(Diff diff, List<DiffRule.Verdict> verdicts, PrintWriter out) {
        DiffReport report = new DiffReport(diff, verdicts);
        if (form.json) {
            report.json(out);
        } else if (form.csv != null) {
            new CsvTable(out).write(
                    switch (form.csv) {
                        case steps -> diff.steps();
                        case calls -> diff.calls();
                        case lines -> diff.lines();
                    });
        } else if (form.markdown) {
            report.markdown(out);
        } else {
            report.text(terminal.page(out));
        }
    }
}
