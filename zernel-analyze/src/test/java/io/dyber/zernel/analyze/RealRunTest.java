package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dyber.zernel.analyze.report.data.Verdict;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// How what is said of a real job is judged.
class RealRunTest {
    private static final RealJob SLOW = new RealJob(
            "slow",
            "a transform",
            false,
            List.of("data_bound", "too_few_workers"),
            List.of("train.py:12", "train.py:13"),
            true,
            Optional.of(new RealJob.Advice("num_workers=1", "num_workers")),
            false);
    private static final RealJob HEALTHY = new RealJob("fine", "nothing", true, List.of(), List.of(), true, Optional.empty(), false);
    private static final RealJob EVALUATION =
            new RealJob("eval", "evaluation", false, List.of("evaluation"), List.of(), false, Optional.empty(), false);

    /// 20 ms recorded, 25 ms unrecorded, 10 ms without the cause, 12.5 ms with the advice.
    private static final RealRun.Times TIMES =
            new RealRun.Times(20, Optional.of(25.0), List.of(10.0), Optional.of(new RealRun.Advised(12.5, OptionalInt.empty())));

    @Test
    void theFirstFindingIsTheOneThatTheVerdictNames() {
        RealRun run = run(SLOW, "Data is late: pid 1 loses 9.0 ms", unexplained(8), dataBound(9));
        assertThat(run.firstName()).isEqualTo("data_bound");
        assertThat(run.causeIsFirst()).isTrue();
    }

    @Test
    void aCauseBehindAnotherOneIsNotFirst() {
        RealRun run = run(SLOW, "Steps are unexplained: pid 1 loses 9.0 ms", unexplained(9), dataBound(8));
        assertThat(run.firstName()).isEqualTo("unexplained_time");
        assertThat(run.causeIsFirst()).isFalse();
        assertThat(run.named()).contains(dataBound(8));
    }

    @Test
    void noBottleneckIsNoCause() {
        RealRun run = run(SLOW, "No bottleneck found.", dataBound(9));
        assertThat(run.firstName()).isEqualTo("none");
        assertThat(run.causeIsFirst()).isFalse();
    }

    @Test
    void anyFindingNamesWhatCostsNoTimeUnlessTheVerdictClaimsAGain() {
        Finding evaluates = finding("evaluation", "The job evaluates.", null, "low", "");
        assertThat(run(EVALUATION, "No bottleneck found.", evaluates).causeIsFirst()).isTrue();
        assertThat(run(EVALUATION, "No bottleneck found.").causeIsFirst()).isFalse();
        assertThat(run(EVALUATION, "Data is late: pid 1", dataBound(9), evaluates).causeIsFirst()).isFalse();
    }

    @Test
    void theLineIsRightWhereTheFirstOfTheFindingIsAPlantedOne() {
        assertThat(run(SLOW, "", dataBound("train.py:12 collate", "train.py:99 fit")).lineIsRight()).isTrue();
        assertThat(run(SLOW, "", dataBound("train.py:99 fit", "train.py:12 collate")).lineIsRight()).isFalse();
        assertThat(run(SLOW, "", dataBound("train.py:120 collate")).lineIsRight()).isFalse();
        assertThat(run(SLOW, "", dataBound()).lineIsRight()).isFalse();
        assertThat(run(SLOW, "", unexplained(9)).line()).isEmpty();
    }

    @Test
    void theGainIsTheStepByItselfLessWhatIsLost() {
        assertThat(run(SLOW, "", dataBound(9)).said()).hasValueSatisfying(said -> assertThat(said.most()).isCloseTo(1.818, within(0.001)));
        assertThat(run(SLOW, "", dataBound(9)).gain()).contains(new RealRun.Gain(2, 2, 2.5));
    }

    @Test
    void theGainIsRightWithinAFifthOrBetweenTwoRuns() {
        assertThat(run(SLOW, "", dataBound(7.6)).gainIsRight()).isTrue(); // 1.61
        assertThat(run(SLOW, "", dataBound(7.4)).gainIsRight()).isFalse(); // 1.59
        assertThat(run(SLOW, "", dataBound(11.9)).gainIsRight()).isTrue(); // 2.47
        assertThat(run(SLOW, "", dataBound(12.1)).gainIsRight()).isFalse(); // 2.53
        assertThat(run(SLOW, "", dataBound(20)).gainIsRight()).isFalse();
        assertThat(run(SLOW, "", unexplained(10)).gainIsRight()).isFalse();
    }

