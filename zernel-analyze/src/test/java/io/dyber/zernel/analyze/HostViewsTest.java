package io.dyber.zernel.analyze;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Views of what the host does.
class HostViewsTest {
    private static final String USAGE = "SELECT pid, cpus, round(allowed_cpus, 2) AS allowed, round(busy_cpus, 2) AS busy, "
            + "round(max_busy_cpus, 2) AS most, round(job_cpus, 2) AS job, round(idle_cpus, 2) AS idle, "
            + "round(throttled_share, 2) AS throttled, measured FROM host_usage";
    private static final String COLUMNS = "pid\tcpus\tallowed\tbusy\tmost\tjob\tidle\tthrottled\tmeasured\n";

    @TempDir
    Path folder;

    private String query(RecordingFixture fixture, String sql) {
        Path file = fixture.write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            return database.query(sql).toString();
        }
    }

    /// Training for 10 s on a machine of eight CPUs: three busy, one of them with the training process, five idle.
    private static RecordingFixture training() {
        RecordingFixture fixture = recording().training(200, 15);
        for (int second = 0; second <= 10; second++) {
            double at = second * 1000.0;
            fixture.hostSample("cpus", "", at, 8)
                    .hostSample("cpu_busy", "", at, 50_000_000_000L + second * 3_000_000_000L)
                    .hostSample("cpu_idle", "", at, 90_000_000_000L + second * 5_000_000_000L)
                    .processSample(100, "cpu", "", at, 7_000_000_000L + second * 1_000_000_000L)
                    .processSample(101, "cpu", "", at, second * 500_000_000L);
        }
        return fixture.processSample(100, "cpus_allowed", "", 0, 8);
    }

    @Test
    void idleCpusAreThoseThatNothingUsed() {
        assertThat(query(training(), USAGE)).isEqualTo(COLUMNS + "100\t8\t8.0\t3.0\t3.0\t1.5\t5.0\tnull\ttrue");
    }

    @Test
    void onlyTheTimeOfTheTrainingCounts() {
        RecordingFixture fixture = training();
        // Another program takes all CPUs once the training is over.
        fixture.hostSample("cpu_busy", "", 11_000, 50_000_000_000L + 38_000_000_000L)
                .hostSample("cpu_idle", "", 11_000, 90_000_000_000L + 50_000_000_000L);
        assertThat(query(fixture, USAGE)).isEqualTo(COLUMNS + "100\t8\t8.0\t3.0\t3.0\t1.5\t5.0\tnull\ttrue");
    }

    @Test
    void aProcessThatIsTiedToSomeCpusHasTheirIdleTimeOnly() {
        RecordingFixture fixture = training().processSample(100, "cpus_allowed", "", 1, 2);
        for (int second = 0; second <= 10; second++) {
            fixture.processSample(100, "cpu_idle", "", second * 1000.0, second * 250_000_000L);
        }
        assertThat(query(fixture, USAGE)).isEqualTo(COLUMNS + "100\t8\t2.0\t3.0\t3.0\t1.5\t0.25\tnull\ttrue");
    }

    @Test
    void aQuotaLimitsWhatIsIdleAndItsThrottledPeriodsAreAShare() {
        RecordingFixture fixture = training().processSample(100, "cpu_quota", "/job", 0, 1900);
        for (int second = 0; second <= 10; second++) {
            fixture.hostSample("cgroup_cpu", "/job", second * 1000.0, second * 1_800_000_000L)
                    .hostSample("cgroup_periods", "/job", second * 1000.0, second * 10L)
                    .hostSample("cgroup_throttled", "/job", second * 1000.0, second * 3L);
        }
        assertThat(query(fixture, USAGE)).isEqualTo(COLUMNS + "100\t8\t1.9\t3.0\t3.0\t1.5\t0.1\t0.3\ttrue");
    }

    @Test
    void withoutSamplesNothingIsSaidButTheCpusOfTheMachine() {
        assertThat(query(recording().training(200, 15), USAGE))
                .isEqualTo(COLUMNS + "100\t8\tnull\tnull\tnull\tnull\tnull\tnull\tfalse");
    }

    @Test
    void samplesOfAMomentAreNotTheTraining() {
        RecordingFixture fixture = recording().training(200, 15)
                .hostSample("cpus", "", 0, 8).hostSample("cpu_busy", "", 0, 0).hostSample("cpu_idle", "", 0, 0)
                .hostSample("cpu_busy", "", 2000, 2_000_000_000L).hostSample("cpu_idle", "", 2000, 14_000_000_000L);
        assertThat(query(fixture, "SELECT measured, idle_cpus FROM host_usage")).isEqualTo("measured\tidle_cpus\nfalse\tnull");
    }

    @Test
    void aCounterThatStartedAnewHasNoChangeThere() {
        RecordingFixture fixture = recording()
                .hostSample("net_rx", "eth0", 0, 900).hostSample("net_rx", "eth0", 1000, 100)
                .hostSample("net_rx", "eth0", 2000, 150)
                .hostSample("cpu_idle", "", 0, 900).hostSample("cpu_idle", "", 1000, 890);
        assertThat(query(fixture, "SELECT name, object, change, end_ns - start_ns AS ns FROM _host_changes ORDER BY name"))
                .isEqualTo("name\tobject\tchange\tns\ncpu_idle\tnull\t0\t1000000000\nnet_rx\teth0\t50\t1000000000");
    }

    @Test
    void aLinkIsWhatItCarriedWhileTheJobTrained() {
        RecordingFixture fixture = recording().training(200, 15).hostSample("net_speed", "eth0", 0, 125_000_000);
        for (int second = 0; second <= 10; second++) {
            fixture.hostSample("net_rx", "eth0", second * 1000.0, 5_000 + second * 40_000_000L)
                    .hostSample("net_tx", "eth0", second * 1000.0, second * 20_000_000L)
                    .hostSample("net_drops", "eth0", second * 1000.0, second)
                    .hostSample("net_rx", "eth1", second * 1000.0, 77)
                    .hostSample("tcp_segments", "", second * 1000.0, second * 10_000L)
                    .hostSample("tcp_retransmits", "", second * 1000.0, second * 50L);
        }
        assertThat(query(fixture, "SELECT link, rx_bytes_per_s, drops, tcp_retransmits, place FROM network_usage"))
                .isEqualTo("""
                link	rx_bytes_per_s	drops	tcp_retransmits	place
                eth0	40000000	10	500	1
                eth1	0	null	500	2""");
        assertThat(query(fixture, "SELECT link_text FROM network_usage WHERE place = 1"))
                .isEqualTo("link_text\nthis host's link eth0 carries 40.0 MB/s in and 20.0 MB/s out of 125.0 MB/s, "
                        + "0.50 % of TCP segments are sent again");
    }

    @Test
    void curvesAreLevelsAndRates() {
        RecordingFixture fixture = recording()
                .processSample(100, "rss", "", 0, 5_000)
                .hostSample("cpu_busy", "", 0, 0).hostSample("cpu_busy", "", 500, 750_000_000)
                .hostSample("net_tx", "eth0", 0, 0).hostSample("net_tx", "eth0", 500, 1_000);
        assertThat(query(fixture, "SELECT pid, object, name, unit, value FROM host_curve ORDER BY name")).isEqualTo("""
                pid	object	name	unit	value
                null	null	cpu_busy	% of a CPU	150
                null	eth0	net_tx	bytes/s	2000
                100	null	rss	bytes	5000""");
    }

    @Test
    void withoutSamplesThereIsNoMemoryAndNoNetwork() {
        for (String view : new String[] {"host_memory_use", "memory_room", "network_usage", "host_curve", "device_errors"}) {
            assertThat(query(recording().training(20, 15), "SELECT count(*) AS n FROM " + view)).isEqualTo("n\n0");
        }
    }
}
