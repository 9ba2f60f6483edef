package io.dyber.zernel.serve.analysis;

import io.dyber.zernel.analyze.report.data.HeatMap;
import java.util.Locale;

/// How late a rank comes, by the analyzer's levels.
public final class Lateness {
    private Lateness() {}

    /// The level of a share of a step: `in_time`, `late` or `very_late`.
    public static String of(double share) {
        return HeatMap.Level.of(share).name().toLowerCase(Locale.ROOT);
    }
}
