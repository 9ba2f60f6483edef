package io.dyber.zernel.record.probe;

import java.util.List;

/// One value that a probe stores in a column.
///
/// The value `v` starts as the argument or the return value. Each offset but the last replaces it by the pointer at
/// `v + offset`. The last offset, or `v` itself when there is none, is the place of the value: an integer of
/// [#width] bytes is read there, a [Width#STR] is the text behind the `char *` there, a [Width#STDSTR] is the object
/// there. Without offsets an integer is `v` itself cut to its width, a `STR` is the text at `v`, and a `STDSTR` the
/// object at `v` (what a `std::string const &` argument is).
///
/// @param argument 1 to 12; 0 for the return value
/// @param offsets at most three
/// @param shift bits of the value to drop, for two values that share a register
/// @param labels what the values 0, 1, ... are called; then the column is a text
/// @param tags bits of the pointers on the way that do not belong to the address
/// @param atReturn read when the function returns: the return value, and what an out-pointer argument then points to
public record Capture(
        String column,
        Source source,
        int argument,
        List<Integer> offsets,
        Width width,
        boolean atReturn,
        int shift,
        List<String> labels,
        int tags) {
    public static final int MAX_ARGUMENT = 12;
    static final int REGISTER_ARGUMENTS = 6;
    public static final int MAX_OFFSETS = 3;

    public Capture {
        offsets = List.copyOf(offsets);
        labels = List.copyOf(labels);
        boolean argumentFits =
                switch (source) {
                    case ARGUMENT -> argument >= 1 && argument <= MAX_ARGUMENT;
                    case STACK -> argument > REGISTER_ARGUMENTS && argument <= MAX_ARGUMENT;
                    case RETURN, CALLERS -> argument == 0 && atReturn;
                };
        if (!argumentFits || offsets.size() > MAX_OFFSETS) {
            throw new IllegalArgumentException("capturing '" + column + "': argument " + argument + " with "
                    + offsets.size() + " dereferences cannot be read");
        }
        if (source == Source.ARGUMENT && atReturn && offsets.isEmpty()) {
            throw new IllegalArgumentException(
                    "capturing '" + column + "': an argument itself is the same at return as at entry");
        }
    }

    /// A value behind plain pointers.
    public Capture(
            String column,
            Source source,
            int argument,
            List<Integer> offsets,
            Width width,
            boolean atReturn,
            int shift,
            List<String> labels) {
        this(column, source, argument, offsets, width, atReturn, shift, labels, 0);
    }

    /// A whole value.
    public Capture(
            String column, Source source, int argument, List<Integer> offsets, Width width, boolean atReturn) {
        this(column, source, argument, offsets, width, atReturn, 0, List.of());
    }

    /// Whether it fills a VARCHAR column.
    public boolean isText() {
        return width.text() || !labels.isEmpty();
    }

    /// Argument `n` of the function, at entry.
    public static Capture argument(String column, int n, Width width) {
        return new Capture(column, Source.ARGUMENT, n, List.of(), width, false);
    }

    /// The stack of the caller of a call that took long.
    public static Capture callers() {
        return new Capture("stack", Source.CALLERS, 0, List.of(), Width.U64, true);
    }

    /// The return value.
    public static Capture returned(String column, Width width) {
        return new Capture(column, Source.RETURN, 0, List.of(), width, true);
    }
}
