package io.dyber.zernel.analyze;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/// The known name that somebody who mistyped one probably meant.
public final class Suggestion {
    private static final int SHORTEST_BEGIN = 3;

    private Suggestion() {}

    /// The nearest of the known names as a hint, if one is near: it begins like that, or at most a third of its letters differ.
    public static Optional<String> nearest(String typed, Collection<String> known) {
        String wanted = typed.toLowerCase(Locale.ROOT);
        return known.stream()
                .filter(name -> (wanted.length() >= SHORTEST_BEGIN && name.toLowerCase(Locale.ROOT).startsWith(wanted))
                        || distance(wanted, name.toLowerCase(Locale.ROOT)) <= Math.max(1, name.length() / 3))
                .min(Comparator.comparingInt((String name) -> distance(wanted, name.toLowerCase(Locale.ROOT)))
                        .thenComparing(Comparator.naturalOrder()))
                .map(name -> "did you mean '" + name + "'?");
    }

    /// As a hint: the nearest name, else all of them.
    public static String hint(String typed, Collection<String> known) {
        return nearest(typed, known).orElseGet(() -> "there are " + String.join(", ", known));
    }

    /// Letters to put in, take out, replace or swap with their neighbour (optimal string alignment).
    private static int distance(String a, String b) {
        int[][] cost = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                cost[i][j] = i == 0 || j == 0 ? i + j : cheapest(cost, a, b, i, j);
            }
        }
        return cost[a.length()][b.length()];
    }

    private static int cheapest(int[][] cost, String a, String b, int i, int j) {
        int replaced = cost[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        int least = Math.min(replaced, 1 + Math.min(cost[i - 1][j], cost[i][j - 1]));
        boolean swapped = i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
        return swapped ? Math.min(least, 1 + cost[i - 2][j - 2]) : least;
    }
}
