package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.option.Detail;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// As [Detail#parse] reads it.
final class DetailOption implements ITypeConverter<Detail> {
    @Override
    public Detail convert(String text) {
        return Detail.parse(text)
                .orElseThrow(() -> new TypeConversionException("'" + text + "' is none of " + Detail.FORMS
                        + " (N from 1 to 1000000, as 5/100 or sample:16)"));
    }
}
