package io.dyber.zernel.record.attach;

import java.util.Locale;

/// Whether the events of a kind are recorded.
///
/// @param why not, or what else is to be said; empty where nothing is
public record KindState(State state, String why) {
    public static final KindState LEFT_OUT = off("left out by --kinds");

    enum State {
        ATTACHED,
        UNAVAILABLE,
        OFF,
        WAITING
    }

    public static KindState attached(String remark) {
        return new KindState(State.ATTACHED, remark);
    }

    public static KindState unavailable(String why) {
        return new KindState(State.UNAVAILABLE, why);
    }

    public static KindState off(String why) {
        return new KindState(State.OFF, why);
    }

    public static KindState waiting(String why) {
        return new KindState(State.WAITING, why);
    }

    boolean isUnavailable() {
        return state == State.UNAVAILABLE;
    }

    /// As the footer names it.
    public String word() {
        return state.name().toLowerCase(Locale.ROOT);
    }
}
