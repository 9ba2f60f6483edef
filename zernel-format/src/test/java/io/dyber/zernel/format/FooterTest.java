package io.dyber.zernel.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// What stands in files is fixed, whatever the records are called: each key as `bpf/README.md` describes it.
final class FooterTest {
    private static final Footer.Machine MACHINE = new Footer.Machine("0.1.0", "box", "6.1", "amd64", 2);

    private static Footer.About about(
            List<String> command, Footer.@Nullable Trigger trigger, Footer.@Nullable Series series, boolean redacted) {
        return new Footer.About(
                MACHINE, false, 17L, command, redacted ? 2 : null, redacted ? true : null, List.of("-d", "1s"), "uprobe",
                1, 2, null, trigger, true, List.of(), 3, series, null);
    }

    @Test
    void aRecordingOfTheWholeMachineHasNoCommand() {
        assertThat(Footer.json(about(List.of(), null, null, false))).isEqualTo("""
                {"version":"0.1.0","host":"box","kernel":"6.1","arch":"amd64","cpus":2,"simulated":false,"recorder_pid":17,\
                "command":null,"options":["-d","1s"],"backend":"uprobe","started_ns":1,"ended_ns":2,"stop":null,\
                "complete":true,"incomplete_because":[],"events":3}""");
    }

    @Test
    void aPartOfASeriesSaysWhichAndWhy() {
        Footer.Trigger trigger = new Footer.Trigger("step > 3x median", 5);
        assertThat(Footer.json(about(List.of("python3"), trigger, new Footer.Series("id", 2, 1), true))).isEqualTo("""
                {"version":"0.1.0","host":"box","kernel":"6.1","arch":"amd64","cpus":2,"simulated":false,"recorder_pid":17,\
                "command":["python3"],"arguments":2,"redacted":true,"options":["-d","1s"],"backend":"uprobe","started_ns":1,\
                "ended_ns":2,"stop":null,"trigger":{"what":"step > 3x median","ts_ns":5},"complete":true,\
                "incomplete_because":[],"events":3,"series":{"id":"id","part":2,"started_ns":1}}""");
    }

    @Test
    void whatWasCutOutSaysOfWhat() {
        assertThat(Footer.json(new Footer.Cut("run.parquet", 1, 2, List.of("io"), List.of(7L)))).isEqualTo(
                "{\"of\":\"run.parquet\",\"from_ns\":1,\"to_ns\":2,\"kinds\":[\"io\"],\"pids\":[7]}");
        assertThat(Footer.parse(Map.of(Footer.RECORDING, "{\"cut\":{\"of\":\"run.parquet\",\"from_ns\":1,\"to_ns\":2}}"))
                        .recording()
                        .cut())
                .isEqualTo(new Footer.Cut("run.parquet", 1, 2, List.of(), List.of()));
    }

    @Test
    void clockColumnsAndKinds() {
        assertThat(Footer.json(new Footer.Clock("CLOCK_MONOTONIC", 1, 2, "b", 3L, 4L))).isEqualTo(
                "{\"source\":\"CLOCK_MONOTONIC\",\"offset_ns\":1,\"error_ns\":2,\"boot_id\":\"b\",\"wall_step_ns\":3,\"asleep_ns\":4}");
        assertThat(Footer.json(new Footer.Clock("simulated", 0, 0, "", null, null)))
                .isEqualTo("{\"source\":\"simulated\",\"offset_ns\":0,\"error_ns\":0,\"boot_id\":\"\"}");
        assertThat(Footer.json(new Footer.Schema(
                        List.of(new Footer.ColumnInfo("ts_ns", "BIGINT", "ns", "start")),
                        List.of(new Footer.KindInfo("io", "a read", List.of("ts_ns"))))))
                .isEqualTo("""
                        {"columns":[{"name":"ts_ns","type":"BIGINT","unit":"ns","comment":"start"}],\
                        "kinds":[{"kind":"io","comment":"a read","columns":["ts_ns"]}]}""");
        assertThat(Footer.json(List.of(
                        new Footer.KindState("region", "waiting", "no library", 0, null, null, null, null),
                        new Footer.KindState("io", "attached", "", 5, 6L, null, null, null),
                        new Footer.KindState("cuda_copy", "attached", "", 5, null, 4L, 1L, 2L))))
                .isEqualTo("""
                        [{"kind":"region","state":"waiting","why":"no library","events":0},\
                        {"kind":"io","state":"attached","why":"","events":5,"filtered":6},\
                        {"kind":"cuda_copy","state":"attached","why":"","events":5,"driver":4,"runtime":1,"covered":2}]""");
    }

