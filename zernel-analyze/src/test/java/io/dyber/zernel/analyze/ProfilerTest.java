package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// PyTorch's own profiler in the job: what is said of it, and of the steps in which it begins and ends.
class ProfilerTest {
    private static final String PROFILER = "torch::autograd::profiler::";

    @TempDir
    Path folder;

    @Test
    void profilerFiresForWhatStepsTakeLongerWhileItIsOn() {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= 40; i++) {
            at = step(fixture, at, i > 10 && i <= 20 ? 80 : 50, i == 10 ? "enableProfiler" : i == 21 ? "disableProfiler" : "");
        }

        Finding finding = only(fixture);

        assertThat(finding.severity()).isEqualTo("medium");
        assertThat(finding.value()).isEqualTo(10.0);
        assertThat(finding.unit()).isEqualTo("of 39 steps");
        assertThat(finding.evidence())
                .isEqualTo("1 profile; 2 steps in which it begins, ends or is written take 450.0 ms in the mean; "
                        + "the median step takes 80.0 ms while it is on, 50.0 ms without it; "
                        + "saves at most 8.11 ms: 58.11 / (58.11 - 8.11) = 1.16x");
        assertThat(kinds(fixture)).isEqualTo("step_kind\tn\tms\nprofiler\t2\t900\ntrain\t37\t2150\nwarmup\t1\t50");
    }

    @Test
    void profilerFiresForBeginsAndEndsOfProfilesThatAreMadeAgainAndAgain() {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= 60; i++) {
            at = step(fixture, at, 50, i % 15 == 5 ? "enableProfiler" : i % 15 == 9 ? "disableProfiler" : "");
        }

        assertThat(only(fixture).evidence())
                .isEqualTo("4 profiles; 8 steps in which they begin, end or are written take 450.0 ms in the mean; "
                        + "the median step takes 50.0 ms while it is on, 50.0 ms without it; "
                        + "saves at most 54.2 ms: 104.2 / (104.2 - 54.2) = 2.08x");
    }

    @Test
    void profilerFiresWhereItIsAlwaysOnAndTellsNoCost() {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= 40; i++) {
            at = step(fixture, at, 50, i == 1 ? "enableProfiler" : "");
        }

        Finding finding = only(fixture);

        assertThat(finding.severity()).isEqualTo("medium");
        assertThat(finding.lostMillisPerStep()).isNull();
        assertThat(finding.evidence()).isEqualTo("1 profile; too few steps without it to tell what it costs while it is on");
    }

    @Test
    void inRecordingsWithoutItsCallsFilesThatKinetoOpensTellIt() {
        assertThat(kinds(opening("/etc/libkineto.conf", "/proc/100/cmdline")))
                .isEqualTo("step_kind\tn\tms\nprofiler\t2\t900\ntrain\t37\t1850\nwarmup\t1\t50");
    }

    @Test
    void profilerIsSilentWhereNoProfileEnds() {
        assertThat(run(opening("/etc/libkineto.conf", "/proc/101/cmdline"))).isEmpty();
        assertThat(run(opening("/etc/other.conf", "/proc/100/cmdline"))).isEmpty();
    }

    /// 40 steps, the 12th and 22nd of which open these files and take 400 ms longer.
    private static RecordingFixture opening(String first, String second) {
        RecordingFixture fixture = recording();
        double at = 0;
        for (int i = 1; i <= 40; i++) {
            boolean opens = i == 12 || i == 22;
            if (opens) {
                fixture.event("io_open", "openat", at + 6, 0.1, "status = 0, path = '" + (i == 12 ? first : second) + "'");
            }
            at = step(fixture, at, opens ? 450 : 50, "");
        }
        return fixture;
    }

    /// One step; a call of the profiler takes 400 ms of it, in addition.
    private static double step(RecordingFixture fixture, double at, double ms, String call) {
        double more = call.isEmpty() ? 0 : 400;
        fixture.region(NEXT, at, 5);
        if (!call.isEmpty()) {
            fixture.region(PROFILER + call, at + 6, more);
        }
        fixture.region(STEP, at + more + ms - 10, 10);
        return at + more + ms;
    }

    private String kinds(RecordingFixture fixture) {
        Path file = fixture.write(folder.resolve("kinds.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            return database.query("""
                    SELECT step_kind, count(*) AS n, sum(dur_ns) // 1000000 AS ms FROM steps GROUP BY ALL ORDER BY ALL
                    """).toString();
        }
    }

    private Finding only(RecordingFixture fixture) {
        return fixture.finding("profiler", folder);
    }

    private List<Finding> run(RecordingFixture fixture) {
        return fixture.findings("profiler", folder);
    }
}
