package io.dyber.zernel.analyze;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A line of the job's code that holds some of what a finding tells of.
///
/// @param of what it holds a share of, e.g. `the waits`
/// @param share of all such time whose stack is known, 0 to 1
/// @param line where in the user's own code that is: `train.py:88 log_loss`
/// @param within which lines of that function are counted together, where it is more than this one: `lines 86 to 91`; else null
/// @param calls what that called for at least half of it, and what that was mostly in where it says little (`LineRule`): `Tensor.item`;
///     null where no call did
/// @param faster what is faster than what that called, and why where that is not plain, of calls for which that is known (the view
///     `known_calls`); else null
/// @param amount nanoseconds in the recording; bytes where the finding is about these
/// @param count events with this line: calls that blocked, or samples
public record FindingLine(
        String of,
        double share,
        String line,
        @Nullable String within,
        @Nullable String calls,
        @Nullable String faster,
        double amount,
        long count) {
    /// `62 % of the waits: train.py:88 log_loss -> Tensor.item`, and what is faster
    public String text() {
        return amountAndPlace() + (faster == null ? "" : "; faster: " + faster);
    }

    /// The same below a line of the same finding that has said what is faster, where it is that.
    public String textBelow(FindingLine above) {
        return faster != null && faster.equals(above.faster) ? amountAndPlace() + "; faster: as above" : text();
    }

    private String amountAndPlace() {
        return Math.round(100 * share) + " % of " + of + ": " + place();
    }

    /// `train.py:88 log_loss -> Tensor.item`, or `train.py:88 log_loss (lines 86 to 91)`
    public String place() {
        return line + (within == null ? "" : " (" + within + ")") + (calls == null ? "" : " -> " + calls);
    }

    /// The same by name, as it is in JSON.
    public Map<String, @Nullable Object> members() {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("of", of);
        members.put("share", share);
        members.put("line", line);
        members.put("within", within);
        members.put("calls", calls);
        members.put("faster", faster);
        members.put("amount", amount);
        members.put("count", count);
        return members;
    }
}
