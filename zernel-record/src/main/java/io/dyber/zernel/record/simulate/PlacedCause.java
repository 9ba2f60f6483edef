package io.dyber.zernel.record.simulate;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// What is wrong with one machine of a job, or with one of its ranks: `data-bound-cpu@node=12`, `straggler-rank@rank=37`.
///
/// @param number of the machine or the rank, from 0
public record PlacedCause(Scenario cause, Place place, int number) {
    /// What [#number] counts.
    public enum Place {
        NODE,
        RANK
    }

    private static final Pattern TEXT = Pattern.compile("([a-z-]+)@(node|rank)=([0-9]{1,6})");

    public PlacedCause {
        if (!cause.isOfOneRank()) {
            throw new IllegalArgumentException(
                    "'" + cause.label() + "' concerns all ranks; causes of some are " + labels());
        }
    }

    /// The cause that a text names.
    ///
    /// @throws IllegalArgumentException that says what would be right
    public static PlacedCause parse(String text) {
        Matcher parts = TEXT.matcher(text);
        if (!parts.matches()) {
            throw new IllegalArgumentException("'" + text + "' is not CAUSE@node=N or CAUSE@rank=N");
        }
        Scenario cause = Scenario.named(parts.group(1))
                .orElseThrow(() -> new IllegalArgumentException(
                        "unknown cause '" + parts.group(1) + "'; causes of some ranks are " + labels()));
        Place place = parts.group(2).equals("node") ? Place.NODE : Place.RANK;
        return new PlacedCause(cause, place, Integer.parseInt(parts.group(3)));
    }

    /// The first rank that has it.
    int firstRank(int ranksPerNode) {
        return place == Place.NODE ? number * ranksPerNode : number;
    }

    /// How many have it.
    int ranks(int ranksPerNode) {
        return place == Place.NODE ? ranksPerNode : 1;
    }

    private static String labels() {
        List<Scenario> placeable =
                Arrays.stream(Scenario.values()).filter(Scenario::isOfOneRank).toList();
        return placeable.stream().map(Scenario::label).collect(Collectors.joining(", "));
    }

    @Override
    public String toString() {
        return cause.label() + "@" + (place == Place.NODE ? "node=" : "rank=") + number;
    }
}
