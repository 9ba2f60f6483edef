package io.dyber.zernel.serve.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.fleet.FleetWindow.Fate;
import io.dyber.zernel.serve.fleet.FleetWindow.Held;
import io.dyber.zernel.serve.fleet.FleetWindow.Sender;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Which digests are held, and what is said of the others.
class FleetWindowTest {
    private static final long SECOND = 1_000_000_000;

    private final FleetWindow window = new FleetWindow(3);

    /// Of the ten seconds that end at `second`, which arrive two seconds later.
    private static Held digest(String host, long second) {
        return digest(host, second, second + 2);
    }

    private static Held digest(String host, long second, long arrivedSecond) {
        return new Held(new Sender(host, "pid 1"), Path.of(host + second), host + ".digest.parquet", (second - 10) * SECOND, second * SECOND,
                arrivedSecond * 1000);
    }

    private Fate offer(Held digest) {
        return window.offer(digest).fate();
    }

    private List<String> sending() {
        return window.sending().stream().map(held -> held.file().toString()).toList();
    }

    @Test
    void theNewestDigestOfEachMachineIsHeld() {
        assertThat(offer(digest("a", 10))).isEqualTo(Fate.READ);
        assertThat(offer(digest("b", 10))).isEqualTo(Fate.READ);
        FleetWindow.Outcome newer = window.offer(digest("a", 20));
        assertThat(newer.fate()).isEqualTo(Fate.READ);
        assertThat(newer.leaving()).contains(digest("a", 10));
        assertThat(sending()).containsExactlyInAnyOrder("a20", "b10");
        assertThat(window.fates()).containsEntry(Fate.READ, 3L);
    }

    @Test
    void anOlderDigestIsLateAndTheSameOneADuplicate() {
        assertThat(offer(digest("a", 20))).isEqualTo(Fate.READ);
        assertThat(window.offer(digest("a", 10))).isEqualTo(new FleetWindow.Outcome(Fate.LATE, java.util.Optional.of(digest("a", 10))));
        assertThat(offer(digest("a", 20, 30))).isEqualTo(Fate.DUPLICATE);
        assertThat(sending()).containsExactly("a20");
        assertThat(window.fates()).containsEntry(Fate.LATE, 1L).containsEntry(Fate.DUPLICATE, 1L);
    }

    @Test
    void moreMachinesThanMayBeAreDropped() {
        assertThat(offer(digest("a", 10))).isEqualTo(Fate.READ);
        assertThat(offer(digest("b", 10))).isEqualTo(Fate.READ);
        assertThat(offer(digest("c", 10))).isEqualTo(Fate.READ);
        assertThat(offer(digest("d", 10))).isEqualTo(Fate.DROPPED);
        assertThat(offer(digest("a", 20))).isEqualTo(Fate.READ);
        assertThat(sending()).containsExactlyInAnyOrder("a20", "b10", "c10");
    }

    @Test
    void aMachineThatStopsWhileOthersGoOnIsSilentAndThenForgotten() {
        window.offer(digest("a", 10));
        window.offer(digest("b", 10));
        window.offer(digest("b", 70));
        assertThat(sending()).containsExactlyInAnyOrder("a10", "b70");
        window.offer(digest("b", 80));
        assertThat(sending()).containsExactly("b80");
        assertThat(window.silent()).containsExactly(digest("a", 10));
        assertThat(window.forget()).isEmpty();
        window.offer(digest("b", 911));
        assertThat(window.forget()).containsExactly(digest("a", 10));
        assertThat(window.silent()).isEmpty();
    }

    @Test
    void whereAllStopAtOnceTheirLastDigestsStay() {
        window.offer(digest("a", 10));
        window.offer(digest("b", 11));
        assertThat(window.forget()).isEmpty();
        assertThat(sending()).containsExactlyInAnyOrder("a10", "b11");
        assertThat(window.newestMs()).isEqualTo(13_000);
    }

    @Test
    void aRecorderThatWasStartedAgainIsAnotherSender() {
        window.offer(digest("a", 10));
        Held again = new Held(new Sender("a", "pid 2"), Path.of("again"), "a.digest.parquet", 15 * SECOND, 25 * SECOND, 27_000);
        assertThat(offer(again)).isEqualTo(Fate.READ);
        assertThat(sending()).containsExactlyInAnyOrder("a10", "again");
    }

    @Test
    void aDigestWhosePagesAreDamagedLeavesItsMachineWithoutOne() {
        window.offer(digest("a", 10));
        window.remove(digest("a", 10));
        assertThat(sending()).isEmpty();
        assertThat(window.fates()).containsEntry(Fate.DAMAGED, 1L);
    }
}
