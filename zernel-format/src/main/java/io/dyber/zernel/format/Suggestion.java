package io.dyber.zernel.format;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/// The known name that a user who mistyped one probably meant.
public final class Suggestion {
    private static final int SHORTEST_BEGIN = 3;

    private Suggestion() {}

    /// The nearest of the known names, if one is near: it begins like that, or at most a third of its letters differ.
    public static Optional<String> of(String typed, Collection<String> known) {
        String wanted = typed.toLowerCase(Locale.ROOT);
        return known.stream()
                .filter(name -> (wanted.length() >= SHORTEST_BEGIN && name.toLowerCase(Locale.ROOT).startsWith(wanted))
                        || distance(wanted, name.toLowerCase(Locale.ROOT)) <= Math.max(1, name.length() / 3))
                .min(Comparator.comparingInt((String name) -> distance(wanted, name.toLowerCase(Locale.ROOT)))
                        .thenComparing(Comparator.naturalOrder()));
    }

    /// The same as a hint.
    public static Optional<String> nearest(String typed, Collection<String> known) {
        return of(typed, known).map(name -> "did you mean '" + name + "'?");
    }

    /// As a hint: the nearest name, else all of them.
    public static String hint(String typed, Collection<String> known) {
        return nearest(typed, known).orElseGet(() -> "there are " + String.join(", ", known));
    }

    /// Letters to put in, take out, replace or swap with their neighbour (optimal string alignment).
    public static int distance(String a, String b) {
        int[] beforeLast = new int[b.length() + 1];
        int[] last = new int[b.length() + 1];
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int[] free = beforeLast;
            beforeLast = last;
            last = row;
            row = free;
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = last[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(replaced, 1 + Math.min(last[j], row[j - 1]));
                if (isSwap(a, b, i, j)) {
                    row[j] = Math.min(row[j], 1 + beforeLast[j - 2]);
                }
            }
        }
        return row[b.length()];
    }

    private static boolean isSwap(String a, String b, int i, int j) {
        return i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
    }
}
