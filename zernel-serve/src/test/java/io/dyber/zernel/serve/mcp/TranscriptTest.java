package io.dyber.zernel.serve.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.source.WrittenRecording;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// What is said in each revision of the protocol, word by word: lines that begin with `>` are sent, those with `<` answered.
/// Refresh with `./mvnw -am -pl zernel-serve test -Dtest=TranscriptTest -Dgolden.update
/// -Dsurefire.failIfNoSpecifiedTests=false`.
final class TranscriptTest {
    private static final Path GOLDENS = Path.of("src/test/resources/mcp");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    void theServerAnswersAsWritten(Revision revision) throws IOException {
        Path golden = GOLDENS.resolve(revision.date() + ".txt");
        Path recording = WrittenRecording.training(folder.resolve("run.parquet"), 1_700_000_000_000_000_000L, 5);
        List<String> said = new ArrayList<>();
        try (Session session = new Session(recording, null)) {
            for (String line : Files.readAllLines(golden)) {
                if (line.startsWith("> ")) {
                    said.add(line);
                    session.lines(line.substring(2)).forEach(answer -> said.add("< " + withoutVersion(answer)));
                }
            }
        }
        if (System.getProperty("golden.update") != null) {
            Files.write(golden, said);
        }
        assertThat(Files.readAllLines(golden)).isEqualTo(said);
    }

    /// Classes that come from no jar have none.
    private static String withoutVersion(String answer) {
        return answer.replaceAll("\"version\":\"[^\"]*\"", "\"version\":\"VERSION\"");
    }
}
