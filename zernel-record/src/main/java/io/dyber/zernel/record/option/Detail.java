package io.dyber.zernel.record.option;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.event.Layer;
import io.dyber.zernel.record.probe.FunctionProbe;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// How much is recorded of the calls that come by the thousand in a step: kernel launches and PyTorch's allocator.
///
/// The less is recorded of them, the less it costs the job. When not every call is recorded, no record tells which call was
/// made inside which: so launches are taken in one place only, the driver or, where it is not probed, the functions of the
/// runtime that each launch goes through once.
///
/// @param every of [Mode#SAMPLE], one call in so many is recorded; of [Mode#TURNS], steps in a turn
/// @param steps of [Mode#TURNS], with detail in each turn
public record Detail(Mode mode, int every, int steps) {
    /// What is done about them.
    public enum Mode {
        /// All the time where that costs a step no more than the budget, else in windows of some steps.
        AUTO,
        /// Each call.
        ALL,
        /// Each call, in some steps of so many.
        TURNS,
        /// One call in so many.
        SAMPLE,
        /// Only how many there are.
        COUNT,
        OFF
    }

    public static final Detail AUTO = new Detail(Mode.AUTO, 1, 0);
    public static final Detail ALL = new Detail(Mode.ALL, 1, 0);
    public static final Detail COUNT = new Detail(Mode.COUNT, 0, 0);
    public static final Detail OFF = new Detail(Mode.OFF, 0, 0);
    /// What [#parse] takes, for people.
    public static final String FORMS = "auto, all, N/M steps, sample:N, count or off";
    private static final int MOST = 1_000_000;
    private static final Pattern SAMPLED = Pattern.compile("sample:([0-9]{1,7})");
    private static final Pattern IN_TURNS = Pattern.compile("([0-9]{1,7})/([0-9]{1,7})");

    /// Reads `auto`, `all`, `5/100`, `sample:16`, `count` or `off`.
    public static Optional<Detail> parse(String text) {
        Matcher sampled = SAMPLED.matcher(text);
        if (sampled.matches()) {
            int every = Integer.parseInt(sampled.group(1));
            return every >= 1 && every <= MOST ? Optional.of(new Detail(Mode.SAMPLE, every, 0)) : Optional.empty();
        }
        Matcher turns = IN_TURNS.matcher(text);
        if (turns.matches()) {
            int steps = Integer.parseInt(turns.group(1));
            int every = Integer.parseInt(turns.group(2));
            return steps >= 1 && every > steps && every <= MOST
                    ? Optional.of(new Detail(Mode.TURNS, every, steps))
                    : Optional.empty();
        }
        return switch (text) {
            case "auto" -> Optional.of(AUTO);
            case "all" -> Optional.of(ALL);
            case "count" -> Optional.of(COUNT);
            case "off" -> Optional.of(OFF);
            default -> Optional.empty();
        };
    }

    /// Whether this says anything about the calls of a hook.
    public static boolean concern(FunctionProbe hook) {
        return hook.role().isEvent() && Footer.DETAIL_KINDS.contains(hook.probe().kind());
    }

    /// Whether the hook is to be attached, at least at times.
    public boolean attach(FunctionProbe hook) {
        return !concern(hook) || isEach() || (mode != Mode.OFF && !isWrapper(hook));
    }

    /// Whether the function does nothing but call another one of its own layer.
    public static boolean isWrapper(FunctionProbe hook) {
        return hook.layer() == Layer.RUNTIME && hook.symbol().startsWith("__");
    }

    /// Whether each call is a record while any is, by which those inside one another are told.
    public boolean isEach() {
        return mode == Mode.ALL || inWindows();
    }

    /// Whether calls may be recorded at some times and not at others.
    public boolean inWindows() {
        return mode == Mode.AUTO || mode == Mode.TURNS;
    }

    /// One call in so many is recorded, 0 for none.
    public int sample(FunctionProbe hook) {
        boolean launch = hook.probe().kind().equals("cuda_launch");
        // Some allocations without their releases say nothing.
        return isEach() ? 1 : launch ? every : 0;
    }

    @Override
    public String toString() {
        return switch (mode) {
            case AUTO -> "auto";
            case ALL -> "all";
            case TURNS -> steps + "/" + every;
            case SAMPLE -> "sample:" + every;
            case COUNT -> "count";
            case OFF -> "off";
        };
    }
}
