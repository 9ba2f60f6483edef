package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// What a verdict says of how a job computes on CPUs: by the functions in which samples of its steps are.
final class CpuWork {
    /// With fewer samples, shares say little.
    private static final int MANY_SAMPLES = 50;

    /// Of the samples, in arithmetic or in code without a name, from which on more threads may gain much.
    private static final double MUCH_ARITHMETIC = 0.5;

    /// As much of that for what is around it has an operator that is large enough for several threads.
    private static final double LARGE_OPERATORS = 4;

    /// Of a CPU: a thread more finds one.
    private static final double AN_IDLE_CPU = 0.75;

    private CpuWork() {}

    /// Of the first training thread, what is judged and what is not; of a trace whether operators are small is.
    static String sentences(Report report, boolean trace) {
        String known = known(report);
        // Of what samples tell, findings say what is known.
        String unsampled = trace ? "data types and memory formats" : "data types, memory formats and many small operators";
        String open = isSampled(report) ? "memory formats" : unsampled;
        return known + (known.isEmpty() ? "" : " ") + "Whether it computes well there" + (known.isEmpty() ? "" : " otherwise") + ", as to "
                + open + ", is not judged. Nor is whether it needs all that it computes: padding, gradients that nobody uses, "
                + "the same results again.";
    }

    /// What is known of how the operators of the first training thread compute, or nothing.
    static String known(Report report) {
        return isSampled(report) ? threads(report.section("operator_samples").rows().getFirst()) : "";
    }

    private static boolean isSampled(Report report) {
        Table table = report.sections().get("operator_samples");
        return table != null && !table.rows().isEmpty() && table.rows().getFirst().integer("samples") >= MANY_SAMPLES;
    }

    private static String threads(Table.Row row) {
        double around = share(row, "around_share");
        double arithmetic = share(row, "arithmetic_share");
        double most = arithmetic + (row.isNull("unnamed_share") ? 0 : share(row, "unnamed_share")); // NULL in earlier digests
        boolean gains = most >= MUCH_ARITHMETIC && most >= LARGE_OPERATORS * around && isOneThread(row) && idle(row) >= AN_IDLE_CPU;
        return gains ? moreThreads(arithmetic, most, idle(row), row.text("omp_threads")) : "";
    }

    private static String moreThreads(double arithmetic, double most, double idle, @Nullable String told) {
        long threads = 1 + Math.round(idle);
        double gain = 1 / (1 - most + most / threads);
        String unnamed = most > arithmetic ? ", and " + Quantity.percent(most - arithmetic) + " in code without a name, as oneDNN's" : "";
        return "Its operators compute with one thread, which has " + Quantity.percent(arithmetic) + " of the samples of a step in their"
                + " arithmetic" + unnamed + ", while " + String.format(Locale.ROOT, "%.1f", idle) + " CPUs are idle: "
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
}
