package io.dyber.zernel.analyze;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.format.RecordingException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// When a [Diff] is to be taken as a failure: `step_p50 > +5%`, `data_loading > +2ms`, `step_p99 > 250ms`.
///
/// A bound with a sign is on the change, one without on the value after. A change of the median counts only when the
/// steps differ significantly, so that chance does not fail a build; means and other percentiles have no such test.
///
/// @param text as it was given
/// @param measure a measure of the view `step_diff`
/// @param statistic `p50`, `p90`, `p99` or `mean`
/// @param above whether values above the bound fail, else those below
/// @param change whether the bound is on the change
/// @param bound in `%` of the value before, or in ns, bytes or a number
/// @param percent whether `bound` is in percent
public record DiffRule(
        String text, String measure, String statistic, boolean above, boolean change, double bound, boolean percent) {
    private static final Pattern FORM = Pattern.compile(
            "([a-z_]+?)(?:_(p50|p90|p99|mean))?\\s*([<>])\\s*([+-]?)(\\d+(?:\\.\\d+)?)\\s*(%|ns|us|ms|s|B|kB|MB|GB)?");
    private static final Map<String, Double> UNITS = Map.of(
            "ns", 1.0, "us", 1e3, "ms", 1e6, "s", 1e9, "B", 1.0, "kB", 1e3, "MB", 1e6, "GB", 1e9);

    /// What can be compared.
    public static final List<String> MEASURES = List.of(
            "step", "data_loading", "gpu_compute", "nccl_collective", "optimizer_step", "unknown", "launches",
            "launch_time", "copied", "copy_time", "syncs", "sync_time", "allocations", "collectives", "collective_size",
            "dist_wait");

    /// Reads a rule.
    ///
    /// @throws IllegalArgumentException that says what is wrong with it
    public static DiffRule parse(String text) {
        Matcher form = FORM.matcher(text.strip());
        if (!form.matches()) {
            throw new IllegalArgumentException("'" + text + "' is not a rule (e.g. 'step_p50 > +5%', 'step_p99 > 250ms')");
        }
        if (!MEASURES.contains(form.group(1))) {
            throw new IllegalArgumentException("'" + form.group(1) + "' is not a measure of a step: the measures are "
                    + String.join(", ", MEASURES));
        }
        boolean percent = "%".equals(form.group(6));
        boolean change = !form.group(4).isEmpty();
        if (percent && !change) {
            throw new IllegalArgumentException("'" + text + "' is not a rule: percent are of a change, so write a sign, as in '"
                    + form.group(1) + " > +5%'");
        }
        double number = Double.parseDouble(form.group(4) + form.group(5));
        return new DiffRule(
                text.strip(),
                form.group(1),
                form.group(2) == null ? "p50" : form.group(2),
                form.group(3).equals(">"),
                change,
                form.group(6) == null || percent ? number : number * UNITS.getOrDefault(form.group(6), 1.0),
                percent);
    }

    /// Whether a diff breaks this rule.
    ///
    /// @param broken whether it does
    /// @param why in numbers, and where it would but chance may explain it
    public record Verdict(DiffRule rule, boolean broken, String why) {}

    /// Applies the rule.
    ///
    /// @throws RecordingException if there are no steps to compare
    public Verdict judge(Diff diff) {
        if (diff.steps().rows().isEmpty()) {
            throw new RecordingException(
                    "applying '" + text + "': one of the two recordings has no two steps",
                    "zernel-analyze steps shows what steps a recording has");
        }
        Optional<Table.Row> row = diff.steps().rows().stream()
                .filter(candidate -> candidate.requiredText("measure").equals(measure))
                .findFirst();
        double before = row.map(r -> r.real("before_" + statistic)).orElse(0.0);
        double after = row.map(r -> r.real("after_" + statistic)).orElse(0.0);
        double value = value(before, after);
        boolean beyond = above ? value > bound : value < bound;
        boolean chance = beyond && change && statistic.equals("p50")
                && !Set.of("more", "less").contains(row.map(r -> r.requiredText("verdict")).orElse("same"));
        String why = measure + "_" + statistic + " " + amount(before) + " before, " + amount(after) + " after"
                + (chance ? ", but chance alone may make this difference" : "");
        return new Verdict(this, beyond && !chance, why);
    }

    private double value(double before, double after) {
        if (!change) {
            return after;
        }
        if (!percent) {
            return after - before;
        }
        return before == 0 ? (after == 0 ? 0 : Double.POSITIVE_INFINITY) : 100 * (after - before) / before;
    }

    private String amount(double value) {
        return isTime(measure) ? String.format(Locale.ROOT, "%.3f ms", value / 1e6) : String.format(Locale.ROOT, "%.0f", value);
    }

    private static boolean isTime(String measure) {
        return !List.of("launches", "copied", "syncs", "allocations", "collectives", "collective_size").contains(measure);
    }
}