    @Test
    void aRangeIsRightWhereItHoldsTheGain() {
        Finding range = finding("data_bound", "Data is late.", 15.0, "high", "num_workers", Map.of("least_lost_ms_per_step", 6.0));
        assertThat(run(SLOW, "", range).said()).contains(new RealRun.Said(20 / 14.0, 4));
        assertThat(run(SLOW, "", range).gainIsRight()).isTrue();
        assertThat(run(SLOW, "", finding("data_bound", "", 15.0, "high", "", Map.of("least_lost_ms_per_step", 12.1))).gainIsRight())
                .isFalse();
    }

    @Test
    void whatMoreWorkersBringIsJudgedByTheRunThatHasThem() {
        Finding few = finding("too_few_workers", "Data is late.", 6.0, "high", "num_workers=1");
        assertThat(run(SLOW, "", few).gain()).contains(new RealRun.Gain(1.6, 1.6, 2));
    }

    @Test
    void runsWithoutTheCauseDifferToo() {
        RealRun.Times times = new RealRun.Times(20, Optional.empty(), List.of(10.0, 15.0), Optional.empty());
        RealRun run = new RealRun(SLOW, times, verdict(""), List.of(dataBound(5.2)), "");
        assertThat(run.gain()).contains(new RealRun.Gain(1.6, 20 / 15.0, 2));
        assertThat(run.gainIsRight()).isTrue(); // 1.35
    }

    @Test
    void theAdviceMustGainTwoThirdsOfWhatIsPromised() {
        assertThat(run(SLOW, "Data is late: ", dataBound(12)).adviceIsKept()).isTrue(); // 2.5 promised, 2.0 gained
        assertThat(run(SLOW, "Data is late: ", dataBound(12.1)).adviceIsKept()).isFalse(); // 2.53
    }

    @Test
    void theAdviceMustGainTwoThirdsOfWhatItSavesByItself() {
        Finding stall = finding("data_bound", "Data is late.", 15.0, "high", "num_workers", Map.of("advice_saves_ms_per_step", 12.0));
        assertThat(run(SLOW, "Data is late: ", stall).adviceIsKept()).isTrue(); // 4.0 by the cause, 2.5 promised, 2.0 gained
        Finding bold = finding("data_bound", "Data is late.", 15.0, "high", "num_workers", Map.of("advice_saves_ms_per_step", 12.1));
        assertThat(run(SLOW, "Data is late: ", bold).adviceIsKept()).isFalse(); // 2.53
    }

    @Test
    void adviceThatWasNotGivenIsNotJudged() {
        assertThat(run(SLOW, "No bottleneck found.", dataBound(9)).advised()).isEmpty();
        assertThat(run(SLOW, "Data is late: ", finding("data_bound", "Data is late.", 9.0, "high", "other advice")).advised())
                .isEmpty();
    }

    @Test
    void adviceAppliedWithOtherWorkersThanItNamesIsNotJudged() {
        List<Finding> few = List.of(finding("too_few_workers", "Few.", 12.0, "high", "DataLoader(num_workers=9, persistent_workers=True)"));
        assertThat(new RealRun(SLOW, advised(9), verdict("Few: "), few, "").advised()).contains(2.0);
        assertThat(new RealRun(SLOW, advised(9), verdict("Few: "), few, "").gain()).contains(new RealRun.Gain(1.6, 1.6, 2));
        assertThat(new RealRun(SLOW, advised(4), verdict("Few: "), few, "").advised()).isEmpty();
        assertThat(new RealRun(SLOW, advised(4), verdict("Few: "), few, "").gain()).contains(new RealRun.Gain(2, 2, 2.5));
    }

    private static RealRun.Times advised(int workers) {
        return new RealRun.Times(
                20, Optional.of(25.0), List.of(10.0), Optional.of(new RealRun.Advised(12.5, OptionalInt.of(workers))));
    }

    @Test
    void aHealthyJobHasNoFindingOfWeight() {
        RealRun run = run(
                HEALTHY,
                "",
                finding("lost_events", "Lost.", null, "high", ""),
                finding("slow_steps", "Slow.", 0.9, "low", ""),
                finding("cpu_preempted", "Ready.", 1.1, "low", ""),
                finding("host_memory", "Grows.", null, "medium", ""));
        assertThat(run.alarms()).containsExactly("cpu_preempted (low, 6 %)", "host_memory (medium, 0 %)");
    }

