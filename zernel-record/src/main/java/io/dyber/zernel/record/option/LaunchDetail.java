package io.dyber.zernel.record.option;

import io.dyber.zernel.record.event.Layer;
import io.dyber.zernel.record.probe.FunctionProbe;
import java.util.Optional;
import java.util.Set;

/// How much is recorded of the calls that come by the thousand in a step: kernel launches and PyTorch's allocator.
///
/// The less is recorded of them, the less it costs the job. When not every call is recorded, no record tells which call was
/// made inside which: so launches are taken in one place only, the driver or, where it is not probed, the functions of the
/// runtime that each launch goes through once.
///
/// @param every of [Mode#SAMPLE], one call in so many is recorded
public record LaunchDetail(Mode mode, int every) {
    /// From most to least.
    public enum Mode {
        ALL,
        SAMPLE,
        COUNT,
        OFF
    }

    public static final LaunchDetail ALL = new LaunchDetail(Mode.ALL, 1);
    public static final LaunchDetail COUNT = new LaunchDetail(Mode.COUNT, 0);
    public static final LaunchDetail OFF = new LaunchDetail(Mode.OFF, 0);
    private static final int MOST = 1_000_000;
    private static final int FIRST_SAMPLE = 16;
    private static final Set<String> KINDS = Set.of("cuda_launch", "torch_alloc", "torch_free");

    /// Reads `all`, `sample:N`, `count` or `off`.
    public static Optional<LaunchDetail> parse(String text) {
        if (text.matches("sample:[0-9]{1,7}")) {
            int every = Integer.parseInt(text.substring("sample:".length()));
            return every >= 1 && every <= MOST ? Optional.of(new LaunchDetail(Mode.SAMPLE, every)) : Optional.empty();
        }
        return switch (text) {
            case "all" -> Optional.of(ALL);
            case "count" -> Optional.of(COUNT);
            case "off" -> Optional.of(OFF);
            default -> Optional.empty();
        };
    }

    /// Whether this says anything about the calls of a hook.
    public static boolean concern(FunctionProbe hook) {
        return hook.role().isEvent() && KINDS.contains(hook.probe().kind());
    }

    /// Whether the hook is to be attached.
    public boolean attach(FunctionProbe hook) {
        return !concern(hook) || mode == Mode.ALL || (mode != Mode.OFF && !isWrapper(hook));
    }

    /// Whether the function does nothing but call another one of its own layer.
    public static boolean isWrapper(FunctionProbe hook) {
        return hook.layer() == Layer.RUNTIME && hook.symbol().startsWith("__");
    }

    /// Whether each call is a record, by which those inside one another are told.
    public boolean isEach() {
        return mode == Mode.ALL;
    }

    /// One call in so many is recorded, 0 for none.
    public int sample(FunctionProbe hook) {
        boolean launch = hook.probe().kind().equals("cuda_launch");
        // Some allocations without their releases say nothing.
        return mode == Mode.ALL ? 1 : launch ? every : 0;
    }

    /// The next cheaper way.
    public LaunchDetail less() {
        return switch (mode) {
            case ALL -> new LaunchDetail(Mode.SAMPLE, FIRST_SAMPLE);
            case SAMPLE -> COUNT;
            case COUNT, OFF -> OFF;
        };
    }

    @Override
    public String toString() {
        return switch (mode) {
            case ALL -> "all";
            case SAMPLE -> "sample:" + every;
            case COUNT -> "count";
            case OFF -> "off";
        };
    }
}
