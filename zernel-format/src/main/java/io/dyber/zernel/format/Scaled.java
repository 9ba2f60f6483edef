package io.dyber.zernel.format;

import java.util.Locale;

/// Numbers with the unit in which they are short: three significant digits.
public final class Scaled {
    private Scaled() {}

    /// The value in the first unit in which it is below a thousand.
    ///
    /// @param units of which each is a thousand of the one before
    public static String of(double value, String... units) {
        int unit = 0;
        double scaled = value;
        while (Math.abs(scaled) >= 999.5 && unit < units.length - 1) {
            scaled /= 1000;
            unit++;
        }
        double size = Math.abs(scaled);
        int decimals = unit == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
        return String.format(Locale.ROOT, "%." + decimals + "f %s", scaled, units[unit]);
    }
}
