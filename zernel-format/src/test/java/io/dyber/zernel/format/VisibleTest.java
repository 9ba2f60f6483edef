package io.dyber.zernel.format;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class VisibleTest {
    @Test
    void whatSteersATerminalIsShownAsAnEscapeSequence() {
        assertThat(Visible.of("ev\u001B[5m<i>il\u0007\r\n\t\u009B2J\u007F")).isEqualTo("ev\\x1b[5m<i>il\\x07\\r\\n\\t\\x9b2J\\x7f");
        assertThat(Visible.of("a\u202Egnp.exe")).isEqualTo("a\\u202egnp.exe");
    }

    @Test
    void otherTextIsAsItIs() {
        assertThat(Visible.of("/dätä/模型 $1 \\n")).isEqualTo("/dätä/模型 $1 \\n");
    }

    @Test
    void linesMayBeKept() {
        assertThat(Visible.butLines("a\tb\nc\r\u001B")).isEqualTo("a\tb\nc\\r\\x1b");
    }
}
