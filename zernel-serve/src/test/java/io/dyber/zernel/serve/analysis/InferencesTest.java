package io.dyber.zernel.serve.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class InferencesTest {
    private final List<Long> read = new ArrayList<>();

    @Test
    void eachIsReadOnceWhenEventTimeReachesIt() {
        Inferences inferences = new Inferences(false);
        Inferences.Reader reader = inferences.reader();
        inferences.add(late(10, 20, 30));
        assertThat(until(reader, 9)).isEmpty();
        assertThat(until(reader, 20)).containsExactly(10L, 20L);
        assertThat(until(reader, 20)).isEmpty();
        inferences.add(late(15, 40));
        assertThat(until(reader, 35)).containsExactly(30L, 15L);
        assertThat(until(reader, Long.MAX_VALUE)).containsExactly(40L);
    }

    @Test
    void aSecondRoundIsTheFirstLater() {
        Inferences inferences = new Inferences(true);
        inferences.add(late(10, 20));
        Inferences.Reader reader = inferences.reader();
        assertThat(until(reader, 100)).containsExactly(10L, 20L);
        reader.startOver(100);
        assertThat(until(reader, 109)).isEmpty();
        assertThat(until(reader, 115)).containsExactly(10L);
        assertThat(until(inferences.reader(), 15)).containsExactly(10L);
    }

    @Test
    void whatWasReadIsForgottenWhereNothingIsPlayedAgain() {
        Inferences inferences = new Inferences(false);
        Inferences.Reader reader = inferences.reader();
        for (long i = 0; i < 10_000; i++) {
            inferences.add(late(i));
            assertThat(until(reader, i)).containsExactly(i);
        }
        assertThat(until(inferences.reader(), Long.MAX_VALUE)).hasSizeLessThan(5000).last().isEqualTo(9999L);
    }

    private List<Long> until(Inferences.Reader reader, long nanos) {
        read.clear();
        reader.readUntil(nanos, what -> read.add(what.atNanos()));
        return List.copyOf(read);
    }

    private static List<Inferred> late(long... moments) {
        List<Inferred> late = new ArrayList<>();
        for (long moment : moments) {
            late.add(new Inferred.Late(7, moment, 1));
        }
        return late;
    }
}
