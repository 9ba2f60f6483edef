package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.START_NS;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.DiffReport;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.StringJoiner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiffTest {
    @TempDir
    Path folder;

    @Test
    void aLongerDataWaitIsFoundInTheStepAndInItsPhaseOnly() {
        try (Database database = open(recording().training(21, 15), recording().training(21, 20))) {
            Diff diff = Diff.of(database);
            Table.Row step = measure(diff, "step");
            assertThat(step.real("before_p50")).isEqualTo(50e6);
            assertThat(step.real("shift")).isEqualTo(5e6);
            assertThat(step.real("low")).isEqualTo(5e6);
            assertThat(step.real("shift_share")).isEqualTo(0.1);
            assertThat(step.real("superiority")).isEqualTo(1.0);
            assertThat(step.text("verdict")).isEqualTo("more");
            assertThat(measure(diff, "data_loading").real("shift")).isEqualTo(5e6);
            assertThat(measure(diff, "gpu_compute").text("verdict")).isEqualTo("same");
            assertThat(diff.steps().texts("measure")).doesNotContain("launches", "collectives");
        }
    }

    @Test
    void theEstimatesAreThoseOfTheirDefinitions() {
        List<Double> before = waits(41, 20, 7);
        List<Double> after = waits(31, 22, 8);
        try (Database database = open(training(before), training(after))) {
            Table.Row row = measure(Diff.of(database), "data_loading");
            List<Double> differences = new ArrayList<>();
            double larger = 0;
            for (double b : before.subList(1, 41)) {
                for (double a : after.subList(1, 31)) {
                    differences.add(a - b);
                    larger += a > b ? 1 : a == b ? 0.5 : 0;
                }
            }
            Collections.sort(differences);
            double median = (differences.get(599) + differences.get(600)) / 2;
            assertThat(row.real("shift")).isCloseTo(median * 1e6, within(1.0));
            assertThat(row.real("superiority")).isCloseTo(larger / 1200, within(1e-9));
            // z = (U/nm - 1/2) / sqrt((n + m + 1) / 12 nm) or less, where neighbours resemble each other
            double z = Math.abs(larger / 1200 - 0.5) / Math.sqrt(71 / (12.0 * 1200));
            assertThat(row.real("p_value")).isGreaterThanOrEqualTo(twoSided(z) - 1e-3);
        }
    }

    @Test
    void chanceIsSeldomTakenForAChange() {
        int changes = 0;
        for (int seed = 0; seed < 5; seed++) {
            try (Database database = open(training(waits(40, 20, seed)), training(waits(40, 20, seed + 100L)))) {
                changes += isChange(measure(Diff.of(database), "step").requiredText("verdict")) ? 1 : 0;
            }
        }
        assertThat(changes).isZero();
    }

    @Test
    void aStepCountsOnceWhateverTheNumberOfRanks() {
        int changes = 0;
        for (int seed = 0; seed < 10; seed++) {
            changes += isChange(verdict(ranks(8, waits(25, 20, seed)), ranks(8, waits(25, 20, seed + 100L)))) ? 1 : 0;
        }
        assertThat(changes).isLessThanOrEqualTo(1);
        assertThat(verdict(ranks(8, waits(25, 20, 0)), ranks(8, waits(25, 26, 100)))).isEqualTo("more");
    }

    @Test
    void threeStepsMakeNoDifferenceSure() {
        Function<Integer, String> verdictOf = steps -> verdict(training(waits(steps + 1, 20, 0)), training(waits(steps + 1, 60, 100)));
        assertThat(verdictOf.apply(3)).isEqualTo("same");
        assertThat(verdictOf.apply(4)).isEqualTo("unsure");
        assertThat(verdictOf.apply(12)).isEqualTo("more");
    }

    private static boolean isChange(String verdict) {
        return verdict.equals("more") || verdict.equals("less");
    }

    private String verdict(RecordingFixture before, RecordingFixture after) {
        try (Database database = open(before, after)) {
            return measure(Diff.of(database), "step").requiredText("verdict");
        }
    }

    /// Ranks of one job, which wait for each other at the end of each backward pass.
    private static RecordingFixture ranks(int ranks, List<Double> waits) {
        RecordingFixture fixture = recording();
        StringJoiner processes = new StringJoiner(",", "[", "]");
        for (int rank = 0; rank < ranks; rank++) {
            fixture.on(100 + rank, 100 + rank, "python3");
            training(fixture, waits);
            double at = 0;
            for (double wait : waits) {
                fixture.event("dist_wait", "Reducer::finalize_backward", at + wait + 29, 1.0, "depth = 0");
                at += wait + 35;
            }
            processes.add("{\"pid\":" + (100 + rank) + ",\"environment\":{\"RANK\":\"" + rank + "\",\"WORLD_SIZE\":\"" + ranks
                    + "\",\"MASTER_ADDR\":\"a\",\"MASTER_PORT\":\"1\"}}");
        }
        return fixture.footer("zernel.processes", processes.toString());
    }

    @Test
    void stepsThatResembleTheirNeighboursCountAsFewer() {
        List<Double> before = waits(61, 20, 1);
        List<Double> after = waits(61, 22, 2);
        List<Double> drifting = new ArrayList<>(after);
        Collections.sort(drifting);
        List<Double> shuffled = new ArrayList<>(after);
        Collections.shuffle(shuffled, new Random(3));
        assertThat(pValue(before, drifting)).isGreaterThan(2 * pValue(before, shuffled));
    }

    @Test
    void fewLongStepsChangeTheMeanOnly() {
        List<Double> before = waits(101, 20, 1);
        List<Double> after = new ArrayList<>(before);
        for (int i = 5; i < 101; i += 10) {
            after.set(i, 300.0);
        }
        try (Database database = open(training(before), training(after))) {
            Table.Row step = measure(Diff.of(database), "step");
            assertThat(step.text("verdict")).isEqualTo("same");
            assertThat(step.real("mean_low")).isGreaterThan(5e6);
            assertThat(step.real("mean_high")).isBetween(30e6, 60e6);
        }
        try (Database database = open(training(before), training(waits(101, 20, 3)))) {
            Table.Row step = measure(Diff.of(database), "step");
            assertThat(step.real("mean_low")).isNegative();
            assertThat(step.real("mean_high")).isPositive();
        }
    }

    @Test
    void callsAreComparedPerStep() {
        RecordingFixture before = recording().training(10, 5);
        RecordingFixture after = recording().training(20, 5);
        for (int i = 0; i < 18; i++) {
            before.io(45 + i * 20, 2, 100);
        }
        for (int i = 0; i < 19; i++) {
            after.io(45 + i * 40, 3, 100);
        }
        // Files are also read before the first step that counts, and threads without work wait all the time.
        for (int i = 0; i < 9; i++) {
            before.io(i * 4, 3, 100);
        }
        before.on(100, 101, "idle").event("wait", "futex", 50, 300.0, "");
        after.on(100, 101, "idle").event("wait", "futex", 50, 700.0, "");
        try (Database database = open(before, after)) {
            Table.Row read = Diff.of(database).calls().rows().stream()
                    .filter(row -> "read".equals(row.text("name")))
                    .findFirst()
                    .orElseThrow();
            assertThat(read.text("per")).isEqualTo("step");
            assertThat(read.real("before_calls")).isEqualTo(2.0);
            assertThat(read.real("after_calls")).isEqualTo(1.0);
            assertThat(read.real("change_ns")).isEqualTo(-1e6);
            assertThat(read.integer("after_p50_ns")).isEqualTo(3_000_000);
            assertThat(Diff.of(database).calls().texts("name")).doesNotContain("futex");
        }
    }

    @Test
    void whatHasNoDurationTakesNoTime() {
        RecordingFixture before = recording().training(10, 5).torchAlloc(50, 1_048_576);
        RecordingFixture after = recording().training(10, 5).torchAlloc(50, 1_048_576).torchAlloc(90, 1_048_576);
        try (Database database = open(before, after)) {
            Table.Row handed = Diff.of(database).calls().rows().stream()
                    .filter(row -> "torch_alloc".equals(row.text("kind")))
                    .findFirst()
                    .orElseThrow();
            assertThat(handed.real("after_calls")).isGreaterThan(handed.real("before_calls"));
            assertThat(handed.real("change_ns")).isEqualTo(0);
        }
    }

    @Test
    void launchesAreComparedInStepsOfWhichTheyAreKnown() {
        try (Database database = open(launching(40), launching(40).footer("zernel.detail", detail(195, 605)))) {
            Diff diff = Diff.of(database);
            Table.Row launches = measure(diff, "launches");
            assertThat(launches.integer("before_steps")).isEqualTo(39);
            assertThat(launches.integer("after_steps")).isEqualTo(10);
            assertThat(launches.text("verdict")).isEqualTo("same");
            assertThat(launches.real("p_value")).isEqualTo(1.0);
            assertThat(measure(diff, "launch_time").text("verdict")).isEqualTo("same");
            assertThat(diff.calls().texts("kind")).contains("region").doesNotContain("cuda_launch");
        }
        try (Database database = open(launching(40), launching(40).footer("zernel.detail", detail(195, 205)))) {
            assertThat(Diff.of(database).steps().texts("measure")).contains("step").doesNotContain("launches", "launch_time");
        }
    }

    @Test
    void callsOfWhichOnlyASampleWasRecordedAreNotComparedPerStep() {
        RecordingFixture counted = recording().training(40, 5).event("cuda_launch", "cuLaunchKernel", 0, 900.0, "depth = 0, count = 160");
        try (Database database = open(launching(40), counted)) {
            assertThat(Diff.of(database).calls().texts("kind")).contains("region").doesNotContain("cuda_launch");
        }
    }

    /// Steps of 40 ms with four launches each.
    private static RecordingFixture launching(int steps) {
        RecordingFixture fixture = recording().training(steps, 5);
        for (int i = 0; i < steps; i++) {
            for (int j = 0; j < 4; j++) {
                fixture.launch("gemm", i * 40 + 6 + j, 0.5);
            }
        }
        return fixture;
    }

    /// Launches in one window of time only, in milliseconds; those outside, which would not be there, are no matter.
    private static String detail(long startMs, long endMs) {
        return "{\"asked\":\"auto\",\"recorded\":\"windows\",\"kinds\":[\"cuda_launch\"],\"windows\":[{\"start_ns\":"
                + (START_NS + startMs * 1_000_000) + ",\"end_ns\":" + (START_NS + endMs * 1_000_000) + ",\"complete\":true}]}";
    }

    @Test
    void linesAreComparedPerStep() {
        RecordingFixture before = recording().training(11, 5).blocked("wait", "recvfrom", 45, 40, "main (/me/train.py:1);fetch (/me/data.py:7)")
                .blocked("io", "fsync", 90, 20, "main (/me/train.py:2);save (/me/train.py:9)")
                .blocked("io", "read", 0, 30, "main (/me/train.py:1);load (/me/start.py:3)");
        RecordingFixture after = recording().training(21, 5).blocked("wait", "recvfrom", 45, 240, "main (/me/train.py:1);fetch (/me/data.py:8)")
                .on(100, 101, "idle").blocked("wait", "futex", 3, 900, "main (/me/idle.py:1)");
        try (Database database = open(before, after)) {
            Diff diff = Diff.of(database);
            assertThat(diff.lines().toString()).isEqualTo("""
                    line\tstate\tper\tbefore_ns\tafter_ns\tchange_ns
                    data.py:8 fetch\tsocket\tstep\t4000000.0\t1.2E7\t8000000.0
                    train.py:9 save\tstorage\tstep\t2000000.0\t0.0\t-2000000.0""");
            StringWriter text = new StringWriter();
            new DiffReport(diff, List.of()).text(new Page(new PrintWriter(text), 100, false, true));
            assertThat(text.toString()).contains("data.py:8 fetch  socket     4.00 ms  12.0 ms  +8.00 ms");
        }
    }

    @Test
    void stacksAreComparedPerStepWhateverTheirLines() {
        RecordingFixture before = recording().training(11, 5).blocked("wait", "recvfrom", 45, 40, "main (/me/train.py:1);fetch (/me/data.py:7)")
                .blocked("io", "fsync", 90, 20, "main (/me/train.py:2);save (libx.so)");
        RecordingFixture after = recording().training(21, 5).blocked("wait", "recvfrom", 45, 240, "main (/me/train.py:1);fetch (/me/data.py:8)");
        try (Database database = open(before, after)) {
            assertThat(database.query("FROM stack_diff").toString()).isEqualTo("""
                    stack\tper\tbefore_ns\tafter_ns
                    main (/me/train.py);fetch (/me/data.py)\tstep\t4000000.0\t1.2E7
                    main (/me/train.py);save (libx.so)\tstep\t2000000.0\t0.0""");
        }
    }

    @Test
    void linesAreNotComparedWhereOneHasNone() {
        RecordingFixture with = recording().training(10, 5).blocked("wait", "recvfrom", 3, 40, "main (/me/train.py:1)");
        try (Database database = open(recording().training(10, 5), with)) {
            assertThat(Diff.of(database).lines().rows()).isEmpty();
        }
    }

    @Test
    void recordingsWithoutStepsAreComparedPerSecond() {
        RecordingFixture before = recording().io(0, 1, 1).io(1000, 1, 1);
        RecordingFixture after = recording().io(0, 1, 1).io(500, 1, 1).io(1000, 1, 1);
        try (Database database = open(before, after)) {
            Diff diff = Diff.of(database);
            assertThat(diff.steps().rows()).isEmpty();
            assertThat(diff.calls().only().text("per")).isEqualTo("second");
            assertThat(diff.calls().only().real("after_calls")).isEqualTo(3.0);
            assertThatThrownBy(() -> DiffRule.parse("step > +5%").judge(diff))
                    .hasMessage("applying 'step > +5%': one of the two recordings has no two steps");
        }
    }

    @Test
    void anEmptyRecordingIsRefused() {
        try (Database database = open(recording().io(0, 1, 1), recording())) {
            assertThatThrownBy(() -> Diff.of(database))
                    .hasMessageMatching("comparing '.*after.parquet': the recording has no events");
        }
    }

    private double pValue(List<Double> before, List<Double> after) {
        try (Database database = open(training(before), training(after))) {
            Double p = measure(Diff.of(database), "data_loading").real("p_value");
            return p == null ? Double.NaN : p;
        }
    }

    private static double twoSided(double z) {
        // Simpson's rule over the density is enough here.
        double sum = 0;
        int parts = 2000;
        for (int i = 0; i <= parts; i++) {
            double x = z * i / parts;
            sum += (i == 0 || i == parts ? 1 : i % 2 == 1 ? 4 : 2) * Math.exp(-x * x / 2);
        }
        return 1 - 2 * sum * z / parts / 3 / Math.sqrt(2 * Math.PI);
    }

    private static List<Double> waits(int count, double mean, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Double> waits = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            waits.add(Math.round((mean + 4 * random.nextGaussian()) * 1000) / 1000.0);
        }
        return waits;
    }

    private static RecordingFixture training(List<Double> waits) {
        return training(recording(), waits);
    }

    private static RecordingFixture training(RecordingFixture fixture, List<Double> waits) {
        double at = 0;
        for (double wait : waits) {
            fixture.region(NEXT, at, wait).backward(at + wait + 10, 20).region(STEP, at + wait + 30, 5);
            at += wait + 35;
        }
        return fixture;
    }

    private static Table.Row measure(Diff diff, String name) {
        return diff.steps().rows().stream()
                .filter(row -> row.requiredText("measure").equals(name))
                .findFirst()
                .orElseThrow();
    }

    private Database open(RecordingFixture before, RecordingFixture after) {
        return Recordings.compare(
                before.write(folder.resolve("before.parquet")).toString(),
                after.write(folder.resolve("after.parquet")).toString(),
                DatabaseOptions.defaults(),
                SqlLibrary.builtIn());
    }
}
