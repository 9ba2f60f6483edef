package io.dyber.zernel.serve.watch;

import io.dyber.zernel.format.Visible;

/// One line of a screen, built from left to right: what does not fit is left out, whatever the colours take.
final class ScreenLine {
    private static final String RESET = "\u001b[0m";

    private final StringBuilder text = new StringBuilder();
    private final boolean colours;
    private int left;

    /// How a piece looks; without colours all look the same.
    enum Style {
        PLAIN(""),
        BOLD("1"),
        DIM("2"),
        RED("1;31"),
        YELLOW("33"),
        GREEN("32"),
        MAGENTA("35"),
        BLUE("34");

        private final String code;

        Style(String code) {
            this.code = code;
        }
    }

    ScreenLine(int width, boolean colours) {
        this.left = Math.max(0, width);
        this.colours = colours;
    }

    ScreenLine add(String piece) {
        return add(Style.PLAIN, piece);
    }

    ScreenLine add(Style style, String piece) {
        String fits = clip(Visible.of(piece), left);
        left -= fits.codePointCount(0, fits.length());
        boolean styled = colours && style != Style.PLAIN && !fits.isEmpty();
        text.append(styled ? "\u001b[" + style.code + "m" : "").append(fits).append(styled ? RESET : "");
        return this;
    }

    /// Moves to the column `column`, or not at all when that is behind.
    ScreenLine to(int column, int width) {
        return add(" ".repeat(Math.max(0, column - (width - left))));
    }

    int left() {
        return left;
    }

    private static String clip(String piece, int width) {
        return piece.codePointCount(0, piece.length()) <= width
                ? piece
                : piece.substring(0, piece.offsetByCodePoints(0, width));
    }

    @Override
    public String toString() {
        return text.toString().stripTrailing();
    }
}
