package io.dyber.zernel.serve.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class PidLabelsTest {
    private static final long SECOND = 1_000_000_000L;

    private final List<String> folded = new ArrayList<>();
    private final PidLabels pids = new PidLabels(2, folded::add);

    PidLabelsTest() {
        for (int i = 0; i < 10; i++) {
            pids.label(1);
            pids.label(2);
        }
    }

    @Test
    void aProcessBecomesTwiceAsBusyAsTheLeastBusyToReplaceIt() {
        for (int i = 0; i < 20; i++) {
            assertThat(pids.label(3)).isEqualTo("other");
        }
        pids.label(1);
        pids.label(2);
        pids.label(2);
        for (int i = 0; i < 2; i++) {
            assertThat(pids.label(3)).isEqualTo("other");
        }
        assertThat(pids.label(3)).isEqualTo("3");
        assertThat(folded).containsExactly("1");
    }

    @Test
    void oneThatHasEndedIsReplacedAtOnce() {
        pids.exit(2, 5 * SECOND);
        assertThat(pids.label(3)).isEqualTo("3");
        assertThat(folded).containsExactly("2");
        assertThat(pids.label(4)).isEqualTo("other");
    }

    @Test
    void whatComesLateOfOneThatHasEndedDoesNotReviveIt() {
        pids.exit(2, 5 * SECOND);
        pids.runs(2, 6 * SECOND);
        assertThat(pids.label(3)).isEqualTo("3");
    }

    @Test
    void oneThatRunsOnKeepsItsPlace() {
        pids.exitAll(5 * SECOND);
        pids.runs(1, 7 * SECOND);
        assertThat(pids.label(3)).isEqualTo("3");
        assertThat(pids.label(4)).isEqualTo("other");
        assertThat(folded).containsExactly("2");
    }
}
