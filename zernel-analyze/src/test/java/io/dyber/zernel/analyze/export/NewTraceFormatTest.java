package io.dyber.zernel.analyze.export;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.FormatRules;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The recipe of CONTRIBUTING.md for a format of `export`: what is said when a step is left out. That its option is tried
/// with bad files, `EveryCommandTest` tests.
class NewTraceFormatTest {
    private static final String LIST = "ExportFormat.ALL";
    private static final Selection ALL = new Selection(List.of(), List.of(), 0, 1, 0, List.of());

    private static List<Class<?>> opened(List<ExportFormat> formats) throws IOException {
        List<Class<?>> opened = new ArrayList<>();
        for (ExportFormat format : formats) {
            if (format.content() instanceof ExportFormat.OfTrace<?> trace) {
                try (TraceFormat written = trace.factory().open(new ByteArrayOutputStream(), ALL)) {
                    opened.add(written.getClass());
                }
            }
        }
        return opened;
    }

    private static List<Class<?>> classes() {
        return List.of(TraceFormat.class.getPermittedSubclasses());
    }

    @Test
    void nothingIsLeftOutOfTheFormatsThatShip() throws IOException {
        assertThat(FormatRules.breaches(
                        classes(),
                        opened(ExportFormat.ALL),
                        LIST,
                        ExportFormat.ALL.stream().map(ExportFormat::option).toList(),
                        FormatRules.tests(NewTraceFormatTest.class)))
                .isEmpty();
    }

    @Test
    void aClassWithoutItsLineIsNamed() throws IOException {
        List<ExportFormat> formats =
                ExportFormat.ALL.stream().filter(format -> !format.option().equals("--chrome")).toList();
        assertThat(FormatRules.breaches(classes(), opened(formats), LIST, List.of(), ""))
                .containsExactly("no line of ExportFormat.ALL opens ChromeTrace");
    }

    @Test
    void anOptionWithoutATestIsNamed() throws IOException {
        assertThat(FormatRules.breaches(
                        List.of(), List.of(), LIST, List.of("--csv", "--svg"), FormatRules.tests(NewTraceFormatTest.class)))
                .containsExactly("no test gives the option --svg");
    }
}
