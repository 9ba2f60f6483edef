package io.dyber.zernel.record.bpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The ring reader over ring images as the kernel would leave them.
final class RingBufferTest {
    private static final int SIZE = 4096;
    private static final int BUSY = 1 << 31;
    private static final int DISCARDED = 1 << 30;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment consumer = arena.allocate(JAVA_LONG);
    private final MemorySegment producer = arena.allocate(JAVA_LONG);
    private final MemorySegment data = arena.allocate(2 * SIZE, 8);
    private final RingBuffer ring = RingBuffer.over(consumer, producer, data);
    private final List<Long> taken = new ArrayList<>();

    @AfterEach
    void free() {
        ring.close();
        arena.close();
    }

    /// Writes a record into both copies of the ring, as the double mapping shows it, and moves the producer.
    private void produce(long value, int length, int flags) {
        long position = producer.get(JAVA_LONG, 0);
        long at = position % SIZE;
        data.set(JAVA_INT, at, length | flags);
        data.set(JAVA_LONG, at + 8, value);
        if (at + SIZE + 16 <= 2L * SIZE) {
            data.set(JAVA_INT, at + SIZE, length | flags);
            data.set(JAVA_LONG, at + SIZE + 8, value);
        }
        producer.set(JAVA_LONG, 0, position + (length + 15L) / 8 * 8);
    }

    private int drain() {
        return ring.drain(ring.producerPosition(), (records, at, _) -> taken.add(records.getLong(at)));
    }

    @Test
    void recordsComeInOrderAndGiveTheirRoomBack() {
        produce(1, 8, 0);
        produce(2, 13, 0);
        produce(3, 24, 0);
        assertThat(drain()).isEqualTo(3);
        assertThat(taken).containsExactly(1L, 2L, 3L);
        assertThat(consumer.get(JAVA_LONG, 0)).isEqualTo(producer.get(JAVA_LONG, 0)).isEqualTo(72);
        assertThat(drain()).isZero();
    }

    @Test
    void aDiscardedRecordIsPassedOver() {
        produce(1, 8, 0);
        produce(2, 8, DISCARDED);
        produce(3, 8, 0);
        assertThat(drain()).isEqualTo(2);
        assertThat(taken).containsExactly(1L, 3L);
    }

    @Test
    void aRecordBeingWrittenHoldsUpThoseBehindIt() {
        produce(1, 8, 0);
        produce(2, 8, BUSY);
        produce(3, 8, 0);
        assertThat(drain()).isEqualTo(1);
        data.set(JAVA_INT, 16, 8);
        assertThat(drain()).isEqualTo(2);
        assertThat(taken).containsExactly(1L, 2L, 3L);
    }

    @Test
    void recordsBehindTheGivenPositionStay() {
        produce(1, 8, 0);
        long until = ring.producerPosition();
        produce(2, 8, 0);
        assertThat(ring.drain(until, (records, at, _) -> taken.add(records.getLong(at)))).isEqualTo(1);
        assertThat(taken).containsExactly(1L);
    }

    @Test
    void manyRoundsLoseNothing() {
        List<Long> expected = new ArrayList<>();
        for (long value = 0; value < 10_000; value++) {
            produce(value, 8 + (int) (value % 9) * 8, 0);
            expected.add(value);
            if (value % 40 == 39) {
                int _ = drain();
            }
        }
        assertThat(taken).isEqualTo(expected);
    }

    @Test
    void theHighWaterMarkIsTheMostThatWaited() {
        produce(1, 8, 0);
        produce(2, 8, 0);
        int _ = drain();
        produce(3, 8, 0);
        int _ = drain();
        assertThat(ring.highWater()).isEqualTo(32);
    }
}
