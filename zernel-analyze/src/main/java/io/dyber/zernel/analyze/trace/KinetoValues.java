package io.dyber.zernel.analyze.trace;

import java.math.BigDecimal;
import java.math.RoundingMode;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/// The value that a parser stands on, null where it is of another kind; what is inside of that is skipped.
record KinetoValues(JsonParser parser) {
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

    /// Microseconds, exact to the nanosecond: as doubles they would be rounded.
    @Nullable Long nanos() {
        JsonToken token = parser.currentToken();
        if (token != JsonToken.VALUE_NUMBER_INT && token != JsonToken.VALUE_NUMBER_FLOAT) {
            parser.skipChildren();
            return null;
        }
        try {
            BigDecimal micros = new BigDecimal(parser.getString());
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
}
