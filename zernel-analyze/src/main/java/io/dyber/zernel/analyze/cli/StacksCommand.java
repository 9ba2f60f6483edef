package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Questions;
import io.dyber.zernel.analyze.cli.option.Count;
import io.dyber.zernel.analyze.export.FoldedStacks;
import io.dyber.zernel.analyze.export.Selection;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

@Command(
        name = "stacks",
        mixinStandardHelpOptions = true,
        description = {
            "Which lines of the job's own code held the time, and what they called.",
            "Time of training steps: blocked in calls from 1 ms on, on a CPU by samples."
        },
        footer = {
            "",
            "Examples:",
            "  zernel-analyze stacks run.parquet",
            "  zernel-analyze stacks --by step --pid 4711 run.parquet",
            "  zernel-analyze stacks --folded run.parquet",
            "",
            "Then: zernel-analyze report --html run.parquet, which has a flame graph",
            "",
            "Threads that wait for work are left out: --idle."
        })
final class StacksCommand implements Runnable {
    private static final String NO_STACKS = "no event of the recording has a stack: it was recorded without them, or by an earlier version; "
            + "zernel-record --stacks 1ms takes them of calls that block for so long";

    /// What is counted together: as columns, and as what they are grouped by.
    enum By {
        line(Questions.LINE_COLUMNS, Questions.LINE_GROUPS),
        state("state", "state"),
        kind("kind, name, any_value(state) AS state", "kind, name"),
        thread("recording, pid, tid, any_value(role) AS role, arg_max(line, (total_ns, line)) AS line", "recording, pid, tid"),
        step("", "");

        private final String columns;
        private final String groups;

        By(String columns, String groups) {
            this.columns = columns;
            this.groups = groups;
        }
    }

    @Option(names = "--by", paramLabel = "WHAT", description = "Count together by ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    By by = By.line;

    @Option(names = "--kind", paramLabel = "KIND,...", hideParamSyntax = true, split = ",", description = "Only events of these kinds.")
    List<String> kinds = List.of();

    @Option(names = "--pid", paramLabel = "PID,...", hideParamSyntax = true, split = ",", description = "Only these processes.")
    List<Long> pids = List.of();

    @Option(names = "--top", paramLabel = "N", description = "At most N rows (default: ${DEFAULT-VALUE}).", converter = Count.class)
    int top = 20;

    @Option(names = "--all", description = "Also what is no training step: imports, evaluation.")
    boolean all;

    @Option(names = "--idle", description = "Also threads that wait for work.")
    boolean idle;

    @Option(names = "--folded", description = "Print all folded stacks: FRAME;FRAME NANOSECONDS.")
    boolean folded;

    @Mixin
    TablePrinter table = new TablePrinter();

    @Override
    public void run() {
        if (!folded) {
            table.printOfKinds(kinds, new TableCommand.Answer(sql(), NO_STACKS, null));
        } else if (table.output.form.json || table.output.form.csv) {
            throw new ParameterException(table.spec.commandLine(), "--folded is a form of its own: without --json and --csv");
        } else {
            writeFolded();
        }
    }

    private String sql() {
        String selected = in("kind", kinds.stream().map(kind -> "'" + kind.replace("'", "''") + "'").toList()) + in("pid", pids);
        return by == By.step ? ofSteps(selected) : Questions.stacks(all, by.columns, by.groups, (idle ? "true" : "NOT idle") + selected, top);
    }

    private String ofSteps(String selected) {
        return """
                SELECT
                    sum(ns) / sum(sum(ns)) OVER () AS share,
                    CAST(sum(ns) AS BIGINT) AS total_ns,
                    count(*) AS count,
                    recording, train_pid AS pid, step, any_value(step_kind) AS step_kind, arg_max(line, (line_ns, line)) AS line
                FROM (SELECT *, sum(ns) OVER (PARTITION BY recording, train_pid, step, line) AS line_ns FROM line_times)
                WHERE step IS NOT NULL AND thread = 'training'%s
                GROUP BY recording, train_pid, step
                ORDER BY 2 DESC, recording, pid, step
                LIMIT %d
                """
                .formatted(selected, top);
    }

    private static String in(String column, List<?> values) {
        String list = values.stream().map(String::valueOf).collect(Collectors.joining(", "));
        return values.isEmpty() ? "" : " AND " + column + " IN (" + list + ")";
    }

    private void writeFolded() {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try (Database database = table.job.open()) {
            database.requireEvents();
            if (!database.hasStacks()) {
                table.spec.commandLine().getErr().println(NO_STACKS);
                return;
            }
            Selection selection = Selection.of(database, kinds, pids, null, null);
            try (FoldedStacks stacks = new FoldedStacks(text)) {
                long _ = FoldedStacks.write(database, selection, stacks, _ -> {});
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e); // memory has no reason to fail
        }
        table.spec.commandLine().getOut().print(text.toString(StandardCharsets.UTF_8));
        table.spec.commandLine().getOut().flush();
    }
}
