package io.dyber.zernel.record.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.bpf.RingBuffer;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.mark.Mark;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.schema.Schema;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What becomes of marks. The pump does not run: nothing is decoded.
final class MarkRowsTest {
    @Test
    void ofTooManyTextsOfMarksNewOnesShareOne() {
        StringDictionary texts = new StringDictionary();
        Schema schema = CompiledPrograms.schema(List.of());
        try (Arena arena = Arena.ofConfined();
                RingBuffer ring =
                        RingBuffer.over(arena.allocate(8, 8), arena.allocate(8, 8), arena.allocate(128, 8))) {
            EventPump pump =
                    new EventPump(ring, ring, new Decoder(schema, CompiledPrograms.wire(), texts, 0, 4096, _ -> {}));
            MarkRows marks = new MarkRows(
                    RecordOptions.to(Path.of("run.parquet")), new EventWriter(pump, schema, texts, Clock.read(_ -> 0)));
            for (int i = texts.size(); i < 500_000; i++) {
                texts.id("text " + i);
            }
            assertThat(marks.add(new Mark(1, 77, 77, "python", "one more"))).isNotNull();
        }
        assertThat(texts.size()).isEqualTo(500_001);
        assertThat(texts.text(500_000)).isEqualTo("<too many texts>");
    }
}
