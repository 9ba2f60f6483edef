package io.dyber.zernel.record.attach;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.option.LaunchDetail;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;

/// Keeps what the probes cost within a share of one CPU, all recorded processes together, by recording less of the
/// calls that come by the thousand: first a sample, then their number, then nothing of them.
///
/// One interval over the budget may be a hiccup; two in a row are a reason.
final class Budget {
    private static final int PATIENCE = 2;

    private final OptionalDouble budget;
    private final List<Footer.LaunchChange> changes = new ArrayList<>();
    private int over;

    /// A step down.
    ///
    /// @param share of one CPU that the probes took in the last interval
    record Change(LaunchDetail from, LaunchDetail to, double share, double budget) {
        /// For people.
        String text() {
            return String.format(
                    Locale.ROOT,
                    "probes took %.2f %% of a CPU, the budget is %.2f %%: launches %s instead of %s",
                    100 * share,
                    100 * budget,
                    to,
                    from);
        }
    }

    /// @param budget share of one CPU, empty for none
    Budget(OptionalDouble budget) {
        this.budget = budget;
    }

    /// What to do about an interval in which the probes took this share of one CPU.
    Optional<Change> check(double share, LaunchDetail now) {
        over = budget.isPresent() && share > budget.getAsDouble() ? over + 1 : 0;
        if (over < PATIENCE || now.mode() == LaunchDetail.Mode.OFF) {
            return Optional.empty();
        }
        over = 0;
        return Optional.of(new Change(now, now.less(), share, budget.getAsDouble()));
    }

    /// Remembers a step for the footer.
    void note(Change change, long timeNanos) {
        changes.add(new Footer.LaunchChange(
                timeNanos, change.from().toString(), change.to().toString(), change.share()));
    }

    /// The footer's `zernel.launches`.
    Footer.Launches describe(LaunchDetail now) {
        Double asked = budget.isPresent() ? Double.valueOf(budget.getAsDouble()) : null;
        return new Footer.Launches(now.toString(), asked, List.copyOf(changes));
    }
}
