package io.dyber.zernel.record.attach;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.builtin.Origin;
import io.dyber.zernel.record.builtin.Probe;
import io.dyber.zernel.record.builtin.Probes;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.EventType;
import io.dyber.zernel.record.schema.Field;
import io.dyber.zernel.record.schema.Schema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// The kinds and columns that the C structs declare, against the committed `docs/events.md`.
/// Refresh with `./mvnw -am -pl zernel-record test -Dtest=EventReferenceTest -Dgolden.update
/// -Dsurefire.failIfNoSpecifiedTests=false`.
final class EventReferenceTest {
    private static final Path PAGE = Path.of("../docs/events.md");
    private static final String BEGIN = "<!-- written by EventReferenceTest -Dgolden.update -->\n";
    private static final String END = "<!-- end -->";
    private static final List<String> CORE =
            List.of("kind", "name", "ts_ns", "dur_ns", "pid", "tid", "cpu", "comm");

    @Test
    void theDocumentedEventsAreTheDeclared() throws IOException {
        String page = Files.readString(PAGE);
        int from = page.indexOf(BEGIN) + BEGIN.length();
        int to = page.indexOf(END);
        String reference = reference(CompiledPrograms.schema(List.of()));
        if (Boolean.getBoolean("golden.update")) {
            Files.writeString(PAGE, page.substring(0, from) + reference + page.substring(to));
        } else {
            assertThat(page.substring(from, to)).isEqualTo(reference);
        }
    }

    private static String reference(Schema schema) {
        StringBuilder page = new StringBuilder("## Columns of every kind\n\n| column | type | unit | what it is |\n|---|---|---|---|\n");
        schema.columns().stream().filter(column -> CORE.contains(column.name())).forEach(column -> page.append(row(column)));
        for (EventType kind : schema.kinds()) {
            page.append("\n## `").append(kind.kind()).append("`\n\n").append(sentence(kind.comment())).append("\n\n");
            page.append(seenIn(Probes.ofKind(kind.kind()).orElseThrow())).append('\n');
            List<Field> own = kind.fields().stream().filter(field -> !CORE.contains(field.name())).toList();
            if (!own.isEmpty()) {
                page.append("\n| column | type | unit | what it is |\n|---|---|---|---|\n");
                own.forEach(field -> page.append(row(field.column())));
            }
        }
        return page.toString();
    }

    private static String row(Column column) {
        return "| `" + column.name() + "` | " + column.type() + " | " + column.unit() + " | " + column.comment() + " |\n";
    }

    private static String sentence(String comment) {
        return Character.toUpperCase(comment.charAt(0)) + comment.substring(1) + ".";
    }

    private static String seenIn(Probe probe) {
        return switch (probe.origin()) {
            case Origin.Kernel _ -> "Seen in the kernel.";
            case Origin.Driver _ -> "Asked of NVIDIA's driver.";
            case Origin.Injected _ -> "Asked of CUPTI in the command, with `--gpu-activity`.";
            case Origin.Host _ -> "Read from `/proc` and `/sys`.";
            case Origin.Recorder _ -> "Written by the recorder.";
            case Origin.Functions(String _, List<FunctionProbe> hooks) -> hooks.isEmpty()
                    ? "Only recorded where `--probe` asks for it."
                    : "Seen in " + hooks.stream()
                            .map(hook -> "`" + hook.symbol() + "`")
                            .distinct()
                            .sorted()
                            .collect(Collectors.joining(", ")) + ".";
        };
    }
}
