package io.dyber.zernel.serve.watch;

import java.util.Collection;
import tools.jackson.databind.JsonNode;

/// Numbers as characters.
final class Glyphs {
    private static final String SPARKS = "▁▂▃▄▅▆▇█";

    private Glyphs() {}

    /// A bar of `width` characters, the share of it full.
    static String bar(double share, int width) {
        int full = (int) Math.round(Math.clamp(share, 0, 1) * width);
        return "█".repeat(full) + "░".repeat(width - full);
    }

    /// The latest of the values, the largest of them highest; NaN is a gap.
    static String sparkline(Collection<Double> values, int width) {
        double largest = values.stream().filter(Double::isFinite).mapToDouble(Double::doubleValue).max().orElse(0);
        StringBuilder line = new StringBuilder();
        values.stream().skip(Math.max(0, values.size() - width)).forEach(value -> {
            int level = largest == 0 ? 0 : (int) Math.round(value / largest * (SPARKS.length() - 1));
            line.append(Double.isFinite(value) ? SPARKS.charAt(level) : ' ');
        });
        return line.toString();
    }

    static String millis(JsonNode value) {
        return value.isNumber() ? millis(value.doubleValue()) : "-";
    }

    static String millis(double millis) {
        if (!Double.isFinite(millis)) {
            return "-";
        }
        if (millis < 1) {
            return "%.0f us".formatted(millis * 1000);
        }
        return millis < 1000 ? "%.1f ms".formatted(millis) : "%.2f s".formatted(millis / 1000);
    }

    static String gibibytes(double bytes) {
        return "%.1f".formatted(bytes / (1L << 30));
    }
}
