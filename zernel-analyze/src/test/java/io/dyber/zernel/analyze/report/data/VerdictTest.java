package io.dyber.zernel.analyze.report.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.duckdb.Table;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class VerdictTest {
    private static final String NEEDED =
            "Nor is whether it needs all that it computes: padding, gradients that nobody uses, the same results again.";
    private static final Finding SLOW = finding("data_bound", "Training waits for data.", "high", 15.0, 1.43);
    private static final Finding HANG = finding("hang", "The job hangs.", "high", null, null);
    private static final Finding FULL = finding("near_oom", "GPU memory is used up.", "high", null, null);

    @Test
    void severalLose() {
        assertThat(List.of("pid 100", "2 ranks", "pid 7 and 1 more").stream()
                        .map(subject -> FindingWords.gain(new Finding(
                                "x", "X.", subject, 30.0, "%", "high", 8.0, 2.0, "evidence", "advice", "next", Map.of(), List.of()))))
                .containsExactly(
                        "; loses 8.00 ms per step; fixing it gains at most 2.00x, all else as it is",
                        "; lose 8.00 ms per step; fixing it gains at most 2.00x, all else as it is",
                        "; lose 8.00 ms per step; fixing it gains at most 2.00x, all else as it is");
    }

    @Test
    void whatMayBeNothingIsNotSaidToBeLost() {
        assertThat(Stream.of(0.0, 2.0)
                        .map(least -> FindingWords.gain(new Finding(
                                "x", "X.", "pid 100", 30.0, "%", "low", 8.0, 2.0, "evidence", "advice", "next",
                                Map.of("least_lost_ms_per_step", least), List.of()))))
                .containsExactly(
                        "; may lose 8.00 ms per step; fixing it gains at most 2.00x, all else as it is",
                        "; loses 8.00 ms per step (at least 2.00 ms); fixing it gains at most 2.00x, all else as it is");
    }

    @Test
    void theFindingThatLosesMostIsTheVerdict() {
        Verdict verdict = verdict(null, SLOW);
        assertThat(verdict.kind()).isEqualTo(Verdict.Kind.BOTTLENECK);
        assertThat(verdict.sentence())
                .isEqualTo("Training waits for data: pid 100 loses 15.0 ms per step; fixing it gains at most 1.43x, all else as it is");
        assertThat(verdict.reason()).isEmpty();
    }

    @Test
    void aRiskComesSecondWhereTimeCanBeGained() {
        assertThat(verdict(null, SLOW, FULL).reason()).isEqualTo("Also: GPU memory is used up (pid 100).");
    }

    @Test
    void aJobThatIsKilledSoonIsToldThatFirst() {
        Finding grows = new Finding(
                "host_memory", "Host memory grows.", "pid 100", 900.0, "MB per minute", "high", null, null, "evidence", "advice", "next",
                Map.of("minutes_left", 14.0), List.of());
        assertThat(Stream.of(SLOW, grows).sorted(Finding.WORST_FIRST)).containsExactly(grows, SLOW);
        assertThat(verdict(null, grows, SLOW))
                .isEqualTo(new Verdict(
                        Verdict.Kind.RISK,
                        "Host memory grows: pid 100, 900 MB per minute",
                        "Also: Training waits for data (pid 100)."));
    }

    @Test
    void aGainWithoutStepsFollowsWhatItIsAShareOf() {
        Finding serial = new Finding(
                "serial_requests", "A program asks.", "pid 100", 80.0, "% of its time waiting", "high", null, 5.0, "evidence", "advice",
                "next", Map.of(), List.of());
        assertThat(verdict(null, serial).sentence())
                .isEqualTo("A program asks: pid 100, 80 % of its time waiting; fixing it gains at most 5.00x, all else as it is");
    }

    @Test
    void aJobThatHangsIsToldThatFirst() {
        assertThat(Stream.of(SLOW, HANG).sorted(Finding.WORST_FIRST)).containsExactly(HANG, SLOW);
        assertThat(verdict(null, HANG, SLOW))
                .isEqualTo(new Verdict(
                        Verdict.Kind.RISK, "The job hangs: pid 100, 30 %", "Also: Training waits for data (pid 100)."));
    }

    @Test
    void whatIsSlowOfLowSeverityComesLast() {
        Finding little = finding("cpu_preempted", "Another process takes the CPUs of the training.", "low", 2.0, 1.15);
        assertThat(Stream.of(little, FULL, SLOW).sorted(Finding.WORST_FIRST)).containsExactly(SLOW, FULL, little);
        assertThat(verdict(null, FULL, little))
                .isEqualTo(new Verdict(
                        Verdict.Kind.RISK,
                        "GPU memory is used up: pid 100, 30 %",
                        "Also: Another process takes the CPUs of the training (pid 100)."));
    }

    @Test
    void aRiskIsTheVerdictWhereNoTimeCanBeGained() {
        Verdict verdict = verdict("gpu", FULL);
        assertThat(verdict.kind()).isEqualTo(Verdict.Kind.RISK);
        assertThat(verdict.sentence()).isEqualTo("GPU memory is used up: pid 100, 30 %");
    }

    @Test
    void aGainThatNobodyWouldNoticeIsNoBottleneck() {
        Verdict verdict = verdict("gpu", finding("slow_steps", "Some steps are slow.", "low", 1.0, 1.03));
        assertThat(verdict.kind()).isEqualTo(Verdict.Kind.HEALTHY);
        assertThat(verdict.reason()).isEqualTo("A kernel ran. The largest gain that was found is 1.03x at most.");
    }

    @Test
    void aBusyGpuLimitsAHealthyJob() {
        assertThat(verdict("gpu"))
                .isEqualTo(new Verdict(
                        Verdict.Kind.HEALTHY, "No bottleneck found; the GPU is the limit.", "A kernel ran."));
    }

    @Test
    void aBusyGpuMayWaitForTheNetwork() {
        assertThat(verdictOfCommunication(0.5).reason())
                .isEqualTo("A kernel ran. Collectives count as kernels: up to 50.0 % of a step"
                        + " may be waiting for them, which only a profiler's trace can tell.");
        assertThat(verdictOfCommunication(0.05).reason()).isEqualTo("A kernel ran.");
    }

    @Test
    void anIdleGpuIsNoProofOfHealth() {
        assertThat(verdict("cpu"))
                .isEqualTo(new Verdict(
                        Verdict.Kind.UNKNOWN,
                        "No bottleneck found, but the GPU is not always busy.",
                        "A kernel ran. No finding says why not more."));
    }

    @Test
    void aGpuThatOnlyCopiesSaysSo() {
        Map<String, Table> sections = Map.of(
                "step_mean", table(List.of("pid", "steps"), 100L, 50L),
                "gpu_limit", tableOf(List.of("limits", "busy", "evidence"), row("cpu", 0.02, "a kernel ran 2 %")),
                "gpu_time", tableOf(List.of("exposed_copy_ns", "profiled_ns"), row(970L, 1000L)));
        assertThat(new Report(sections, new Diagnosis(List.of(), List.of())).verdict().reason())
                .isEqualTo("A kernel ran 2 %. Copies ran 97.0 % of the time without a kernel meanwhile: move data once, "
                        + "or ahead of its use (non_blocking=True).");
    }

    @Test
    void fewSamplesDoNotTellWhetherTheCpuOrTheGpuIsAhead() {
        assertThat(verdict("close"))
                .isEqualTo(new Verdict(
                        Verdict.Kind.HEALTHY,
                        "No bottleneck found; the CPU and the GPU are close.",
                        "A kernel ran. Which of them is ahead needs more samples: record 30 s of steps or longer."));
    }

    @Test
    void aJobIsLimitedByTheGpuOfOneOfItsProcesses() {
        Map<String, Table> sections = Map.of(
                "step_mean", table(List.of("pid", "steps"), 100L, 50L),
                "gpu_limit", tableOf(
                        List.of("limits", "busy", "evidence"),
                        row("cpu", 0.9, "of a neighbour"), row("gpu", 0.6, "of a rank"), row("gpu", 0.7, "of another")),
                "unknowns", table(List.of("question")));
        Verdict verdict = new Report(sections, new Diagnosis(List.of(), List.of())).verdict();
        assertThat(verdict.reason()).isEqualTo("Of another.");
    }

    @Test
    void withoutSamplesOfTheGpuNobodyKnowsWhatLimitsAHealthyJob() {
        Verdict verdict = verdict(null);
        assertThat(verdict.sentence()).isEqualTo("No bottleneck found.");
        assertThat(verdict.reason())
                .isEqualTo("Whether the CPU or a GPU limits the job cannot be known from here: no GPU was sampled.");
    }

    @Test
    void ofAFewStepsNothingIsSaidToBeWell() {
        Map<String, Table> sections = Map.of("step_mean", table(List.of("pid", "steps"), 100L, 3L), "gpu_limit", table(List.of("limits")));
        Verdict verdict = Verdict.of(new Report(sections, new Diagnosis(List.of(), List.of())));
        assertThat(verdict.kind()).isEqualTo(Verdict.Kind.UNKNOWN);
        assertThat(verdict.sentence()).isEqualTo("Too few steps to judge: 3 of training.");
        assertThat(verdict.reason()).isEqualTo("Most findings need 5 or 10 at least: record for longer.");
    }

    @Test
    void largeOperatorsOfOneThreadBesideIdleCpusAreTold() {
        assertThat(onCpus(row(300L, 0.8, 0.1, 0.0, true, 0.9, "1")))
                .isEqualTo("Nothing was launched on a GPU: the job runs on CPUs only. Its operators compute with one thread, which has "
                        + "80.0 % of the samples of a step in their arithmetic, while 0.9 CPUs are idle: it was started with "
                        + "OMP_NUM_THREADS=1, as torchrun does; OMP_NUM_THREADS=2 or torch.set_num_threads(2) may gain up to 1.67x. Whether it computes well there otherwise, "
                        + "as to memory formats, is not judged. " + NEEDED);
        assertThat(onCpus(row(300L, 0.3, 0.06, 0.5, true, 0.9, "2")))
                .contains("30.0 % of the samples of a step in their arithmetic, and 50.0 % in code without a name, as oneDNN's, while")
                .contains("may gain up to 1.67x");
        assertThat(verdictOnCpus(row(300L, 0.8, 0.1, 0.0, true, 0.9, "1")).sentence()).isEqualTo("No bottleneck found, but CPUs are idle.");
        assertThat(verdictOnCpus(row(300L, 0.8, 0.1, 0.0, false, 0.9, "1")).sentence()).isEqualTo("No bottleneck found.");
        String open = "Nothing was launched on a GPU: the job runs on CPUs only. Whether it computes well there, as to "
                + "memory formats, is not judged. " + NEEDED;
        assertThat(onCpus(row(40L, 0.8, 0.1, 0.0, true, 0.9, "1")))
                .isEqualTo(open.replace("as to memory formats", "as to data types, memory formats and many small operators")); // too few to tell
        assertThat(onCpus(row(300L, 0.8, 0.1, 0.0, false, 0.9, "1"))).isEqualTo(open); // has a pool
        assertThat(onCpus(row(300L, 0.8, 0.1, 0.0, true, 0.5, "1"))).isEqualTo(open); // no CPU is idle
        assertThat(onCpus(row(300L, 0.6, 0.2, 0.0, true, 0.9, "1"))).isEqualTo(open); // small operators
    }

    private static String onCpus(Object[] samples) {
        return verdictOnCpus(samples).reason();
    }

    private static Verdict verdictOnCpus(Object[] samples) {
        Map<String, Table> sections = Map.of(
                "step_mean", table(List.of("pid", "steps"), 100L, 50L),
                "gpu_limit", table(List.of("limits", "busy", "evidence")),
                "operator_samples", tableOf(
                        List.of("samples", "arithmetic_share", "around_share", "unnamed_share", "one_thread", "idle_cpus", "omp_threads"),
                        samples),
                "phase_words", table(List.of("phase", "on_gpu"), "GpuCompute", false));
        return new Report(sections, new Diagnosis(List.of(), List.of())).verdict();
    }

    @Test
    void howWellAJobComputesOnCpusIsNotJudged() {
        Map<String, Table> sections = Map.of(
                "step_mean", table(List.of("pid", "steps"), 100L, 50L),
                "gpu_limit", table(List.of("limits", "busy", "evidence")),
                "phase_words", table(List.of("phase", "on_gpu"), "GpuCompute", false));
        Verdict verdict = new Report(sections, new Diagnosis(List.of(), List.of())).verdict();
        assertThat(verdict.sentence()).isEqualTo("No bottleneck found.");
        assertThat(verdict.reason())
                .isEqualTo("Nothing was launched on a GPU: the job runs on CPUs only. Whether it computes well there, as to data types, "
                        + "memory formats and many small operators, is not judged. " + NEEDED);
    }

    @Test
    void whereFindingsCouldNotRunNothingIsCalledHealthy() {
        Map<String, Table> sections = Map.of(
                "step_mean", table(List.of("pid", "steps"), 100L, 50L),
                "gpu_limit", table(List.of("limits", "busy", "evidence"), "gpu", 0.99, "The GPU is busy."),
                "phase_words", table(List.of("phase", "on_gpu"), "GpuCompute", true));
        Diagnosis diagnosis = new Diagnosis(List.of(), List.of(new Diagnosis.Skipped("asleep", "no such column")));
        Verdict verdict = new Report(sections, diagnosis).verdict();
        assertThat(verdict.kind()).isEqualTo(Verdict.Kind.UNKNOWN);
        assertThat(verdict.sentence()).isEqualTo("No bottleneck found, but 1 finding could not be looked for.");
    }

    @Test
    void aTraceWithoutAGpuDoesNotSayThatTheJobHadNone() {
        assertThat(verdictOfTrace(false))
                .startsWith("The trace has nothing that ran on a GPU: the job computes on CPUs, or its GPUs were not profiled. ");
    }

    @Test
    void aTraceOfFewOfTheStepsSaysSo() {
        assertThat(verdictOfTrace(true))
                .isEqualTo("Whether the CPU or a GPU limits the job cannot be known from here: the GPU's activity in the trace "
                        + "spans less than half of the time of the steps.");
    }

    private static String verdictOfTrace(boolean onGpu) {
        Table times = onGpu
                ? table(List.of("recording", "pid", "exposed_copy_ns", "profiled_ns"), 0L, 100L, 0L, 1L)
                : table(List.of("recording", "pid"));
        Map<String, Table> sections = Map.of(
                "recordings", table(List.of("state"), "trace"),
                "step_mean", table(List.of("pid", "steps"), 100L, 50L),
                "gpu_limit", table(List.of("limits", "busy", "evidence")),
                "gpu_time", times,
                "phase_words", table(List.of("recording", "pid", "phase", "on_gpu"), 0L, 100L, "GpuCompute", onGpu));
        return new Report(sections, new Diagnosis(List.of(), List.of())).verdict().reason();
    }

    @Test
    void aTraceWithoutStepsSaysHowToMarkThem() {
        Map<String, Table> sections = Map.of(
                "recordings", table(List.of("state", "complete"), "trace", true), "step_mean", table(List.of("pid")));
        assertThat(new Report(sections, new Diagnosis(List.of(), List.of())).verdict().reason())
                .startsWith("Call the profiler's step() after each step, ");
    }

    @Test
    void whatLimitsTheRecordingIsNoFaultOfTheJob() {
        assertThat(verdict("gpu", finding("lost_events", "Events were lost.", "high", null, null)).kind())
                .isEqualTo(Verdict.Kind.HEALTHY);
    }

    @Test
    void withoutStepsThereIsNothingToJudge() {
        Report report = new Report(Map.of("step_mean", table(List.of("pid"))), new Diagnosis(List.of(), List.of()));
        assertThat(report.verdict().kind()).isEqualTo(Verdict.Kind.UNKNOWN);
        assertThat(report.verdict().reason()).contains("`zernel-analyze stacks FILE`").contains("(role=step)");
    }

    @Test
    void whereNothingIsFoundTheLinesOfAStepAreTold() {
        Map<String, Table> sections = Map.of(
                "step_mean", table(List.of("pid", "steps"), 100L, 50L),
                "gpu_limit", table(List.of("limits", "busy", "evidence"), "cpu", 0.02, "a kernel ran 2 %"),
                "step_lines", tableOf(
                        List.of("recording", "pid", "tid", "events", "share", "place"),
                        row(1L, 100L, 100L, 20L, 0.41, "train.py:9 mask -> Tensor.setitem"),
                        row(1L, 100L, 100L, 20L, 0.3, "train.py:15 Net.forward"),
                        row(1L, 100L, 100L, 2L, 0.02, "train.py:18 log"),
                        row(1L, 100L, 101L, 50L, 0.9, "train.py:15 Net.forward")));
        assertThat(new Report(sections, new Diagnosis(List.of(), List.of())).verdict().reason())
                .endsWith(" The longest lines of a step are train.py:9 mask -> Tensor.setitem: 41.0 %; train.py:15 Net.forward: 30.0 %.");
    }

    /// What was found may be less than what nobody looks for.
    @Test
    void besideAFindingBelowHighSeverityTheLinesOfAStepAreToldToo() {
        Map<String, Table> sections = Map.of(
                "step_mean", table(List.of("pid", "steps"), 100L, 50L),
                "phase_words", table(List.of("phase", "on_gpu"), "GpuCompute", false),
                "step_lines", tableOf(
                        List.of("recording", "pid", "tid", "events", "share", "place"),
                        row(1L, 100L, 100L, 40L, 0.41, "train.py:9 step -> Metric.compute")));
        String lines = "The longest lines of a step are train.py:9 step -> Metric.compute: 41.0 %.";
        for (String severity : List.of("low", "medium")) {
            Finding found = finding("data_bound", "Training waits for data.", severity, 2.0, 1.2);
            assertThat(new Report(sections, new Diagnosis(List.of(found), List.of())).verdict().reason()).isEqualTo(lines);
        }
        Finding high = finding("data_bound", "Training waits for data.", "high", 9.0, 2.0);
        assertThat(new Report(sections, new Diagnosis(List.of(high), List.of())).verdict().reason()).isEmpty();
    }

    @Test
    void withoutStepsItSaysThatTheRecordingIsIncomplete() {
        Map<String, Table> sections = Map.of("step_mean", table(List.of("pid")), "recordings",
                table(List.of("state", "complete"), "incomplete", false));
        Verdict verdict = new Report(sections, new Diagnosis(List.of(), List.of())).verdict();
        assertThat(verdict.reason()).startsWith("The recording is incomplete, which may be why: record again, ");
    }

    @Test
    void withoutStepsItSaysWhatWasSeen() {
        Map<String, Table> sections = Map.of(
                "step_mean", table(List.of("pid")),
                "processes_without_steps", table(List.of("pid", "why"), 100L, "4 threads launch, none of them most"));
        Verdict verdict = new Report(sections, new Diagnosis(List.of(), List.of())).verdict();
        assertThat(verdict.kind()).isEqualTo(Verdict.Kind.UNKNOWN);
        assertThat(verdict.sentence())
                .isEqualTo("The GPU is used, but no steps were found, so it cannot be said what limits the job.");
        assertThat(verdict.reason()).isEqualTo("pid 100: 4 threads launch, none of them most.");
    }

    @Test
    void aProgramWithoutAFrameworkIsToldWhatWasSeen() {
        Map<String, Table> sections = Map.of(
                "step_mean", table(List.of("pid")),
                "processes_without_steps", table(List.of("pid", "why")),
                "programs_without_steps", table(List.of("pid", "program", "seen"), 100L, "python3 plain.py", "2.0 s asleep"));
        Verdict verdict = new Report(sections, new Diagnosis(List.of(), List.of())).verdict();
        assertThat(verdict.kind()).isEqualTo(Verdict.Kind.UNKNOWN);
        assertThat(verdict.sentence()).isEqualTo(
                "Neither PyTorch nor CUDA was loaded by pid 100 (python3 plain.py), so nothing says what its steps are.");
        assertThat(verdict.reason()).isEqualTo("Seen: 2.0 s asleep. For steps and phases, name its parts: record with --probe"
                + " 'LIBRARY:FUNCTION(role=step)', role=data_wait, ..., or mark regions in Python with --probe py_region.");
    }

    /// Of a recording without steps, with these rows of `lines_without_steps`.
    private static Verdict ofLines(Object[] first, Object[]... others) {
        return ofLines(List.of(), first, others);
    }

    private static Verdict ofLines(List<Finding> findings, Object[] first, Object[]... others) {
        List<String> columns =
                List.of("recording", "pid", "tid", "threads", "wall_ns", "part", "share", "part_share", "place", "state", "doing");
        Map<String, Table> sections =
                Map.of("step_mean", table(List.of("pid")), "lines_without_steps", tableOf(columns, first, others));
        return new Report(sections, new Diagnosis(findings, List.of())).verdict();
    }

    @Test
    void withoutStepsTheLineThatTakesMostTimeIsTheAnswer() {
        Verdict verdict = ofLines(
                        row(1L, 100L, 100L, 1L, 8_000_000_000L, "serve.py:15 features", 0.7, 0.7, "serve.py:15 features -> recv",
                                "socket", "blocked on a socket"),
                        row(1L, 100L, 100L, 1L, 8_000_000_000L, "serve.py:23 handle", 0.1, 0.1,
                                "serve.py:23 handle -> Linear.forward", "on-cpu", "on a CPU"),
                        row(1L, 100L, 100L, 1L, 8_000_000_000L, "serve.py:30 log", 0.01, 0.01, "serve.py:30 log", "on-cpu",
                                "on a CPU"),
                        row(1L, 200L, 200L, 1L, 8_000_000_000L, "other.py:1 run", 0.9, 0.9, "other.py:1 run", "on-cpu", "on a CPU"));
        assertThat(verdict.kind()).isEqualTo(Verdict.Kind.UNKNOWN);
        assertThat(verdict.sentence()).isEqualTo(
                "No steps were seen; pid 100 spends 70.0 % of 8.00 s in serve.py:15 features -> recv, blocked on a socket.");
        assertThat(verdict.reason()).startsWith("Next most: serve.py:23 handle -> Linear.forward: 10.0 %, on a CPU. "
                + "Whether that waits for work that is not there, or keeps work waiting, nothing says. `zernel-analyze stacks");
    }

    /// A wait of the program is worth a word, and so is what it does meanwhile.
    @Test
    void withoutStepsTheLineIsToldBesideAFinding() {
        List<Finding> findings = List.of(finding("no_free_cpu", "The program waits for a CPU.", "medium", null, null));
        Verdict working = ofLines(
                findings,
                row(1L, 100L, 100L, 1L, 8_000_000_000L, "bpe.py:9 merge", 0.7, 0.7, "bpe.py:9 merge", "on-cpu", "on a CPU"));
        assertThat(working.kind()).isEqualTo(Verdict.Kind.RISK);
        assertThat(working.sentence()).startsWith("The program waits for a CPU: ");
        assertThat(working.reason()).isEqualTo("No steps were seen; pid 100 spends 70.0 % of 8.00 s in bpe.py:9 merge, on a CPU.");
        Verdict idle = ofLines(
                findings,
                row(1L, 100L, 100L, 1L, 8_000_000_000L, "serve.py:9 take", 0.7, 0.7, "serve.py:9 take -> recv", "socket",
                        "blocked on a socket"));
        assertThat(idle.reason()).isEmpty();
    }

    @Test
    void withoutStepsLinesOfOneFunctionAreToldTogether() {
        Verdict verdict = ofLines(
                        row(1L, 100L, 101L, 4L, 8_000_000_000L, "serve.py save", 0.44, 0.64, "serve.py:13 save -> fsync",
                                "storage", "blocked on storage"),
                        row(1L, 100L, 101L, 4L, 8_000_000_000L, "serve.py save", 0.2, 0.64, "serve.py:10 save -> dumps",
                                "on-cpu", "on a CPU"),
                        row(1L, 100L, 101L, 4L, 8_000_000_000L, "serve.py answer", 0.2, 0.25,
                                "serve.py:23 answer -> Linear.forward", "on-cpu", "on a CPU"));
        assertThat(verdict.sentence()).isEqualTo("No steps were seen; 4 threads of pid 100 spend 64.0 % of their 8.00 s in serve.py save: "
                + "serve.py:13 save -> fsync: 44.0 % blocked on storage; serve.py:10 save -> dumps: 20.0 % on a CPU.");
        assertThat(verdict.reason()).startsWith("Next most: serve.py answer: 25.0 %. `zernel-analyze stacks");
    }

    @Test
    void aLineThatTakesPartOfAFunctionIsNotGivenAllOfItsTime() {
        Verdict verdict = ofLines(
                        row(1L, 100L, 100L, 1L, 8_000_000_000L, "load.py model", 0.04, 0.4, "load.py:6 build -> Linear",
                                "on-cpu", "on a CPU"),
                        row(1L, 100L, 100L, 1L, 8_000_000_000L, "load.py model", 0.03, 0.4, "load.py:7 build -> Linear",
                                "on-cpu", "on a CPU"));
        assertThat(verdict.sentence()).isEqualTo("No steps were seen; pid 100 spends 40.0 % of 8.00 s in load.py model: "
                + "load.py:6 build -> Linear: 4.0 % on a CPU; "
                        + "the rest of it: 36.0 %.");
    }

    @Test
    void stepsOfInferenceAreEngineSteps() {
        Finding slow = new Finding("launch_bound", "The GPU waits for launches.", "pid 100", 288.0, "launches per step", "high",
                8.0, 2.0, "median of 528 steps: 9.4 ms of a step", "larger batches", "zernel-analyze steps x.parquet", Map.of(),
                List.of());
        Table threads = table(List.of("pid", "purpose"), 100L, "inference");
        Finding reworded = StepWords.of(Map.of("training_threads", threads))
                .in(new Diagnosis(List.of(slow), List.of())).findings().getFirst();
        assertThat(reworded.unit()).isEqualTo("launches per engine step");
        assertThat(reworded.evidence()).isEqualTo("median of 528 engine steps: 9.4 ms of an engine step");
        assertThat(reworded.nextCommand()).isEqualTo("zernel-analyze steps x.parquet");
        assertThat(FindingWords.gain(reworded))
                .isEqualTo("; loses 8.00 ms per engine step; fixing it gains at most 2.00x, all else as it is");
        Table others = table(List.of("pid", "purpose"), 10L, "inference");
        assertThat(StepWords.of(Map.of("training_threads", others)).in(new Diagnosis(List.of(slow), List.of())).findings())
                .containsExactly(slow);
    }

    /// Of a job whose GPU is the limit.
    private static Verdict verdictOfCommunication(double upper) {
        Map<String, Table> sections = Map.of(
                "step_mean", table(List.of("pid", "steps"), 100L, 50L),
                "gpu_limit", table(List.of("limits", "busy", "evidence"), "gpu", 0.9, "a kernel ran"),
                "unknowns",
                        table(List.of("question", "upper_share"), "how much communication overlaps with compute", upper));
        return new Report(sections, new Diagnosis(List.of(), List.of())).verdict();
    }

    /// @param limits what limits the job; null where it launches nothing
    private static Verdict verdict(@Nullable String limits, Finding... findings) {
        List<String> columns = List.of("limits", "busy", "evidence");
        Map<String, Table> sections = Map.of(
                "step_mean", table(List.of("pid", "steps"), 100L, 50L),
                "gpu_limit", limits == null ? table(columns) : table(columns, limits, 0.9, "a kernel ran"),
                "unknowns", table(List.of("question"), "how long kernels run"));
        return new Report(sections, new Diagnosis(List.of(findings), List.of())).verdict();
    }

    private static Object[] row(Object... values) {
        return values;
    }

    /// A table of several rows.
    private static Table tableOf(List<String> columns, Object[] first, Object[]... others) {
        List<Table.Row> rows = new ArrayList<>(table(columns, first).rows());
        for (Object[] other : others) {
            rows.addAll(table(columns, other).rows());
        }
        return new Table(table(columns).columns(), rows);
    }

    /// A table of one row, or of none without values.
    private static Table table(List<String> columns, Object... values) {
        Map<String, Integer> positions = new HashMap<>();
        columns.forEach(column -> positions.put(column, positions.size()));
        List<Table.Row> rows = values.length == 0 ? List.of() : List.of(new Table.Row(positions, List.of(values)));
        return new Table(columns.stream().map(name -> new Table.Column(name, "BIGINT")).toList(), rows);
    }

    private static Finding finding(
            String name, String title, String severity, @Nullable Double lost, @Nullable Double speedup) {
        return new Finding(
                name, title, "pid 100", 30.0, "%", severity, lost, speedup, "evidence", "advice", "next", Map.of(), List.of());
    }
}