    @Test
    void theTableSaysWhatIsNotRight() {
        RealRun right = run(SLOW, "Data is late: ", dataBound("train.py:12 collate"));
        RealRun wrong = run(SLOW, "Steps are unexplained: ", unexplained(9), dataBound(4));
        RealRun fine = run(HEALTHY, "No bottleneck found.");
        assertThat(RealJobsDocument.of(List.of(right, wrong, fine))).isEqualTo("""
                - The cause is what the verdict names: 1 of 2, 50 % (at least 90 %)
                - The gain is right within 20 %, or within what runs differ: 1 of 2, 50 % (at least 80 %)
                - The first line of the finding is one that holds the cause: 1 of 2, 50 % (at least 90 %)
                - Nothing is said of a healthy job: 1 of 1, 100 % (at least 100 %)
                - The advice, applied, gives two thirds of the gain it promises: 1 of 1, 100 % (at least 100 %)

                | job | planted | step [ms] | without | true gain | first finding | said | its line | advice applied: gain | right |
                |---|---|---:|---:|---:|---|---:|---|---|---|
                | slow | a transform | 20.0 / 25.0 | 10.0 | 2.00x (2.00x .. 2.50x) | data_bound | 1.82x | train.py:12 collate | num_workers=1: 2.00x | yes |
                | slow | a transform | 20.0 / 25.0 | 10.0 | 2.00x (2.00x .. 2.50x) | unexplained_time; data_bound is number 2 | 1.25x | **none** |  | **cause**, **gain** |

                | healthy job | what it is | step [ms] | what is said of it |
                |---|---|---:|---|
                | fine | nothing | 20.0 / 25.0 |  |
                """);
    }

    @Test
    void aBlockIsWrittenBetweenItsMarkers() {
        String page = "a\n<!-- written by RealJobsIT -->\nold\n<!-- end -->\nb\n<!-- written by DiagnosisTest -->\nc\n<!-- end -->\n";
        assertThat(WrittenBlock.REAL_JOBS.replaced(page, "new\n")).isEqualTo(
                "a\n<!-- written by RealJobsIT -->\nnew\n<!-- end -->\nb\n<!-- written by DiagnosisTest -->\nc\n<!-- end -->\n");
    }

    @Test
    void thereAreFortyCausesTenQuickJobsAndHealthyOnes() {
        List<RealJob> jobs = RealJob.all();
        assertThat(jobs).extracting(RealJob::name).doesNotHaveDuplicates();
        assertThat(jobs.stream().filter(job -> !job.healthy())).hasSizeGreaterThanOrEqualTo(40)
                .allSatisfy(job -> assertThat(job.findings()).isNotEmpty());
        assertThat(jobs.stream().filter(RealJob::healthy)).hasSizeGreaterThanOrEqualTo(10)
                .allSatisfy(job -> assertThat(job.findings()).isEmpty());
        assertThat(jobs.stream().filter(RealJob::quick)).hasSize(10);
    }

    private static RealRun run(RealJob job, String sentence, Finding... findings) {
        return new RealRun(job, TIMES, verdict(sentence), List.of(findings), "");
    }

    private static Verdict verdict(String sentence) {
        return new Verdict(sentence.startsWith("No") ? Verdict.Kind.UNKNOWN : Verdict.Kind.BOTTLENECK, sentence, "");
    }

    private static Finding dataBound(double lost) {
        return finding("data_bound", "Data is late.", lost, "high", "DataLoader(num_workers=2)");
    }

    private static Finding dataBound(String... lines) {
        Finding plain = dataBound(9);
        return new Finding(
                plain.name(), plain.title(), plain.subject(), plain.value(), plain.unit(), plain.severity(), plain.lostMillisPerStep(),
                plain.maxSpeedup(), plain.evidence(), plain.advice(), plain.nextCommand(), plain.more(),
                Stream.of(lines).map(line -> new FindingLine("the loading", 0.5, line, null, null, null, 1, 1)).toList());
    }

    private static Finding unexplained(double lost) {
        return finding("unexplained_time", "Steps are unexplained.", lost, "medium", "");
    }

    private static Finding finding(String name, String title, @Nullable Double lost, String severity, String advice) {
        return finding(name, title, lost, severity, advice, Map.of());
    }

    private static Finding finding(
            String name, String title, @Nullable Double lost, String severity, String advice, Map<String, @Nullable Object> more) {
        return new Finding(name, title, "pid 1", null, "", severity, lost, null, "", advice, "", more, List.of());
    }
}
