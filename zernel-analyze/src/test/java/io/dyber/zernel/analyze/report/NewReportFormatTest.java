package io.dyber.zernel.analyze.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.FormatRules;
import io.dyber.zernel.analyze.SqlLibrary;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The recipe of CONTRIBUTING.md for a format of the report: what is said when a step is left out. That its option is
/// tried with bad files, `EveryCommandTest` tests.
class NewReportFormatTest {
    private static final String LIST = "ReportForm.ALL";

    private static List<Class<?>> opened(List<ReportForm> forms) {
        List<Class<?>> opened = new ArrayList<>(List.of(TextReport.class)); // what is printed without an option
        PrintWriter nowhere = new PrintWriter(new StringWriter());
        forms.forEach(form -> opened.add(form.factory().open(nowhere, SqlLibrary.builtIn()).getClass()));
        return opened;
    }

    private static List<Class<?>> classes() {
        return List.of(ReportFormat.class.getPermittedSubclasses());
    }

    @Test
    void nothingIsLeftOutOfTheFormatsThatShip() throws IOException {
        assertThat(FormatRules.breaches(
                        classes(),
                        opened(ReportForm.ALL),
                        LIST,
                        ReportForm.ALL.stream().map(ReportForm::option).toList(),
                        FormatRules.tests(NewReportFormatTest.class)))
                .isEmpty();
    }

    @Test
    void aClassWithoutItsLineIsNamed() {
        List<ReportForm> forms = ReportForm.ALL.stream().filter(form -> !form.option().equals("--html")).toList();
        assertThat(FormatRules.breaches(classes(), opened(forms), LIST, List.of(), ""))
                .containsExactly("no line of ReportForm.ALL opens HtmlReport");
    }

    @Test
    void anOptionWithoutATestIsNamed() throws IOException {
        assertThat(FormatRules.breaches(
                        List.of(), List.of(), LIST, List.of("--html", "--pdf"), FormatRules.tests(NewReportFormatTest.class)))
                .containsExactly("no test gives the option --pdf");
    }
}
