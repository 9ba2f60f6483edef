package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.option.StackOptions;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// Samples a second, from 0 to [StackOptions#MOST_SAMPLES].
final class SampleRate implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
        int rate = text.matches("[0-9]{1,3}") ? Integer.parseInt(text) : -1;
        if (rate < 0) {
            throw new TypeConversionException("'" + text + "' is no number from 0 to " + StackOptions.MOST_SAMPLES);
        }
        return rate;
    }
}
