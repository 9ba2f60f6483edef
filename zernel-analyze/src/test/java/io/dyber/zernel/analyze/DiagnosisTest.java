package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.simulate.Scenario;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Every simulated cause is named first, with what it costs. `-Ddiagnosis=full` tries 20 seeds and three strengths, and
/// writes what came out into `docs/diagnosis.md`; `-Ddiagnosis.seeds=N` tries so many seeds, and
/// `-Ddiagnosis.scenario=NAME` one scenario only. As many run at once as there are CPUs.
@Execution(ExecutionMode.CONCURRENT)
class DiagnosisTest {
    private static final boolean FULL = System.getProperty("diagnosis", "").equals("full");
    private static final long SEEDS = Long.getLong("diagnosis.seeds", FULL ? 20 : 1);
    private static final String ONLY = System.getProperty("diagnosis.scenario", "");
    private static final List<DiagnosedRun> RUNS = Collections.synchronizedList(new ArrayList<>());

    /// Also recorded where the driver cannot be asked.
    private static final Set<Scenario> WITHOUT_NVML =
            Set.of(Scenario.DATA_BOUND_CPU, Scenario.SYNC_BOUND, Scenario.CHECKPOINT_STALL);

    @TempDir
    Path folder;

    static List<DiagnosedRun.Case> cases() {
        double[] strengths = FULL ? new double[] {0.12, 0.25, 0.45} : new double[] {0.25};
        List<DiagnosedRun.Case> cases = new ArrayList<>();
        for (Scenario scenario : Scenario.values()) {
            if (!ONLY.isEmpty() && !scenario.label().equals(ONLY)) {
                continue;
            }
            for (double strength : strengths(scenario, strengths)) {
                LongStream.rangeClosed(1, SEEDS)
                        .forEach(seed -> cases.add(new DiagnosedRun.Case(scenario, seed, strength, true)));
            }
            for (double strength : WITHOUT_NVML.contains(scenario) ? strengths : new double[0]) {
                LongStream.rangeClosed(1, SEEDS)
                        .forEach(seed -> cases.add(new DiagnosedRun.Case(scenario, seed, strength, false)));
            }
        }
        return cases;
    }

    private static double[] strengths(Scenario scenario, double[] usual) {
        return switch (scenario) {
            case HEALTHY, CLOSURE -> new double[] {0.25};
            case WORK_BETWEEN_CALLS -> FULL ? usual : new double[] {0.35};
            default -> usual;
        };
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void thePlantedCauseIsTheFirstFindingAndItsGainIsRight(DiagnosedRun.Case planted) {
        DiagnosedRun run = DiagnosedRun.of(planted, folder);
        RUNS.add(run);
        assertThat(Expectations.surprises(run)).isEmpty();
    }

    @AfterAll
    static void writeTheDocument() throws IOException {
        List<DiagnosedRun.Case> order = cases();
        RUNS.sort(Comparator.comparingInt(run -> order.indexOf(run.planted())));
        String results = DiagnosisDocument.of(RUNS);
        if (FULL && ONLY.isEmpty()) {
            WrittenBlock.SIMULATED_JOBS.write(results);
        } else {
            Path _ = Files.writeString(Path.of("target/diagnosis.md"), results);
        }
    }
}
