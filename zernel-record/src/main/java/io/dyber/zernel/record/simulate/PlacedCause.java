package io.dyber.zernel.record.simulate;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// What is wrong with one machine of a job, or with one of its ranks: `data-bound-cpu@node=12`, `straggler-rank@rank=37`, or
/// `straggler-rank@rank=37,from=200` where that is only so from a step on.
///
/// @param number of the machine or the rank, from 0
/// @param from the step with which it begins, from 0
public record PlacedCause(Scenario cause, Place place, int number, int from) {
    /// What [#number] counts.
    public enum Place {
        NODE,
        RANK
    }

    private static final Pattern TEXT = Pattern.compile("([a-z-]+)@(node|rank)=([0-9]{1,6})(?:,from=([0-9]{1,6}))?");

    public PlacedCause {
        if (!cause.isOfOneRank()) {
            throw new IllegalArgumentException(
                    "'" + cause.label() + "' concerns all ranks; causes of some are " + labels());
        }
        if (from > 0 && cause != Scenario.STRAGGLER_RANK) {
            throw new IllegalArgumentException("'" + cause.label() + "' cannot begin with a step; " + Scenario.STRAGGLER_RANK.label() + " can");
        }
    }

    /// The cause that a text names.
    ///
    /// @throws IllegalArgumentException that says what would be right
    public static PlacedCause parse(String text) {
        Matcher parts = TEXT.matcher(text);
        if (!parts.matches()) {
            throw new IllegalArgumentException("'" + text + "' is not CAUSE@node=N or CAUSE@rank=N, with ,from=STEP or without");
        }
        Scenario cause = Scenario.named(parts.group(1))
                .orElseThrow(() -> new IllegalArgumentException(
                        "unknown cause '" + parts.group(1) + "'; causes of some ranks are " + labels()));
        Place place = parts.group(2).equals("node") ? Place.NODE : Place.RANK;
        int from = parts.group(4) == null ? 0 : Integer.parseInt(parts.group(4));
        return new PlacedCause(cause, place, Integer.parseInt(parts.group(3)), from);
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
        return cause.label() + "@" + (place == Place.NODE ? "node=" : "rank=") + number + (from > 0 ? ",from=" + from : "");
    }
}
