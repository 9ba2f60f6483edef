package io.dyber.zernel.record.elf;

import io.dyber.zernel.format.Suggestion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/// Collects names that resemble one that does not exist, of more names than are worth keeping. Unlike [Suggestion] it
/// looks into mangled names of C++, and takes a name that contains the one that was written.
final class SimilarNames {
    private static final int KEPT = 64;
    private static final int NOT_SIMILAR = Integer.MAX_VALUE;

    private record Candidate(String name, int distance) {}

    private final String wanted;
    private final int tolerance;
    private final Set<String> seen = new HashSet<>();
    private List<Candidate> candidates = new ArrayList<>();

    SimilarNames(String name) {
        String last = name.substring(name.lastIndexOf(':') + 1).replaceFirst("@.*", "");
        this.wanted = last.replace("*", "").replace("?", "").toLowerCase(Locale.ROOT);
        this.tolerance = Math.clamp(wanted.length() / 4, 1, 3);
    }

    void offer(String name) {
        int distance = distance(name.toLowerCase(Locale.ROOT));
        if (distance != NOT_SIMILAR && seen.add(name)) {
            candidates.add(new Candidate(name, distance));
            if (candidates.size() >= 2 * KEPT) {
                candidates = new ArrayList<>(best(KEPT));
                seen.clear();
                candidates.forEach(c -> seen.add(c.name()));
            }
        }
    }

    List<String> closest(int limit) {
        return best(limit).stream().map(Candidate::name).toList();
    }

    private List<Candidate> best(int limit) {
        return candidates.stream()
                .sorted(Comparator.comparingInt(Candidate::distance)
                        .thenComparingInt(c -> c.name().length())
                        .thenComparing(Candidate::name))
                .limit(limit)
                .toList();
    }

    private int distance(String name) {
        if (wanted.length() < 3) {
            return NOT_SIMILAR;
        }
        int closest = editsIfFew(name);
        if (name.startsWith("_z")) {
            closest = Math.min(closest, closestPart(name));
        }
        if (closest != NOT_SIMILAR) {
            return closest;
        }
        return name.contains(wanted) ? tolerance + 1 : NOT_SIMILAR;
    }

    /// The least distance of the identifiers in a mangled C++ name, each written as its length and itself.
    private int closestPart(String name) {
        int closest = NOT_SIMILAR;
        int length = 0;
        for (int at = 2; at < name.length(); at++) {
            int digit = name.charAt(at) - '0';
            if (digit >= 0 && digit <= 9) {
                length = length > name.length() ? length : 10 * length + digit;
            } else if (length > 0 && length <= name.length() - at) {
                closest = Math.min(closest, editsIfFew(name.substring(at, at + length)));
                at += length - 1;
                length = 0;
            }
        }
        return closest;
    }

    private int editsIfFew(String name) {
        if (Math.abs(name.length() - wanted.length()) > tolerance) {
            return NOT_SIMILAR;
        }
        int edits = Suggestion.distance(wanted, name);
        return edits <= tolerance ? edits : NOT_SIMILAR;
    }
}
