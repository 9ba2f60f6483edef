package io.dyber.zernel.analyze.report.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

final class PageTest {
    private static final String HOSTILE = "ev\u001B[5m\u001B[31mil\r\uFDD05\uFDD1";

    @Test
    void anEscapeSequenceInANameIsShownAndNotObeyed() {
        StringWriter text = new StringWriter();
        Page page = new Page(new PrintWriter(text), 80, true, true);
        page.line(page.bold(HOSTILE) + " " + page.colour(36, "x"));
        assertThat(text).hasToString("\u001B[1mev\\x1b[5m\\x1b[31mil\\r\uFDD05\uFDD1\u001B[0m \u001B[36mx\u001B[0m\n");
    }

    @Test
    void aPageWithoutColoursHasNoEscapeSequence() {
        StringWriter text = new StringWriter();
        Page page = new Page(new PrintWriter(text), 80, false, true);
        page.line(page.bold(HOSTILE));
        assertThat(text).hasToString("ev\\x1b[5m\\x1b[31mil\\r\uFDD05\uFDD1\n");
    }
}