    @Test
    void probesAndLibraries() {
        assertThat(Footer.json(new Footer.ProbeState(
                        "nccl", "", "ncclSend", "libnccl.so", "ab", "ncclSend", 16, "emulated", "return", "attached", "", 1, 2, 3, 4,
                        5, 6, 7, 8, 9, 10)))
                .isEqualTo("""
                        {"kind":"nccl","layer":"","name":"ncclSend","library":"libnccl.so","build_id":"ab",\
                        "symbol":"ncclSend","site":16,"cost":"emulated","end":"return","state":"attached","why":"","entries":1,"returns":2,\
                        "events":3,"lost":4,"filtered":5,"sampled_out":6,"covered":7,"no_return":8,"open_before":9,\
                        "open_after":10}""");
        assertThat(Footer.json(new Footer.LibraryInfo("libnccl.so", "ab", "foreseen", 1, null, null, 2, 3))).isEqualTo("""
                {"library":"libnccl.so","build_id":"ab","found":"foreseen","attached_ns":1,"loaded_ns":null,"pid":null,\
                "held_ns":2,"unseen_ns":3}""");
    }

    @Test
    void lossesAndProcesses() {
        List<Footer.RingUse> rings = List.of(new Footer.RingUse("vital", 4096, 17));
        assertThat(Footer.json(new Footer.Losses(rings, Map.of("io", 2L), 2, 1L))).isEqualTo("""
                {"rings":[{"ring":"vital","size_bytes":4096,"high_water_bytes":17}],"by_kind":{"io":2},"total":2,"ends":1}""");
        assertThat(Footer.json(new Footer.ProcessInfo(
                        7, 1, "python3", "/usr/bin/python3", List.of("python3"), 3, true, Map.of("RANK", "0"),
                        "/system.slice/ssh.service", 10, 5L, null, null)))
                .isEqualTo("""
                        {"pid":7,"ppid":1,"comm":"python3","exe":"/usr/bin/python3","cmdline":["python3"],"arguments":3,\
                        "redacted":true,"environment":{"RANK":"0"},"cgroup":"/system.slice/ssh.service","nice":10,\
                        "started_ns":5}""");
        assertThat(Footer.json(new Footer.ProcessInfo(
                        7, 1, "sh", "/bin/sh", List.of("sh"), null, null, Map.of(), null, null, 5L, 6L, 1L)))
                .isEqualTo("""
                        {"pid":7,"ppid":1,"comm":"sh","exe":"/bin/sh","cmdline":["sh"],"environment":{},"started_ns":5,\
                        "exited_ns":6,"exit_status":1}""");
        assertThat(Footer.json(new Footer.KernelName(7, 8, "gemm"))).isEqualTo("{\"pid\":7,\"func\":8,\"kernel\":\"gemm\"}");
    }

    @Test
    void hostAndGpus() {
        assertThat(Footer.json(new Footer.HostSampling("", 1, 2, 3, 4, 5, 6, 7))).isEqualTo("""
                {"why":"","interval_ns":1,"rounds":2,"missed_rounds":3,"cpu_ns":4,"processes_left_out":5,"links_left_out":6,\
                "refused":7}""");
        Footer.GpuGap gap = new Footer.GpuGap("gpu_sample", "fan", "not supported", 9);
        assertThat(Footer.json(new Footer.GpuSampling(
                        "", "580", 1, 2L, 3, List.of(new Footer.GpuInfo(0, "H100", "GPU-1", "00000000:3B:00.0", 80L, 5, 16, null, List.of(gap))))))
                .isEqualTo("""
                        {"why":"","driver":"580","interval_ns":1,"rounds":2,"missed_rounds":3,"devices":[{"index":0,\
                        "name":"H100","uuid":"GPU-1","pci":"00000000:3B:00.0","memory_total":80,\
                        "pcie_generation":5,"pcie_width":16,"lost_ns":null,"missing":[{"kind":"gpu_sample",\
                        "name":"fan","why":"not supported","times":9}]}]}""");
    }

    @Test
    void whatRanOnGpus() {
        Footer.ActivityProcess process = new Footer.ActivityProcess(
                7, "libcupti.so.12", 26, "ended", "", 1, 2, 3, 4, 5, 6, 8, 9, List.of());
        assertThat(Footer.json(new Footer.GpuActivity("", List.of(process.with(List.of(new Footer.ActivityWindow(1, 2, 3)))))))
                .isEqualTo("""
                        {"why":"","processes":[{"pid":7,"library":"libcupti.so.12","cupti":26,"state":"ended","why":"","rows":1,\
                        "unlaunched":2,"lost":3,"lost_calls":4,"dropped":5,"untimed":6,"overhead_ns":8,"error_ns":9,\
                        "windows":[{"start_ns":1,"end_ns":2,"activities":3}]}]}""");
    }

