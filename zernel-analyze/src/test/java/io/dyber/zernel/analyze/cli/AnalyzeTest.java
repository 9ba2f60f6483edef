package io.dyber.zernel.analyze.cli;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.RecordingFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class AnalyzeTest {
    @TempDir
    Path folder;

    @Test
    void theReportIsOneScreen() throws IOException {
        looksAsReviewed(dataBound(), 80, "report-80.txt");
        looksAsReviewed(twoRanks(), 110, "report-gpu.txt");
    }

    @Test
    void theWholeReportHasEveryDetail() throws IOException {
        looksAsReviewed(dataBound(), 140, "report-140.txt", "--full");
        looksAsReviewed(twoRanks(), 110, "report-gpu-full.txt", "--full");
    }

    @Test
    void phasesOfTheWholeReportAreThoseOfTrainingSteps() {
        RecordingFixture fixture = recording().gpuAlloc(0, 1, 4096, 0);
        for (int i = 0; i < 11; i++) { // the first lasts 5 s
            double at = 5000 + i * 100;
            fixture.region(NEXT, at, 50).backward(at + 60, 20).region(STEP, at + 80, 20);
        }
        String file = fixture.write(folder.resolve("run.parquet")).toString();
        assertThat(Outcome.of("report", "--full", file).out().replaceAll("[█-▏]", "").replaceAll(" +", " ")).contains(
                "Training: pid 100, 6.10 s from its first call to its last",
                " DataLoading 50.0 % 50.0 ms/step",
                " GpuCompute 30.0 % 30.0 ms/step",
                " backward 20.0 %, forward 10.0 %",
                " OptimizerStep 20.0 % 20.0 ms/step",
                " 100.0 % of 10 training steps, wall time on the CPU side, not GPU time");
    }

    private static void looksAsReviewed(RecordingFixture fixture, int width, String name, String... options)
            throws IOException {
        // A fixed relative path, because it is part of the output.
        Path file = Path.of("target/golden/run.parquet");
        Files.createDirectories(file.getParent());
        fixture.write(file);
        List<String> arguments = new ArrayList<>(List.of("report", "--width", Integer.toString(width), file.toString()));
        arguments.addAll(List.of(options));
        Outcome outcome = Outcome.of(arguments.toArray(String[]::new));
        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.status()).isZero();
        Path golden = Path.of("src/test/resources/golden/" + name);
        if (Boolean.getBoolean("golden.update")) {
            Files.writeString(golden, outcome.out());
        }
        assertThat(outcome.out()).isEqualTo(Files.readString(golden));
        assertThat(outcome.out().lines()).allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(width));
    }

    @Test
    void theJsonReportHasTheSameData() {
        Path file = dataBound().write(folder.resolve("run.parquet"));
        JsonNode report = new JsonMapper().readTree(Outcome.of("report", "--json", file.toString()).out());
        assertThat(report.get("format").asInt()).isEqualTo(1);
        assertThat(report.get("training_threads").get(0).get("steps").asInt()).isEqualTo(20);
        assertThat(report.get("findings").get(0).get("lost_ms_per_step").asDouble()).isEqualTo(15.0);
        long total = 0;
        for (JsonNode phase : report.get("phases")) {
            total += phase.get("total_ns").asLong();
        }
        assertThat(total).isEqualTo(report.get("phases").get(0).get("wall_ns").asLong());
    }

    @Test
    void diffSaysWhatChangedAndFailsOnARule() {
        String before = recording().training(21, 15).write(folder.resolve("before.parquet")).toString();
        String after = recording().training(21, 20).write(folder.resolve("after.parquet")).toString();
        Outcome text = Outcome.of("diff", "--width", "120", before, after);
        assertThat(text.status()).isZero();
        assertThat(text.out()).startsWith("before  " + before + ", 20 steps compared\nafter   " + after + ", 20 steps")
                .contains("Steps are slower by 5.00 ms (+10.0 %): 50.0 ms -> 55.0 ms at the median")
                .containsPattern("(?m)^data_loading +15.0 ms +20.0 ms +\\+5.00 ms +\\+33.3 % .* < 0.001  more$");

        Outcome failed = Outcome.of("diff", "--markdown", "--fail-on", "step_p50 > +5%", "--fail-on", "step > 1s", before, after);
        assertThat(failed.status()).isEqualTo(3);
        assertThat(failed.out())
                .contains("- **BROKEN** `step_p50 > +5%`: step\\_p50 50.000 ms before, 55.000 ms after")
                .contains("- ok `step > 1s`: ")
                .doesNotContain("Hodges-Lehmann");
        assertThat(Outcome.of("diff", "--fail-on", "step_p50 > +5%", "--fail-on", "step > 1s", before, after).out())
                .contains("\nBROKEN  step_p50 > +5%: ", "\nok      step > 1s: ");

        JsonNode json = new JsonMapper().readTree(Outcome.of("diff", "--json", before, after).out());
        assertThat(json.path("steps").get(0).path("shift").asDouble()).isEqualTo(5e6);
        assertThat(json.path("after").get(0).asString()).isEqualTo(after);

        assertThat(Outcome.of("diff", "--csv", "steps", before, after).out())
                .startsWith("measure,").containsPattern("(?m)^step,").containsPattern("(?m)^data_loading,");
        assertThat(Outcome.of("diff", "--csv", "calls", before, after).out()).containsPattern("(?m)^backward,Engine::execute,");

        Outcome wrong = Outcome.of("diff", "--fail-on", "speed > 1", before, after);
        assertThat(wrong.status()).isEqualTo(2);
        assertThat(wrong.err()).contains("'speed' is not a measure of a step: the measures are step, ");
    }

    @Test
    void sqlPrintsATableOrCsvOrJson() {
        String file = recording().region("a \"b\", c", 1, 2).region("d", 5, 1).write(folder.resolve("run.parquet"))
                .toString();
        String query = "SELECT name, dur_ns, cast(NULL AS BIGINT) AS n FROM region ORDER BY ts_ns";
        assertThat(Outcome.of("sql", file, query).out()).isEqualTo("""
                name       dur_ns  n
                a "b", c  2000000  -
                d         1000000  -
                """);
        assertThat(Outcome.of("sql", "--csv", file, query).out()).isEqualTo("""
                name,dur_ns,n
                "a ""b"", c",2000000,
                d,1000000,
                """);
        assertThat(Outcome.of("sql", "--json", file, query).out()).isEqualTo("""
                [
                  {"name": "a \\"b\\", c", "dur_ns": 2000000, "n": null},
                  {"name": "d", "dur_ns": 1000000, "n": null}
                ]
                """);
    }

    @Test
    void aWrongQueryIsOneErrorAndStatus1() {
        String file = recording().region("a", 1, 2).write(folder.resolve("run.parquet")).toString();
        Outcome outcome = Outcome.of("sql", file, "SELECT nonsense FROM events");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.out()).isEmpty();
        assertThat(outcome.err()).startsWith("zernel-analyze: running a query: Binder Error: Referenced column \"nonsense\"");
    }

    @Test
    void dataErrorsAreOneLineAHintAndStatus1() throws IOException {
        Outcome outcome = Outcome.of("report", "nowhere.parquet");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err()).isEqualTo("""
                zernel-analyze: opening 'nowhere.parquet': no such file
                hint: record one: sudo zernel-record -o nowhere.parquet
                """);
        Path text = Files.writeString(folder.resolve("text"), "text, not Parquet");
        assertThat(Outcome.of("info", text.toString()).err()).startsWith("zernel-analyze: opening '" + text + "': not a Parquet file\n");
    }

    @Test
    void anEmptyRecordingIsSaidToBeEmpty() {
        String file = recording().write(folder.resolve("run.parquet")).toString();
        for (String command : List.of("report", "steps", "phases", "percentiles", "findings")) {
            Outcome outcome = Outcome.of(command, file);
            assertThat(outcome.status()).isEqualTo(1);
            assertThat(outcome.err()).startsWith("zernel-analyze: reading '" + file + "': the recording has no events\n");
        }
        assertThat(Outcome.of("info", file).status()).isZero();
    }

    @Test
    void wrongUsageIsStatus2() {
        assertThat(Outcome.of("report").status()).isEqualTo(2);
        assertThat(Outcome.of("report").err())
                .isEqualTo("zernel-analyze: missing FILE\nhint: 'zernel-analyze report --help' lists the options\n");
        assertThat(Outcome.of("findings").err()).startsWith("zernel-analyze: missing FILE\nhint: ");
        assertThat(Outcome.of("reprot", "x").status()).isEqualTo(2);
        assertThat(Outcome.of().err()).contains("Record first:  sudo zernel-record");
        assertThat(Outcome.of("sql", "--csv", "--json", "x", "y").status()).isEqualTo(2);
        assertThat(Outcome.of("report", "--threads", "0", "x").status()).isEqualTo(2);
    }

    @Test
    void everyCommandHasTwoExamples() {
        for (CommandLine command : Analyze.commandLine().getSubcommands().values()) {
            String help = command.getUsageMessage();
            assertThat(help.substring(help.indexOf("Examples:")).lines().filter(line -> line.contains("zernel-analyze ")))
                    .hasSizeGreaterThan(1);
            assertThat(help).containsAnyOf("--json", "--csv");
        }
    }

    @Test
    void tablesOfStepsPhasesAndPercentiles() {
        String file = recording().training(3, 15).write(folder.resolve("run.parquet")).toString();
        assertThat(Outcome.of("steps", "--csv", file).out().lines()).hasSize(4)
                .element(1).isEqualTo("0,100,100,1,warmup,50000000,15000000,30000000,0,5000000,0,0,1,0,0,0,0,0,0,,,Optimizer.step,1.0");
        assertThat(Outcome.of("steps", "--slowest", "1", "--csv", file).out().lines()).hasSize(2);
        assertThat(Outcome.of("phases", "--csv", file).out().lines().toList())
                .contains("0,100,100,DataLoading,45000000,0.3,0,3,150000000,calls");
        assertThat(Outcome.of("phases", "--parts", "--csv", file).out()).contains("GpuCompute,forward,true,30000000,0.2");
        assertThat(Outcome.of("percentiles", "--kind", "backward", "--csv", file).out().lines()).hasSize(2);
        assertThat(Outcome.of("percentiles", "--by-process", "--width", "200", file).out()).contains("Engine::execute");
    }

    @Test
    void stepsNameTheRankThatWasLate() {
        String file = twoRanks().write(folder.resolve("run.parquet")).toString();
        List<String> lines = Outcome.of("steps", "--csv", file).out().lines().toList();
        assertThat(lines.getFirst()).contains(",collectives,late_rank,late_ns,source,");
        // Rank 1 calls 4 ms late in every step of both ranks.
        assertThat(lines.stream().skip(1)).hasSize(20).allSatisfy(line -> assertThat(line).contains(",1,1,4000000,Optimizer.step,"));
    }

    @Test
    void aThresholdIsSetByItsName() {
        String file = dataBound().write(folder.resolve("run.parquet")).toString();
        assertThat(Outcome.of("findings", file).out()).contains("Training waits for data that more workers would make in time.");
        assertThat(Outcome.of("findings", "--threshold", "too_few_workers.min_share=0.9", file).out()).doesNotContain("Training waits");
        assertThat(Outcome.of("findings", "--threshold", "phase_rules.nccl_detection=true", "--explain", "phase_rules").out())
                .containsPattern("(?m)^ +nccl_detection +true  whether the first rule is used$");
        assertThat(Outcome.of("phases", "--threshold", "phase_rules.io_wait=1", file).err()).startsWith(
                "zernel-analyze: --threshold: 'phase_rules' has no threshold 'io_wait': did you mean 'io_wait_threshold'?\n");
        assertThat(Outcome.of("phases", "--threshold", "phase_rule.nccl_detection=1", file).err())
                .startsWith("zernel-analyze: --threshold: there is no finding or view 'phase_rule': did you mean 'phase_rules'?");
        Outcome wrong = Outcome.of("phases", "--threshold", "phase_rules.nccl_detection=1", file);
        assertThat(wrong.status()).isEqualTo(2);
        assertThat(wrong.err()).contains("'1' is neither true nor false: nccl_detection is FALSE");
    }

    @Test
    void aSimulationHasNoMachine() {
        Path file = recording().training(5, 5)
                .footer(
                        "zernel.recording",
                        """
                        {"version":"0.1.0","simulated":true,"host":"simulated","kernel":"none","arch":"none","cpus":8,
                        "command":[],"options":[],"started_ns":1,"ended_ns":10000000001,"stop":"command-exited",
                        "complete":true,"incomplete_because":[],"events":10}
                        """)
                .write(folder.resolve("run.parquet"));
        assertThat(Outcome.of("report", file.toString()).out())
                .contains("SIMULATED")
                .contains(" in 10.0 s on a simulated machine (8 CPUs) until the command ended\n");
    }

    @Test
    void theReportSaysHowTheCommandEnded() {
        Path file = recording().training(5, 5)
                .footer(
                        "zernel.recording",
                        """
                        {"recorder_pid":90,"host":"box","cpus":8,"command":["python3","t.py"],"started_ns":1,"ended_ns":10000000001,
                        "stop":"command-exited","complete":true,"events":10}
                        """)
                .footer("zernel.processes", "[{\"pid\":100,\"ppid\":90,\"comm\":\"python3\"},{\"pid\":101,\"ppid\":100,\"comm\":\"sh\"}]")
                .event("process", "exit", 200, null, "status = 137")
                .on(101, 101, "sh").event("process", "exit", 100, null, "status = 3")
                .write(folder.resolve("run.parquet"));
        assertThat(Outcome.of("report", file.toString()).out().replaceAll("\\s+", " "))
                .contains("until the command was killed (SIGKILL), which the kernel does when memory is full");
    }

    /// Nothing tells how much a program without steps loses of one.
    @Test
    void aReportSaysByWhatItsFindingsAreInOrder() {
        RecordingFixture fixture = recording();
        for (int i = 0; i < 60; i++) {
            fixture.sample(i * 20, "<module> (/me/infer.py:30);mkl_blas_def_dgemm_kernel_zen (libtorch_cpu.so)");
        }
        Path file = fixture.write(folder.resolve("run.parquet"));
        assertThat(Outcome.of("report", file.toString()).out()).contains("\nFindings, by severity\n 1 high   A program computes in ");
    }

    @Test
    void theMarkdownReportHasFindingsAndTables() {
        Path file = twoRanks().region("a|b", 600, 1).write(folder.resolve("run.parquet"));
        assertThat(Outcome.of("report", "--markdown", file.toString()).out())
                .containsPattern("```\n +mean step +data +compute +comm +optimizer +unknown\n  rank 0 pid 100 +50.0 ms +")
                .contains("### One rank comes late to collectives.\n\n- **low** rank 1 of 2, pid 101: 4 ms late; ")
                .contains("\n## Unknown without a GPU trace\n\n- how long the GPU is busy (pid 100): ")
                .contains("\n<details><summary>late ranks</summary>\n\n| comm_id | rank |")
                .contains("| region | a\\|b | wall | 1 |");
        assertThat(Outcome.of("report", "--markdown", "--html", file.toString()).status()).isEqualTo(2);
    }

    @Test
    void tablesOfMemoryCollectivesAndReads() {
        String file = recording().training(2, 5).gpuAlloc(0, 1, 1000, 0).gpuFree(2, 1, "1000")
                .allReduce(0, 0, 10, 1, 4000).io(3, 2, 8)
                .event("io", "read", 5, 1.0, "status = 0, bytes = 70, miss_bytes = 64, io_ns = 900, path = '/data/a'")
                .on(101, 101, "python3").allReduce(1, 0, 13, 1, 4000)
                .write(folder.resolve("run.parquet")).toString();
        assertThat(Outcome.of("memory", "--csv", file).out().lines().skip(1))
                .containsExactly("0,100,0,1,1,0,0,,2000000,1000,1800000000001000000,0,,,");
        assertThat(Outcome.of("memory", "--curve", "--csv", file).out().lines()).hasSize(61);
        assertThat(Outcome.of("nccl", "--csv", file).out().lines().skip(1)).hasSize(1).first().asString()
                .startsWith("77,,,,ncclAllReduce,sum,float32,< 64 KiB,2,2,2,0,8000,2000000,");
        assertThat(Outcome.of("nccl", "--ranks", "--csv", file).out().lines().skip(1))
                .hasSize(1).first().asString().startsWith("77,1,0,101,2,1,1,1,1.0,3000000,3000000,3000000");
        assertThat(Outcome.of("nccl", "--latest", "5", "--csv", file).out().lines()).hasSize(2);
        assertThat(Outcome.of("nccl", "--hangs", file).err()).isEqualTo("no hang was seen\n");
        assertThat(Outcome.of("io", "--csv", file).out().lines().skip(1))
                .containsExactly("0,100,training,python3,2,0,78,64,3000000,900,1500000,1990000,2000000");
        assertThat(Outcome.of("io", "--files", "--csv", file).out().lines().skip(1))
                .containsExactly("0,/data/a,1,0,1,70,64,1000000,900,0,1000000");
    }

    @Test
    void anEmptyTableSaysWhereToLook() {
        String file = recording().training(2, 5).write(folder.resolve("run.parquet")).toString();
        assertThat(Outcome.of("memory", file).err())
                .isEqualTo("nothing of this was recorded; zernel-analyze info says what was probed\n");
        assertThat(Outcome.of("memory", file).status()).isZero();
    }

    @Test
    void explainPrintsTheSqlOfAFinding() {
        assertThat(Outcome.of("findings", "--explain", "lost_events").out())
                .startsWith("lost_events: Events were lost.\n\nCounts and sums of these kinds are lower bounds")
                .contains("\nseverity    high from 1 % of the kind's events, medium from 0.1 %\n")
                .contains("\nreads       losses, files\nfrom        ")
                .contains("\nthresholds  high_share     0.01  lost share of a kind's events\n")
                .contains("\nSQL of sql/findings/lost_events.sql\n-- Events were lost.");
        assertThat(Outcome.of("findings", "--explain", "nothing").err())
                .startsWith("zernel-analyze: explaining 'nothing': no such finding or view\nhint: there are after_optimizer, allocator_churn, ");
        assertThat(Outcome.of("findings", "--list").out()).containsPattern("(?m)^lost_events +Events were lost.$");
    }

    @Test
    void infoShowsTheFooter() {
        Path file = recording().region("a", 1, 1).write(folder.resolve("run.parquet"));
        assertThat(Outcome.of("info", file.toString()).out())
                .contains("host                 box\n")
                .contains("\nKinds\nkind    state     events  why\nregion  attached       1");
        JsonNode info = new JsonMapper().readTree(Outcome.of("info", "--json", file.toString()).out());
        assertThat(info.get(0).get("zernel.recording").get("kernel").asString()).isEqualTo("6.12.0");
        assertThat(Outcome.of("info", "--table", "kinds", "--csv", file.toString()).out())
                .isEqualTo("recording,kind,state,events,why\n0,region,attached,1,\n");
        assertThat(Outcome.of("info", "--csv", file.toString()).out()).startsWith("recording,path,state,note,events,").contains(",box,6.12.0,");
        assertThat(Outcome.of("info", "--table", "probe", file.toString()).status()).isEqualTo(2);
    }

    /// Two ranks of ten steps of 50 ms; rank 1 calls each all-reduce 4 ms late, because it waits longer for data.
    private static RecordingFixture twoRanks() {
        RecordingFixture fixture = recording();
        for (int rank = 0; rank < 2; rank++) {
            fixture.on(100 + rank, 100 + rank, "python3").gpuAlloc(0, 1, 2_000_000_000, 0).torchAlloc(1, 1_500_000_000);
            for (int i = 0; i < 10; i++) {
                double at = i * 50;
                double wait = 1 + 4 * rank;
                fixture.region(RecordingFixture.NEXT, at, wait).copy("HtoD", "pageable", at + wait, 2, 20_000_000)
                        .launch("gemm", at + wait + 3, 0.02).launch("softmax", at + wait + 4, 0.01)
                        .backward(at + wait + 5, 10).allReduce(rank, i, at + wait + 8, 0.5, 25_000_000)
                        .sync(at + wait + 16, 5)
                        .event("sched", "off-cpu", at + wait + 9, 1.0, "state = 'preempted', runq_ns = 1000000")
                        .region(RecordingFixture.STEP, at + 45, 5);
            }
        }
        return fixture.event("mark", "warm", 120, null, "")
                .event("dist_wait", "c10d::ProcessGroup::barrier", 499, 1.0, "depth = 0")
                .gpuSample("utilization", 0, 30, "percent").gpuSample("utilization", 400, 50, "percent")
                .gpuSample("memory_used", 0, 3_000_000_000L, "bytes").gpuSample("memory_total", 0, 150_000_000_000L, "bytes")
                .gpuSample("power", 0, 310_000, "mW").gpuSample("temperature", 0, 55, "C")
                .gpuSample("sm_active", 400, 291_000, "ppm").gpuSample("tensor_active", 400, 54_000, "ppm")
                .gpuSample("dram_active", 400, 120_000, "ppm")
                .footer("zernel.gpus", "{\"driver\":\"570.1\",\"devices\":[{\"index\":0,\"name\":\"H200\"}]}")
                .footer(
                        "zernel.overhead",
                        """
                        {"cost_ns_per_hit":1250.4,"method":"private target","hits":4000,"counted_hits":0,
                        "cpu_ns_total":5001600,"share":0.0005,"recorder_cpu_ns":2400000000,"processes":[{"pid":100,"events":3000,"share":0.0375},
                        {"pid":101,"events":1000,"share":0.0125}]}
                        """)
                .footer(
                        "zernel.probes",
                        """
                        [{"kind":"cuda_copy","symbol":"cuMemcpy","state":"off","why":"single-stepped in a virtual machine"}]
                        """)
                .footer(
                        "zernel.processes",
                        """
                        [{"pid":100,"ppid":1,"cmdline":["python3","t.py"],"environment":{"RANK":"0","WORLD_SIZE":"2"}},
                        {"pid":101,"ppid":1,"cmdline":["python3","t.py"],"environment":{"RANK":"1","WORLD_SIZE":"2"}}]
                        """);
    }

    /// Twenty steps of 50 ms, 15 ms of them waiting for two busy workers, and one loss.
    private static RecordingFixture dataBound() {
        return recording().training(20, 15).fork(0, 200).fork(0, 201)
                .event("wait", "poll", 1, 12.0, "status = 0, object = 'pipe:[7]'").io(13, 0.5, 65536)
                .on(200, 200, "pt_data_worker").io(0, 20, 1_000_000).waiting("futex", 500, 100).io(990, 5, 1_000_000)
                .on(201, 201, "pt_data_worker").io(0, 10, 1_000_000).waiting("futex", 500, 120).io(990, 5, 1_000_000)
                .footer("zernel.losses", "{\"rings\":[],\"by_kind\":{\"wait\":3},\"total\":3}")
                .footer(
                        "zernel.kinds",
                        """
                        [{"kind":"region","state":"attached"},{"kind":"backward","state":"attached"},
                        {"kind":"io","state":"attached"},{"kind":"wait","state":"attached"},
                        {"kind":"process","state":"attached"},{"kind":"call","state":"off","why":"no --probe given"},
                        {"kind":"nccl","state":"waiting","why":"no process has loaded libnccl.so"}]
                        """)
                .footer("zernel.processes", "[{\"pid\":100,\"ppid\":1,\"cmdline\":[\"python3\",\"train.py\",\"--epochs\",\"1\"]}]");
    }
}
