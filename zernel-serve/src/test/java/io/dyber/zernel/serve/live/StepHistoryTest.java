package io.dyber.zernel.serve.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.analysis.Phase;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class StepHistoryTest {
    private static final long SECOND = 1_000_000_000L;

    private final StepHistory history = new StepHistory();

    @Test
    void theStepsOfAProcessThatHasEndedCountUntilTheyAreAMinuteOld() {
        history.add(7, 10 * SECOND, Map.of(Phase.DATA_LOADING, 1L, Phase.GPU_COMPUTE, 3L));
        history.exit(7, 11 * SECOND);
        assertThat(recent(70)).isEqualTo(Map.of(7L, Map.of(Phase.DATA_LOADING, 0.25, Phase.GPU_COMPUTE, 0.75)));
        assertThat(recent(71)).isEmpty();
    }

    @Test
    void aProcessThatHasEndedHasNoLastStepUntilAnotherGetsItsNumber() {
        history.add(7, 10 * SECOND, Map.of(Phase.DATA_LOADING, 1L));
        history.exit(7, 11 * SECOND);
        assertThat(last()).isEmpty();
        history.add(7, 20 * SECOND, Map.of(Phase.DATA_LOADING, 1L));
        assertThat(last()).isEqualTo(Map.of(7L, 20 * SECOND));
    }

    @Test
    void aStepThatIsToldAfterTheEndOfItsProcessDoesNotReviveIt() {
        history.exit(7, 11 * SECOND);
        history.add(7, 10 * SECOND, Map.of(Phase.DATA_LOADING, 1L));
        assertThat(last()).isEmpty();
        assertThat(recent(12)).isEqualTo(Map.of(7L, Map.of(Phase.DATA_LOADING, 1.0)));
    }

    @Test
    void whenARecordingEndsAllHaveEndedAlsoThoseWhoseStepsAreToldLater() {
        history.add(7, 10 * SECOND, Map.of(Phase.DATA_LOADING, 1L));
        history.exitAll(12 * SECOND);
        history.add(8, 12 * SECOND, Map.of(Phase.DATA_LOADING, 1L));
        assertThat(last()).isEmpty();
        history.add(7, 600 * SECOND, Map.of(Phase.DATA_LOADING, 1L));
        assertThat(last()).isEqualTo(Map.of(7L, 600 * SECOND));
    }

    private Map<Long, Map<Phase, Double>> recent(long nowSeconds) {
        Map<Long, Map<Phase, Double>> shares = new HashMap<>();
        history.forEachRecent(nowSeconds * SECOND, shares::put);
        return shares;
    }

    private Map<Long, Long> last() {
        Map<Long, Long> ends = new HashMap<>();
        history.forEachLast(ends::put);
        return ends;
    }
}
