package io.dyber.zernel.record.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.bpf.RingBuffer;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.StringDictionary;
import java.lang.foreign.Arena;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class EventPumpTest {
    private final Arena arena = Arena.ofShared();
    private final RingBuffer ring = RingBuffer.over(arena.allocate(8, 8), arena.allocate(8, 8), arena.allocate(128, 8));
    private final EventPump pump = new EventPump(
            ring,
            ring,
            new Decoder(
                    CompiledPrograms.schema(List.of()), CompiledPrograms.wire(), new StringDictionary(), 0, 4096, _ -> {}));

    @AfterEach
    void free() {
        ring.close();
        arena.close();
    }

    @Test
    void anErrorThatEndsItIsItsFailure() {
        InternalError error = new InternalError("a page is gone");
        pump.later(_ -> {
            throw error;
        });
        pump.start();
        pump.finish();
        assertThat(pump.failure()).get().extracting(Throwable::getCause).isEqualTo(error);
    }
}
