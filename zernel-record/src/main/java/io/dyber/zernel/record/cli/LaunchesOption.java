package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.option.LaunchDetail;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// `all`, `sample:N`, `count` or `off`.
final class LaunchesOption implements ITypeConverter<LaunchDetail> {
    @Override
    public LaunchDetail convert(String text) {
        return LaunchDetail.parse(text)
                .orElseThrow(() -> new TypeConversionException(
                        "'" + text + "' is none of all, sample:N (N from 1 to 1000000), count and off"));
    }
}
