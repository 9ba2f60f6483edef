package io.dyber.zernel.record.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The sampler on a made-up `/proc` and `/sys`.
final class HostSamplerTest {
    private static final String FOUR_CPUS = """
            cpu  1000 100 200 9000 300 10 20 30 500 0
            cpu0 400 40 80 2000 100 4 8 10 500 0
            cpu1 200 20 40 3000 100 2 4 10 0 0
            cpu2 200 20 40 2000 50 2 4 5 0 0
            cpu3 200 20 40 2000 50 2 4 5 0 0
            intr 1 2 3
            """;

    @TempDir
    private Path root = Path.of("");

    @BeforeEach
    void machine() throws IOException {
        write("proc/stat", FOUR_CPUS);
        write("proc/meminfo", "MemTotal:       1000 kB\nMemFree:  10 kB\nMemAvailable:    250 kB\n");
        write("proc/net/snmp", """
                Tcp: RtoAlgorithm OutSegs RetransSegs InErrs
                Tcp: 1 5000 17 0
                Udp: InDatagrams
                Udp: 1
                """);
    }

    private void write(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.resolveSibling("."));
        Files.writeString(file, text);
    }

    /// A process of 20 threads that has used 1.5 s of CPU time and has `pages` pages.
    private void process(int pid, String comm, long pages, String cpus, String cgroup) throws IOException {
        write("proc/" + pid + "/stat", pid + " (" + comm + ") S 1 1 1 0 -1 4194560 9 0 0 0 100 50 7 7 20 0 20 0 555 99 "
                + pages + " 18446744073709551615\n");
        write("proc/" + pid + "/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t" + cpus + "\n");
        write("proc/" + pid + "/cgroup", cgroup);
        write("proc/" + pid + "/smaps_rollup", """
                00400000-7fff00000000 ---p 00000000 00:00 0    [rollup]
                Rss:                8000 kB
                Pss:                5000 kB
                Private_Clean:       100 kB
                Private_Dirty:      3000 kB
                """);
    }

    private HostSampler sampler() {
        return new HostSampler(root, () -> 77);
    }

    private List<String> sample(Integer... pids) {
        try (HostSampler sampler = sampler()) {
            return texts(sampler.sample(Set.of(pids)));
        }
    }

    private static List<String> texts(List<HostValue> values) {
        return values.stream()
                .map(value -> (value.pid() + " " + value.object() + " " + value.name() + " " + value.value() + " "
                        + value.unit()).strip())
                .toList();
    }

    @Test
    void theMachineIsItsCpusItsMemoryAndTcp() {
        assertThat(sample()).containsExactly(
                "0  cpus 4",
                "0  cpu_busy 13300000000 ns",
                "0  cpu_idle 93000000000 ns",
                "0  cpu_iowait 3000000000 ns",
                "0  cpu_steal 300000000 ns",
                "0  memory_total 1024000 bytes",
                "0  memory_available 256000 bytes",
                "0  tcp_segments 5000",
                "0  tcp_retransmits 17");
    }

    @Test
    void aProcessHasCpuTimeMemoryThreadsAndWhatItShares() throws IOException {
        process(42, "py (a) b", 2000, "0-3", "0::/\n");
        assertThat(sample(42)).filteredOn(text -> text.startsWith("42")).containsExactly(
                "42  cpus_allowed 4",
                "42  cpu 1500000000 ns",
                "42  cpu_system 500000000 ns",
                "42  minor_faults 9",
                "42  rss 8192000 bytes",
                "42  threads 20",
                "42  pss 5120000 bytes",
                "42  private 3174400 bytes");
    }

    @Test
    void aProcessThatIsTiedToSomeCpusHasTheirIdleTime() throws IOException {
        process(42, "python3", 2000, "1,3,200-210", "0::/\n");
        assertThat(sample(42)).contains("42  cpus_allowed 2", "42  cpu_idle 51500000000 ns");
    }

    @Test
    void aNewProcessMayStillBindItself() throws IOException {
        process(42, "python3", 1000, "0-3", "0::/\n");
        try (HostSampler sampler = sampler()) {
            assertThat(texts(sampler.sample(Set.of(42)))).contains("42  cpus_allowed 4");
            assertThat(texts(sampler.sample(Set.of(42)))).doesNotContain("42  cpus_allowed 4");
            process(42, "python3", 1000, "0-1", "0::/\n");
            assertThat(texts(sampler.sample(Set.of(42)))).contains("42  cpus_allowed 2");
        }
    }

    @Test
    void theTightestLimitOfTheCgroupsAroundAProcessHolds() throws IOException {
        process(42, "python3", 2000, "0-3", "0::/job/rank0\n");
        write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
        write("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
        write("sys/fs/cgroup/job/cpu.stat", """
                usage_usec 900
                user_usec 100
                nr_periods 40
                nr_throttled 7
                throttled_usec 12
                """);
        write("sys/fs/cgroup/job/memory.max", "max\n");
        write("sys/fs/cgroup/job/rank0/cpu.max", "max 100000\n");
        write("sys/fs/cgroup/job/rank0/memory.max", "5000000\n");
        write("sys/fs/cgroup/job/rank0/memory.current", "4000000\n");
        write("sys/fs/cgroup/job/rank0/memory.stat", "anon 1\nfile 2\ninactive_file 1500000\nactive_file 500000\n");
        assertThat(sample(42)).contains(
                "42 /job cpu_quota 1500 mCPU",
                "42 /job/rank0 memory_limit 5000000 bytes",
                "0 /job cgroup_periods 40",
                "0 /job cgroup_throttled 7",
                "0 /job cgroup_cpu 900000 ns",
                "0 /job/rank0 cgroup_memory 4000000 bytes",
                "0 /job/rank0 cgroup_kept 2000000 bytes");
    }

    @Test
    void cgroupsOfVersionOneLimitToo() throws IOException {
        process(42, "python3", 2000, "0-3", "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n0::/\n");
        write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
        write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
        write("sys/fs/cgroup/cpu/cpu.stat", "nr_periods 5\nnr_throttled 2\nthrottled_time 99\n");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        write("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "7000\n");
        write("sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "6000\n");
        write("sys/fs/cgroup/memory/docker/abc/memory.stat", "total_inactive_file 500\ntotal_active_file 1500\n");
        assertThat(sample(42)).contains(
                "42 / cpu_quota 2000 mCPU",
                "42 /docker/abc memory_limit 7000 bytes",
                "0 / cgroup_periods 5",
                "0 / cgroup_throttled 2",
                "0 /docker/abc cgroup_memory 6000 bytes",
                "0 /docker/abc cgroup_kept 4000 bytes");
    }

    @Test
    void linksThatAreUpAreCountedAndLoIsNot() throws IOException {
        link("lo", "unknown");
        link("eth1", "down");
        link("eth0", "up");
        write("sys/class/net/eth0/speed", "10000\n");
        assertThat(sample()).filteredOn(text -> text.contains("net_")).containsExactly(
                "0 eth0 net_speed 1250000000 bytes/s",
                "0 eth0 net_rx 1000 bytes",
                "0 eth0 net_tx 2000 bytes",
                "0 eth0 net_rx_packets 10",
                "0 eth0 net_tx_packets 20",
                "0 eth0 net_drops 3",
                "0 eth0 net_errors 4");
    }

    private void link(String name, String state) throws IOException {
        String folder = "sys/class/net/" + name + "/";
        write(folder + "operstate", state + "\n");
        write(folder + "speed", "-1\n");
        write(folder + "statistics/rx_bytes", "1000\n");
        write(folder + "statistics/tx_bytes", "2000\n");
        write(folder + "statistics/rx_packets", "10\n");
        write(folder + "statistics/tx_packets", "20\n");
        write(folder + "statistics/rx_dropped", "1\n");
        write(folder + "statistics/tx_dropped", "2\n");
        write(folder + "statistics/rx_errors", "4\n");
        write(folder + "statistics/tx_errors", "0\n");
    }

    @Test
    void portsOfInfinibandCountWordsOfFourBytes() throws IOException {
        String port = "sys/class/infiniband/mlx5_0/ports/1/";
        write(port + "rate", "200 Gb/sec (4X HDR)\n");
        write(port + "counters/port_rcv_data", "1000\n");
        write(port + "counters/port_xmit_data", "2000\n");
        write(port + "counters/port_xmit_discards", "5\n");
        write(port + "hw_counters/packet_seq_err", "6\n");
        write(port + "hw_counters/local_ack_timeout_err", "1\n");
        assertThat(sample()).filteredOn(text -> text.contains("net_")).containsExactly(
                "0 mlx5_0/1 net_speed 25000000000 bytes/s",
                "0 mlx5_0/1 net_rx 4000 bytes",
                "0 mlx5_0/1 net_tx 8000 bytes",
                "0 mlx5_0/1 net_drops 5",
                "0 mlx5_0/1 net_retransmits 7");
    }

    @Test
    void ofManyProcessesTheLargestAreSampledAndTheOthersCounted() throws IOException {
        for (int pid = 1; pid <= 70; pid++) {
            process(pid, "rank", 100 + pid, "0-3", "");
        }
        Set<Integer> all = IntStream.rangeClosed(1, 70).boxed().collect(Collectors.toSet());
        try (HostSampler sampler = sampler()) {
            List<Integer> sampled = sampler.sample(all).stream()
                    .filter(value -> value.name().equals("rss"))
                    .map(HostValue::pid)
                    .toList();
            assertThat(sampled).containsExactlyInAnyOrderElementsOf(IntStream.rangeClosed(7, 70).boxed().toList());
            assertThat(sampler.leftOut()).isEqualTo(new HostSampler.LeftOut(6, 0, 0));
        }
    }

    @Test
    void aProcessThatHasEndedHasNoValues() throws IOException {
        process(42, "python3", 2000, "0-3", "0::/\n");
        write("proc/43/stat", "43 (gone) Z 1 1 1 0 -1 4194560 9 0 0 0 100 50 7 7 20 0 1 0 555 0 0 0\n");
        try (HostSampler sampler = sampler()) {
            assertThat(texts(sampler.sample(Set.of(42, 43, 44)))).anyMatch(text -> text.startsWith("42"))
                    .noneMatch(text -> text.startsWith("43") || text.startsWith("44"));
            write("proc/42/stat", "");
            assertThat(texts(sampler.sample(Set.of(42)))).noneMatch(text -> text.startsWith("42"));
        }
    }

    @Test
    void aProcessWhoseSharesMayNotBeReadIsCounted() throws IOException {
        process(42, "python3", 2000, "0-3", "0::/\n");
        Files.delete(root.resolve("proc/42/smaps_rollup"));
        try (HostSampler sampler = sampler()) {
            assertThat(texts(sampler.sample(Set.of(42)))).noneMatch(text -> text.contains("pss"));
            assertThat(sampler.leftOut().refused()).isOne();
        }
    }

    @Test
    void aMachineThatSaysNothingHasNoValues() throws IOException {
        for (String file : List.of("proc/stat", "proc/meminfo", "proc/net/snmp")) {
            Files.delete(root.resolve(file));
        }
        assertThat(sample()).isEmpty();
    }

    @Test
    void valuesAreOfTheTimeOfTheirRound() {
        try (HostSampler sampler = sampler()) {
            assertThat(sampler.sample(Set.of())).extracting(HostValue::nanos).containsOnly(77L);
        }
    }
}
