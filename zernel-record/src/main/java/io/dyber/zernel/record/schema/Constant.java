package io.dyber.zernel.record.schema;

/// A value that a column has in every row of a function.
///
/// @param text of a VARCHAR column; empty for a number
public record Constant(String column, long number, String text) {
    public static Constant of(String column, long number) {
        return new Constant(column, number, "");
    }

    public static Constant of(String column, String text) {
        return new Constant(column, 0, text);
    }

    public boolean isText() {
        return !text.isEmpty();
    }
}
