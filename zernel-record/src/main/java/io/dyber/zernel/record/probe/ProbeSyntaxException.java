package io.dyber.zernel.record.probe;

/// A probe text that cannot be understood. The message shows the text with a caret under the place.
public final class ProbeSyntaxException extends IllegalArgumentException {
    private final int position;
    private final String why;
    private final String hint;

    ProbeSyntaxException(String text, int position, String why, String hint) {
        super("reading probe '" + text + "': " + why + "\n  " + text + "\n  " + " ".repeat(position) + "^");
        this.position = position;
        this.why = why;
        this.hint = hint;
    }

    /// Index into the text, 0 for its first character.
    public int position() {
        return position;
    }

    public String why() {
        return why;
    }

    /// What to write instead; empty if there is nothing to add.
    public String hint() {
        return hint;
    }
}
