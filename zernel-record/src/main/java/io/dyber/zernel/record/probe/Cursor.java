package io.dyber.zernel.record.probe;

/// A place in a probe text that moves forward while it is read, and knows how to complain about it.
final class Cursor {
    private final String text;
    private int at;

    Cursor(String text) {
        this.text = text;
    }

    int position() {
        return at;
    }

    boolean atEnd() {
        return at == text.length();
    }

    /// Whether the rest starts with `expected`; if so, it is passed.
    boolean take(String expected) {
        boolean there = text.startsWith(expected, at);
        if (there) {
            at += expected.length();
        }
        return there;
    }

    /// The next character, a blank at the end.
    char peek() {
        return atEnd() ? ' ' : text.charAt(at);
    }

    void skipBlanks() {
        while (!atEnd() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    /// Passes everything up to one of `stops` or the end, and returns it.
    String until(String stops) {
        int start = at;
        while (!atEnd() && stops.indexOf(text.charAt(at)) < 0) {
            at++;
        }
        return text.substring(start, at);
    }

    /// Passes letters, digits and `_`.
    String word() {
        int start = at;
        while (!atEnd() && (Character.isLetterOrDigit(text.charAt(at)) || text.charAt(at) == '_')) {
            at++;
        }
        return text.substring(start, at);
    }

    /// What stands here, for a message.
    String here() {
        return atEnd() ? "the end" : "'" + text.charAt(at) + "'";
    }

    ProbeSyntaxException error(int position, String why, String hint) {
        return new ProbeSyntaxException(text, position, why, hint);
    }
}