    @Test
    void whatADigestHolds() {
        String json = """
                {"format":1,"of":"run.parquet","parts":[{"name":"steps","columns":["recording","step_kind VARCHAR"]}],\
                "skipped":{"hang":"no memory"}}""";
        Footer.Digest digest = new Footer.Digest(
                1, "run.parquet", List.of(new Footer.DigestPart("steps", List.of("recording", "step_kind VARCHAR"))), Map.of("hang", "no memory"));
        assertThat(Footer.json(digest)).isEqualTo(json);
        assertThat(Footer.digest(json)).isEqualTo(digest);
        assertThat(Footer.digest("{}")).isEqualTo(new Footer.Digest(0, "", List.of(), Map.of()));
    }

    @Test
    void whatOfStacks() {
        assertThat(Footer.json(new Footer.Stacks(
                        1, 49, 1000, 2, 3, 4, 5, 6, 7,
                        List.of(
                                new Footer.PythonInfo("python3", "3.9.1", null, List.of(new Footer.PythonRuntime(4096, 100))),
                                new Footer.PythonInfo("uwsgi", null, "too old", List.of())))))
                .isEqualTo("""
                        {"blocked_ns":1,"samples_per_second":49,"budget":1000,"taken":2,"over_budget":3,"lost":4,"unread":5,\
                        "deeper":6,"unnamed":7,"pythons":[{"file":"python3","version":"3.9.1",\
                        "runtimes":[{"address":4096,"bytes":100}]},{"file":"uwsgi","why":"too old"}]}""");
    }

    @Test
    void whatRecordingCosts() {
        assertThat(Footer.json(new Footer.Overhead(
                        1000.5, null, null, null, null, "by hand", 1, 2, 3, 4L, 0.25, 6L, List.of(new Footer.ProcessOverhead(7, 8, null)),
                        new Footer.SystemCallOverhead(630.5, 430.0, null, "too", 9, 5))))
                .isEqualTo("""
                        {"cost_ns_per_hit":1000.5,"cost_ns_per_counted_hit":null,"cost_ns_per_left_hit":null,\
                        "cost_ns_per_counted_left_hit":null,"debug_trap_ns":null,"method":"by hand","hits":1,"left_hits":2,"counted_hits":3,\
                        "cpu_ns_total":4,"share":0.25,"recorder_cpu_ns":6,"processes":[{"pid":7,"events":8,"share":null}],\
                        "system_calls":{"cost_ns":630.5,"skipped_cost_ns":430.0,"other_cost_ns":null,"method":"too",\
                        "hits":9,"skipped":5}}""");
        assertThat(Footer.json(new Footer.Detail(
                        "auto", "windows", 0.01, "why", List.of("cuda_launch"), List.of(new Footer.DetailWindow(5, 6, "turn", true)))))
                .isEqualTo("""
                        {"asked":"auto","recorded":"windows","budget":0.01,"why":"why","kinds":["cuda_launch"],\
                        "windows":[{"start_ns":5,"end_ns":6,"reason":"turn","complete":true}]}""");
    }

    @Test
    void whatIsWrittenIsReadBack() {
        Footer.About about = about(List.of("python3"), new Footer.Trigger("x", 5), new Footer.Series("id", 2, 1), true);
        Footer.Losses losses = new Footer.Losses(List.of(), Map.of("io", 2L), 2, 1L);
        Footer.KindState kind = new Footer.KindState("io", "attached", "", 5, 6L, null, null, null);
        Footer read = Footer.parse(new FooterValues()
                .put(Footer.RECORDING, about)
                .put(Footer.LOSSES, losses)
                .put(Footer.KINDS, List.of(kind))
                .put(Footer.GPUS, Optional.empty())
                .values());
        assertThat(read.recording()).isEqualTo(about);
        assertThat(read.losses()).isEqualTo(losses);
        assertThat(read.kinds()).containsExactly(kind);
        assertThat(read.clock()).isNull();
        assertThat(read.processes()).isEmpty();
    }

    @Test
    void whatIsMissingIsEmptyAndWhatIsUnknownIsIgnored() {
        Footer footer = Footer.parse(Map.of(Footer.RECORDING, "{\"host\":\"x\",\"some_future_member\":{\"a\":1}}"));
        assertThat(footer.recording().host()).isEqualTo("x");
        assertThat(footer.recording().command()).isEmpty();
        assertThat(footer.recording().complete()).isFalse();
        assertThat(Footer.parse(Map.of()).recording().machine().cpus()).isZero();
    }

    @Test
    void whatIsNotJsonIsSaid() {
        assertThatThrownBy(() -> Footer.parse(Map.of(Footer.CLOCK, "[1]")))
                .isInstanceOf(RecordingException.class)
                .hasMessageStartingWith("parsing footer key 'zernel.clock': ");
    }

    @Test
    void nothingIsWrittenAsAnEmptyObject() {
        assertThat(new FooterValues().put(Footer.HOST, Optional.empty()).put(Footer.PROBES, List.of()).values())
                .isEqualTo(Map.of("zernel.format", "1", "zernel.host", "{}", "zernel.probes", "[]"));
    }
}
