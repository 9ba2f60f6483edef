package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// What a verdict says of how a job computes on CPUs: by the functions in which samples of its steps are.
final class CpuWork {
    /// With fewer samples, shares say little.
    private static final int MANY_SAMPLES = 50;

    /// Of a step's samples around operators, and more than in them.
    private static final double MUCH_AROUND = 0.33;

    private static final double MUCH_OF_A_TYPE = 0.25;

    /// Of the samples, in arithmetic, from which on more threads may gain much.
    private static final double MUCH_ARITHMETIC = 0.5;

    /// As much arithmetic for what is around it has an operator that is large enough for several threads.
    private static final double LARGE_OPERATORS = 4;

    /// Of a CPU: a thread more finds one.
    private static final double AN_IDLE_CPU = 0.75;

    private CpuWork() {}

    /// That nothing was found, and in short what is known of how the first training thread computes.
    static String headline(Report report) {
        String known = known(report);
        List<String> but = new ArrayList<>();
        if (known.contains("small operators")) {
            but.add("it runs many small operators");
        }
        if (known.contains("float64")) {
            but.add("much of it computes in double precision");
        }
        if (known.contains("float16")) {
            but.add("much of it computes in half precision");
        }
        return "No bottleneck found" + (but.isEmpty() ? "" : ", but " + String.join(" and ", but)) + ".";
    }

    /// Of the first training thread, what is judged and what is not.
    static String sentences(Report report) {
        String known = known(report);
        List<String> open = new ArrayList<>();
        if (!known.contains("precision")) {
            open.add("data types");
        }
        open.add("memory formats");
        if (!known.contains("small operators")) {
            open.add("many small operators");
        }
        return known + (known.isEmpty() ? "" : " ") + "Whether it computes well there" + (known.isEmpty() ? "" : " otherwise") + ", as to "
                + listed(open) + ", is not judged.";
    }

    /// What is judged, or nothing.
    static String known(Report report) {
        Table table = report.sections().get("operator_samples");
        return table == null || table.rows().isEmpty() ? "" : String.join(" ", known(table.rows().getFirst()));
    }

    private static List<String> known(Table.Row row) {
        if (row.integer("samples") < MANY_SAMPLES) {
            return List.of();
        }
        List<String> known = new ArrayList<>();
        double around = share(row, "around_share");
        double arithmetic = share(row, "arithmetic_share");
        double unknown = 1 - around - arithmetic; // may be arithmetic, as in code that a library made while it runs
        if (around >= MUCH_AROUND && around > arithmetic && around > unknown) {
            known.add("It runs many small operators: " + Quantity.percent(around) + " of the samples of a step on a CPU are in what"
                    + " surrounds operators (dispatch, autograd, memory, the interpreter), " + Quantity.percent(arithmetic)
                    + " in their arithmetic; fewer and larger ones cost less, as by batching or torch.compile.");
        }
        if (arithmetic >= MUCH_ARITHMETIC && arithmetic >= LARGE_OPERATORS * around && isOneThread(row) && idle(row) >= AN_IDLE_CPU) {
            known.add(moreThreads(arithmetic, idle(row), row.text("omp_threads")));
        }
        type(row, "double_share", "double precision (float64)", known);
        type(row, "half_share", "half precision (float16)", known);
        return known;
    }

    private static void type(Table.Row row, String column, String type, List<String> known) {
        if (share(row, column) >= MUCH_OF_A_TYPE) {
            known.add("At least " + Quantity.percent(share(row, column)) + " of the samples of a step on a CPU compute in " + type
                    + "; see whether float32 does.");
        }
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
