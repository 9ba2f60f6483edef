package io.dyber.zernel.serve.source;

import java.util.Locale;
import java.util.regex.Pattern;

/// How fast event time passes in a replay: seconds of the recording per second of the clock on the wall.
///
/// @param factor above 0; infinite for "as fast as this machine can"
public record Speed(double factor) {
    public static final Speed MAX = new Speed(Double.POSITIVE_INFINITY);
    public static final Speed REAL_TIME = new Speed(1);

    private static final Pattern FACTOR = Pattern.compile("([0-9]*\\.?[0-9]+)x?");

    public Speed {
        if (!(factor > 0)) {
            throw new IllegalArgumentException("a speed is above 0");
        }
    }

    /// Reads `10`, `10x`, `0.5x` or `max`.
    public static Speed parse(String text) {
        String lower = text.strip().toLowerCase(Locale.ROOT);
        if (lower.equals("max")) {
            return MAX;
        }
        if (!FACTOR.matcher(lower).matches()) {
            throw new IllegalArgumentException("'" + text + "' is not a speed: say 1x, 10x, 0.5x or max");
        }
        return new Speed(Double.parseDouble(lower.replace("x", "")));
    }

    public boolean isMax() {
        return Double.isInfinite(factor);
    }

    @Override
    public String toString() {
        if (isMax()) {
            return "max";
        }
        return (factor == Math.rint(factor) ? String.valueOf((long) factor) : String.valueOf(factor)) + "x";
    }
}
