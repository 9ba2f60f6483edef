package io.dyber.zernel.analyze.report.table;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/// Shares as percentages with one decimal that add up to exactly 100.0.
public final class Percentages {
    private static final int TENTHS = 1000;

    private Percentages() {}

    /// Rounds down, then gives the missing tenths to the largest remainders.
    public static List<String> summingTo100(List<Long> parts) {
        long total = parts.stream().mapToLong(Long::longValue).sum();
        if (total == 0) {
            return parts.stream().map(_ -> "0.0").toList();
        }
        double[] exact = parts.stream().mapToDouble(part -> (double) part * TENTHS / total).toArray();
        int[] tenths = new int[exact.length];
        int missing = TENTHS;
        for (int i = 0; i < exact.length; i++) {
            tenths[i] = (int) exact[i];
            missing -= tenths[i];
        }
        List<Integer> byRemainder = IntStream.range(0, exact.length)
                .boxed()
                .sorted(Comparator.comparingDouble((Integer i) -> tenths[i] - exact[i]))
                .toList();
        for (int i = 0; i < missing; i++) {
            tenths[byRemainder.get(i)]++;
        }
        List<String> texts = new ArrayList<>();
        for (int tenth : tenths) {
            texts.add(String.format(Locale.ROOT, "%.1f", tenth / 10.0));
        }
        return texts;
    }
}
