package io.dyber.zernel.record.rows;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.bpf.RingBuffer;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.StringDictionary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class EventPumpTest {
    /// Of 64 bytes.
    private static final class Ring {
        static final int BUSY = 1 << 31;
        static final int DISCARDED = 1 << 30;

        private final MemorySegment producer;
        private final MemorySegment data;
        private final RingBuffer reader;

        Ring(Arena arena) {
            this.producer = arena.allocate(8, 8);
            this.data = arena.allocate(128, 8);
            this.reader = RingBuffer.over(arena.allocate(8, 8), producer, data);
        }

        /// Adds a record of 8 bytes.
        void produce(int flags) {
            long position = producer.get(JAVA_LONG, 0);
            data.set(JAVA_INT, position, 8 | flags);
            producer.set(JAVA_LONG, 0, position + 16);
        }
    }

    private final Arena arena = Arena.ofShared();
    private final Ring vital = new Ring(arena);
    private final Ring bulk = new Ring(arena);
    private final EventPump pump = new EventPump(
            vital.reader,
            bulk.reader,
            new Decoder(
                    CompiledPrograms.schema(List.of()), CompiledPrograms.wire(), new StringDictionary(), 0, 4096, _ -> {}));

    @AfterEach
    void free() {
        vital.reader.close();
        bulk.reader.close();
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

    @Test
    void othersWaitForAVitalRecordThatIsBeingWritten() throws InterruptedException {
        vital.produce(Ring.BUSY);
        bulk.produce(Ring.DISCARDED);
        pump.start();
        Thread.sleep(100);
        assertThat(bulk.reader.consumerPosition()).isZero();
        pump.finish();
        assertThat(pump.failure()).isEmpty();
        assertThat(bulk.reader.consumerPosition()).isEqualTo(16);
    }

    @Test
    void othersThatFillTheirRingWaitForNothing() throws InterruptedException {
        vital.produce(Ring.BUSY);
        bulk.produce(Ring.DISCARDED);
        bulk.produce(Ring.DISCARDED);
        pump.start();
        for (int i = 0; i < 1000 && bulk.reader.consumerPosition() == 0; i++) {
            Thread.sleep(10);
        }
        assertThat(bulk.reader.consumerPosition()).isEqualTo(32);
        assertThat(vital.reader.consumerPosition()).isZero();
        pump.finish();
    }
}
