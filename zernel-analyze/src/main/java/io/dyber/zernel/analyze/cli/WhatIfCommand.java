package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.cli.option.Count;
import io.dyber.zernel.analyze.cli.option.Limits;
import io.dyber.zernel.analyze.cli.option.ProgressLine;
import io.dyber.zernel.analyze.cli.option.TableOutput;
import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.table.Json;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.table.TextTable;
import io.dyber.zernel.analyze.whatif.WhatIf;
import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.format.TimeText;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "whatif",
        mixinStandardHelpOptions = true,
        description = {
            "What stragglers cost a pipelined training, and whose they are.",
            "Steps are replayed as if the ranks' operations on their GPUs were alike."
        },
        footer = {
            "",
            "m_w and m_s are the shares of the slowdown that the worst 3 %% of ranks and the",
            "last pipeline stage explain. --json prints one object with all of it.",
            "",
            "Examples:",
            "  zernel-analyze whatif operations.parquet",
            "  zernel-analyze whatif --json operations.parquet",
            "",
            "Then: zernel-analyze report run.parquet, which says why a rank is late"
        })
final class WhatIfCommand implements Runnable {
    @Option(names = "--top", paramLabel = "N", description = "At most N parts of a kind, in text (default: ${DEFAULT-VALUE}).", converter = Count.class)
    int top = 5;

    @Parameters(arity = "0..1", paramLabel = "FILE", hideParamSyntax = true, description = "A Parquet file of operations, see docs/what-if.md.")
    @Nullable String file;

    @Mixin
    Limits limits = new Limits();

    @Mixin
    TableOutput output = new TableOutput();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        WhatIf answer = answer();
        if (output.form.json) {
            new Json(out).document(document(answer));
        } else if (output.form.csv) {
            output.print(table(answer, Integer.MAX_VALUE), out, false);
        } else {
            write(answer, output.terminal.page(out));
        }
        out.flush();
    }

    private WhatIf answer() {
        String path = file;
        if (path == null) {
            throw new ParameterException(spec.commandLine(), "missing FILE");
        }
        try (ProgressLine progress = ProgressLine.on(spec.commandLine().getErr());
                DuckDb duckDb = DuckDb.open(limits.options())) {
            progress.at("replaying " + path, 0);
            if (!WhatIf.reads(duckDb, path)) {
                throw notOne(path);
            }
            return WhatIf.of(duckDb, path);
        }
    }

    private static RecordingException notOne(String path) {
        return Files.exists(Path.of(path))
                ? new RecordingException(
                        "replaying '" + path + "': not a Parquet file of operations with the columns dp_rank, stage, rank, step, optype, ...",
                        "docs/what-if.md lists them; of recordings, 'zernel-analyze report' says which rank is late and why")
                : new RecordingException("replaying '" + path + "': no such file", null);
    }

    private void write(WhatIf answer, Page page) {
        page.line(String.format(
                Locale.ROOT,
                "%d ranks, %,d step%s, %,d operations",
                answer.ranks(),
                answer.steps(),
                answer.steps() == 1 ? "" : "s",
                answer.operations()));
        answer.left().forEach(left -> page.paragraph("  ", left));
        page.blank();
        if (answer.worst().isEmpty()) {
            page.paragraph("", String.format(
                    Locale.ROOT,
                    "No stragglers: with all ranks alike, steps take %s, not %s (%.2fx)",
                    time(answer.ideal()),
                    time(answer.replayed()),
                    answer.slowdown()));
        } else {
            page.paragraph("", String.format(
                    Locale.ROOT,
                    "Stragglers make steps %.2fx as long: %s, %s if each operation took what its peers take",
                    answer.slowdown(),
                    time(answer.replayed()),
                    time(answer.ideal())));
            page.paragraph("  ", String.format(
                    Locale.ROOT,
                    "the worst 3 %% of ranks (%s) explain %s of it (m_w); were they like the others, steps would be %.2fx as fast",
                    ranks(answer.worst()),
                    percent(answer.mw()),
                    answer.gain()));
        }
        if (answer.ms() != null) {
            page.paragraph("  ", "the last pipeline stage explains " + percent(answer.ms()) + " of it (m_s)");
        }
        page.paragraph("  ", String.format(
                Locale.ROOT,
                "steps took %s as recorded; replayed without gaps between operations they take %.1f %% less",
                time(answer.seconds()),
                100 * (1 - answer.replayed() / answer.seconds())));
        page.blank();
        new TextTable(page, true).write(table(answer, top));
    }

    private static String ranks(List<String> ranks) {
        List<String> first = ranks.subList(0, Math.min(10, ranks.size()));
        int more = ranks.size() - first.size();
        return (ranks.size() == 1 ? "rank " : "ranks ") + String.join(", ", first) + (more == 0 ? "" : " and " + more + " more");
    }

    private static String percent(@Nullable Double share) {
        return share == null ? "-" : Math.round(100 * share) + " %";
    }

    private static String time(double seconds) {
        return TimeText.of(1e9 * seconds);
    }

    /// The largest parts of each dimension.
    private static Table table(WhatIf answer, int most) {
        List<Table.Column> columns = List.of(
                new Table.Column("by", "VARCHAR"),
                new Table.Column("name", "VARCHAR"),
                new Table.Column("slowdown", "DOUBLE"),
                new Table.Column("share", "DOUBLE"));
        Map<String, Integer> positions = new LinkedHashMap<>();
        columns.forEach(column -> positions.put(column.name(), positions.size()));
        Map<String, Integer> counts = new HashMap<>();
        return new Table(
                columns,
                answer.parts().stream()
                        .filter(part -> counts.merge(part.by(), 1, Integer::sum) <= most)
                        .map(part -> new Table.Row(
                                positions, Arrays.asList(part.by(), part.name(), rounded(part.slowdown()), rounded(part.share()))))
                        .toList());
    }

    private static @Nullable Double rounded(@Nullable Double number) {
        return number == null ? null : Math.round(1e4 * number) / 1e4;
    }

    private static Map<String, @Nullable Object> document(WhatIf answer) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("ranks", (long) answer.ranks());
        members.put("steps", (long) answer.steps());
        members.put("operations", (long) answer.operations());
        members.put("step_ns", Math.round(1e9 * answer.seconds()));
        members.put("replayed_ns", Math.round(1e9 * answer.replayed()));
        members.put("ideal_ns", Math.round(1e9 * answer.ideal()));
        members.put("slowdown", rounded(answer.slowdown()));
        members.put("m_w", rounded(answer.mw()));
        members.put("m_s", rounded(answer.ms()));
        members.put("worst_ranks", answer.worst());
        members.put("gain", rounded(answer.gain()));
        members.put("left_out", answer.left());
        members.put("shares", table(answer, Integer.MAX_VALUE));
        return members;
    }
}
