package io.dyber.zernel.analyze.whatif;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// A split of all operations into parts, such as ranks.
final class Dimension {
    private final String name;
    private final List<String> parts = new ArrayList<>();
    private final int[] partOf;

    /// Splits operations by a word of each.
    Dimension(String name, List<String> words) {
        this.name = name;
        this.partOf = new int[words.size()];
        Map<String, Integer> numbers = new HashMap<>();
        for (int i = 0; i < partOf.length; i++) {
            partOf[i] = numbers.computeIfAbsent(words.get(i), part -> {
                parts.add(part);
                return parts.size() - 1;
            });
        }
    }

    String name() {
        return name;
    }

    /// The parts, numbered from 0.
    List<String> parts() {
        return parts;
    }

    /// The part that an operation is in.
    int partOf(int operation) {
        return partOf[operation];
    }
}
