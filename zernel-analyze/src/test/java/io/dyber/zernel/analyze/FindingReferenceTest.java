package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What the headers of `sql/findings/*.sql` say, against the committed `docs/findings.md`.
/// Refresh with `./mvnw -am -pl zernel-analyze test -Dtest=FindingReferenceTest -Dgolden.update
/// -Dsurefire.failIfNoSpecifiedTests=false`.
final class FindingReferenceTest {
    @Test
    void theDocumentedFindingsAreTheShipped() throws IOException {
        List<SqlObject> findings = SqlLibrary.builtIn().findings();
        String reference = FindingReference.of(findings);
        if (Boolean.getBoolean("golden.update")) {
            FindingReference.write(reference);
        }
        assertThat(FindingReference.missing(findings)).isEmpty();
        assertThat(FindingReference.page()).isEqualTo(reference);
    }
}
