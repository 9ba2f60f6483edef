package io.dyber.zernel.record.attach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.record.schema.Btf;
import io.dyber.zernel.record.schema.EventType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// The table as the C structs declare it, against the committed `bpf/schema.sql`.
/// Refresh with `./mvnw -am -pl zernel-record test -Dtest=SchemaGoldenTest -Dgolden.update
/// -Dsurefire.failIfNoSpecifiedTests=false`.
final class SchemaGoldenTest {
    private static final Path GOLDEN = Path.of("../bpf/schema.sql");
    private static final String HEADER = "-- Generated from the BTF of bpf/prebuilt; refresh with -Dgolden.update.\n";

    @Test
    void theCommittedSchemaIsWhatTheStructsDeclare() throws IOException {
        String actual = HEADER + CompiledPrograms.schema(List.of()).ddl();
        if (System.getProperty("golden.update") != null) {
            Files.writeString(GOLDEN, actual);
        }
        assertThat(actual).isEqualTo(Files.readString(GOLDEN));
    }

    @Test
    void noStructHasAHole() {
        for (String object : CompiledPrograms.objects()) {
            Btf btf = Btf.ofObject(CompiledPrograms.bytes(object));
            if (IntStream.range(0, btf.size()).noneMatch(id -> btf.type(id) instanceof Btf.Function)) {
                continue; // only a schema: its structs are never sent
            }
            for (EventType kind : EventType.allIn(btf)) {
                int end = 0;
                for (Btf.Member member : btf.struct(kind.kind()).orElseThrow().members()) {
                    assertThat(member.offset()).as(kind.kind() + "." + member.name()).isEqualTo(end);
                    end += btf.sizeOf(member.type());
                }
                assertThat(kind.size()).as(kind.kind()).isEqualTo(end);
            }
        }
    }

    @Test
    void everyFieldSaysWhatItIs() {
        for (EventType kind : CompiledPrograms.schema(List.of()).kinds()) {
            assertThat(kind.comment()).as(kind.kind()).isNotEmpty();
            assertThat(kind.fields()).allSatisfy(field -> assertThat(field.comment()).isNotEmpty());
        }
    }

    @Test
    void anObjectThatIsCutShortIsRefused() {
        byte[] whole = CompiledPrograms.bytes("recorder");
        byte[] half = Arrays.copyOf(whole, whole.length / 2);
        assertThatThrownBy(() -> Btf.ofObject(half))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
