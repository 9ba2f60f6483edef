package io.dyber.zernel.serve.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class LineReaderTest {
    @Test
    void linesEndAtLineFeedsAndTheStreamsEnd() throws IOException {
        assertThat(lines("a\n\nbäc")).containsExactly("a", "", "bäc");
        assertThat(lines("")).isEmpty();
        assertThat(lines("a\n")).containsExactly("a");
    }

    @Test
    void aLineThatIsTooLongIsOnlySaidToBe() throws IOException {
        assertThat(lines("x".repeat(10) + "\n" + "x".repeat(11) + "\n" + "x".repeat(100_000) + "\ny"))
                .containsExactly("x".repeat(10), "too long", "too long", "y");
    }

    private static List<String> lines(String text) throws IOException {
        LineReader reader = new LineReader(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), 10);
        List<String> lines = new ArrayList<>();
        for (Optional<LineReader.Line> line = reader.next(); line.isPresent(); line = reader.next()) {
            lines.add(switch (line.get()) {
                case LineReader.Line.Text(String one) -> one;
                case LineReader.Line.TooLong() -> "too long";
            });
        }
        return lines;
    }
}
