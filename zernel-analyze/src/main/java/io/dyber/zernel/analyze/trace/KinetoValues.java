package io.dyber.zernel.analyze.trace;

import java.math.BigDecimal;
import java.math.RoundingMode;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/// The value that a parser stands on, null where it is of another kind; what is inside of that is skipped.
record KinetoValues(JsonParser parser) {
    /// Of microseconds: more are left to the exact way, which says what is too large.
    private static final int MOST_WHOLE_DIGITS = 15;
    /// Of a whole number that fits.
    private static final int MOST_DIGITS = 19;
    /// Of a number: what is longer is none.
    private static final int MOST_CHARACTERS = 100;

    @Nullable String text() {
        if (parser.currentToken() == JsonToken.VALUE_STRING) {
            return parser.getString();
        }
        parser.skipChildren();
        return null;
    }

    @Nullable Long integer() {
        boolean fits = parser.currentToken() == JsonToken.VALUE_NUMBER_INT
                && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER;
        if (fits) {
            return parser.getLongValue();
        }
        parser.skipChildren();
        return null;
    }

    /// A whole number, however it is written: `1.7e18` or `"17"` too.
    @Nullable Long whole() {
        String text = digits();
        try {
            if (text == null) {
                return null;
            }
            BigDecimal value = new BigDecimal(text);
            int digits = value.precision() - value.scale();
            if (digits > MOST_DIGITS) {
                return null;
            }
            return digits < 0 ? 0 : value.setScale(0, RoundingMode.HALF_EVEN).longValueExact();
        } catch (ArithmeticException | NumberFormatException _) {
            return null;
        }
    }

    /// A whole number, or the one in a text: `stream 7`.
    @Nullable Long number() {
        return parser.currentToken() == JsonToken.VALUE_STRING ? KinetoProcesses.number(parser.getString()) : integer();
    }

    /// What may be a number, also one in quotes, which some who rewrite traces leave; null for what cannot be one.
    private @Nullable String digits() {
        JsonToken token = parser.currentToken();
        if (token != JsonToken.VALUE_NUMBER_INT && token != JsonToken.VALUE_NUMBER_FLOAT && token != JsonToken.VALUE_STRING) {
            parser.skipChildren();
            return null;
        }
        String text = parser.getString();
        return text.length() <= MOST_CHARACTERS ? text : null;
    }

    /// Microseconds, exact to the nanosecond: as doubles they would be rounded.
    @Nullable Long nanos() {
        String text = digits();
        if (text == null) {
            return null;
        }
        long plain = plainNanos(text);
        if (plain >= 0) {
            return plain;
        }
        try {
            BigDecimal micros = new BigDecimal(text);
            int digits = micros.precision() - micros.scale();
            if (micros.signum() < 0 || digits > 18) {
                return null;
            }
            // What is far below a nanosecond has an exponent that would take for ever to get rid of.
            return digits < -3 ? 0 : micros.movePointRight(3).setScale(0, RoundingMode.HALF_EVEN).longValueExact();
        } catch (ArithmeticException | NumberFormatException _) {
            return null; // too large, or NaN
        }
    }

    /// Of digits with at most three behind a point, which nearly all times are; -1 for anything else.
    private static long plainNanos(String text) {
        int length = text.length();
        int point = text.indexOf('.');
        int whole = point < 0 ? length : point;
        if (whole == 0 || whole > MOST_WHOLE_DIGITS || length - whole > 4 || length - whole == 1) {
            return -1;
        }
        long value = 0;
        for (int i = 0; i < whole + 4; i++) {
            if (i == whole) {
                continue;
            }
            char digit = i < length ? text.charAt(i) : '0';
            if (digit < '0' || digit > '9') {
                return -1;
            }
            value = value * 10 + (digit - '0');
        }
        return value;
    }
}
