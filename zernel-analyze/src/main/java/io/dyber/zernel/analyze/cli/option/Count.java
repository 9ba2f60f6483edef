package io.dyber.zernel.analyze.cli.option;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// A number of things: at least one.
public final class Count implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
        if (!text.matches("0*[1-9]\\d{0,8}")) {
            throw new TypeConversionException("'" + text + "' is not a number from 1 on");
        }
        return Integer.valueOf(text);
    }
}
