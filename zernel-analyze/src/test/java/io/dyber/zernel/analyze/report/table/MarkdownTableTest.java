package io.dyber.zernel.analyze.report.table;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MarkdownTableTest {
    @Test
    void aTextIsShownAsItIs() {
        assertThat(MarkdownTable.escaped("![x](u)")).isEqualTo("\\!\\[x\\](u)");
        assertThat(MarkdownTable.escaped("\\<img>")).isEqualTo("\\\\\\<img\\>");
        assertThat(MarkdownTable.escaped("~~a_b~~&lt;")).isEqualTo("\\~\\~a\\_b\\~\\~\\&lt;");
        assertThat(MarkdownTable.escaped("two\nlines|")).isEqualTo("two lines\\|");
    }
}
