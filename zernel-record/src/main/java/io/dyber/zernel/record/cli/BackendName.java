package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.bpf.Backend;
import java.util.Arrays;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// A backend by its title.
final class BackendName implements ITypeConverter<Backend> {
    @Override
    public Backend convert(String text) {
        return Arrays.stream(Backend.values())
                .filter(backend -> backend.title().equals(text))
                .findFirst()
                .orElseThrow(() -> new TypeConversionException("'" + text
                        + "' is not a backend: " + Arrays.stream(Backend.values()).map(Backend::title).toList()));
    }
}
