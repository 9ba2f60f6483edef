package io.dyber.zernel.record.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class SearchPathTest {
    @Test
    void foldersAreSeparatedByColonsOrSemicolons() {
        assertThat(SearchPath.folders("/a:/b;/c", "", "/here")).containsExactly("/a", "/b", "/c");
    }

    @Test
    void anEmptyOrRelativeFolderIsThatOfTheProcess() {
        assertThat(SearchPath.folders("/a:", "", "/here")).containsExactly("/a", "/here");
        assertThat(SearchPath.folders("lib", "", "/here")).containsExactly("/here/lib");
        assertThat(SearchPath.folders("", "", "/here")).isEmpty();
    }

    @Test
    void originIsTheFolderOfTheFile() {
        assertThat(SearchPath.folders("$ORIGIN/../lib:${ORIGIN}", "/opt/job/bin", "/"))
                .containsExactly("/opt/job/bin/../lib", "/opt/job/bin");
    }

    @Test
    void theFolderOfAPath() {
        assertThat(SearchPath.parent("/usr/bin/env")).isEqualTo("/usr/bin");
        assertThat(SearchPath.parent("/env")).isEqualTo("/");
        assertThat(SearchPath.parent("env")).isEqualTo("/");
    }
}
