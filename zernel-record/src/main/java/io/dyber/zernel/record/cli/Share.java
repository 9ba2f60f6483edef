package io.dyber.zernel.record.cli;

import java.util.OptionalDouble;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// A percentage above 0, e.g. `1%` or `0.5%`; 1 % is 0.01.
final class Share implements ITypeConverter<OptionalDouble> {
    @Override
    public OptionalDouble convert(String text) {
        if (!text.matches("[0-9]{1,4}(\\.[0-9]{1,4})?%")) {
            throw new TypeConversionException("'" + text + "' is not a percentage (e.g. 1%, 0.5%)");
        }
        double share = Double.parseDouble(text.substring(0, text.length() - 1)) / 100;
        if (share == 0) {
            throw new TypeConversionException("'" + text + "' is nothing; --detail off records no detail");
        }
        return OptionalDouble.of(share);
    }
}
