package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// What a verdict says of how a job computes on CPUs: by the functions in which samples of its steps are.
final class CpuWork {
    /// With fewer samples, shares say little.
    private static final int MANY_SAMPLES = 50;

    /// Of a step's samples around operators, and more than in them.
    private static final double MUCH_AROUND = 0.33;

    /// Of the samples, in arithmetic, from which on more threads may gain much.
    private static final double MUCH_ARITHMETIC = 0.5;

    /// As much arithmetic for what is around it has an operator that is large enough for several threads.
    private static final double LARGE_OPERATORS = 4;

    /// Of a CPU: a thread more finds one.
    private static final double AN_IDLE_CPU = 0.75;

    private static final String SMALL_OPERATORS = "many small operators";

    private CpuWork() {}

    /// What is known of how the operators of a job compute.
    ///
    /// @param subject of what the verdict says that it is not judged, the one that this judges; empty where it is none of these
    /// @param shortly its words in a headline; empty where it has no place there
    private record Trait(String subject, String shortly, String sentence) {}

    /// That nothing was found, and in short what is known of how the first training thread computes.
    static String headline(Report report) {
        String but = traits(report).stream()
                .map(Trait::shortly)
                .filter(shortly -> !shortly.isEmpty())
                .collect(Collectors.joining(" and "));
        return "No bottleneck found" + (but.isEmpty() ? "" : ", but " + but) + ".";
    }

    /// Of the first training thread, what is judged and what is not.
    static String sentences(Report report) {
        Set<String> judged = traits(report).stream().map(Trait::subject).collect(Collectors.toSet());
        Stream<String> types = isSampled(report) ? Stream.of() : Stream.of("data types"); // a finding says what is known of them
        List<String> open = Stream.concat(types, Stream.of("memory formats", SMALL_OPERATORS))
                .filter(subject -> !judged.contains(subject))
                .toList();
        String known = known(report);
        return known + (known.isEmpty() ? "" : " ") + "Whether it computes well there" + (known.isEmpty() ? "" : " otherwise") + ", as to "
                + listed(open) + ", is not judged. Nor is whether it needs all that it computes: padding, gradients that nobody uses, "
                + "the same results again.";
    }

    /// What is judged, or nothing.
    static String known(Report report) {
        return traits(report).stream().map(Trait::sentence).collect(Collectors.joining(" "));
    }

    private static List<Trait> traits(Report report) {
        return isSampled(report) ? traits(report.section("operator_samples").rows().getFirst()) : List.of();
    }

    private static boolean isSampled(Report report) {
        Table table = report.sections().get("operator_samples");
        return table != null && !table.rows().isEmpty() && table.rows().getFirst().integer("samples") >= MANY_SAMPLES;
    }

    private static List<Trait> traits(Table.Row row) {
        List<Trait> traits = new ArrayList<>();
        double around = share(row, "around_share");
        double arithmetic = share(row, "arithmetic_share");
        double unknown = 1 - around - arithmetic; // may be arithmetic, as in code that a library made while it runs
        if (around >= MUCH_AROUND && around > arithmetic && around > unknown) {
            traits.add(new Trait(
                    SMALL_OPERATORS,
                    "it runs many small operators",
                    "It runs many small operators: " + Quantity.percent(around) + " of the samples of a step on a CPU are in what"
                            + " surrounds operators (dispatch, autograd, memory, the interpreter), " + Quantity.percent(arithmetic)
                            + " in their arithmetic; fewer and larger ones cost less, as by batching or torch.compile."));
        }
        if (arithmetic >= MUCH_ARITHMETIC && arithmetic >= LARGE_OPERATORS * around && isOneThread(row) && idle(row) >= AN_IDLE_CPU) {
            traits.add(new Trait("", "", moreThreads(arithmetic, idle(row), row.text("omp_threads"))));
        }
        return traits;
    }

    private static String moreThreads(double arithmetic, double idle, @Nullable String told) {
        long threads = 1 + Math.round(idle);
        double gain = 1 / (1 - arithmetic + arithmetic / threads);
        return "Its operators compute with one thread, which has " + Quantity.percent(arithmetic) + " of the samples of a step in their"
                + " arithmetic, while " + String.format(Locale.ROOT, "%.1f", idle) + " CPUs are idle: "
                + ("1".equals(told) ? "it was started with OMP_NUM_THREADS=1, as torchrun does; " : "") + "OMP_NUM_THREADS=" + threads
                + " or torch.set_num_threads(" + threads + ") may gain up to " + String.format(Locale.ROOT, "%.2fx", gain) + ".";
    }

    private static boolean isOneThread(Table.Row row) {
        return "true".equals(row.text("one_thread"));
    }

    /// CPUs that it may use and nothing did; 0 where that was not measured.
    private static double idle(Table.Row row) {
        String idle = row.text("idle_cpus");
        return idle == null ? 0 : Double.parseDouble(idle);
    }

    private static double share(Table.Row row, String column) {
        return Double.parseDouble(row.requiredText(column));
    }

    private static String listed(List<String> words) {
        return words.size() == 1
                ? words.getFirst()
                : String.join(", ", words.subList(0, words.size() - 1)) + " and " + words.getLast();
    }
}
