package io.dyber.zernel.serve.watch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class BackoffTest {
    @Test
    void waitsDoubleFromOneSecondToThirty() {
        Backoff backoff = new Backoff();
        assertThat(Stream.generate(backoff::next).limit(7).map(Duration::toSeconds))
                .containsExactly(1L, 2L, 4L, 8L, 16L, 30L, 30L);
    }

    @Test
    void aTryThatWorkedStartsAnew() {
        Backoff backoff = new Backoff();
        Duration _ = backoff.next();
        Duration _ = backoff.next();
        backoff.reset();
        assertThat(backoff.next()).isEqualTo(Duration.ofSeconds(1));
    }
}
