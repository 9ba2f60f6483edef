package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Trainings as users write them, each with one cause that makes it slow, are recorded and diagnosed. The usual build records
/// ten whose cause costs much, and asks whether it comes first; times are not compared there. `./mvnw verify -Preal` runs all, also unrecorded, without
/// their cause, and with the advice applied; it compares what is said with the jobs' own clocks, and writes that into
/// `docs/diagnosis.md`.
///
/// `-Dreal.keep=FOLDER` keeps recordings and clocks, and does not run again what is there; `-Dreal.recordings=FOLDER` judges
/// what such a folder has and runs nothing; `-Dreal.jobs=NAME,NAME` is for some of them.
@Tag("alone")
class RealJobsIT {
    private static final boolean ALL = System.getProperty("real", "").equals("all");
    private static final String KEPT = System.getProperty("real.keep", "");
    private static final String JUDGED = System.getProperty("real.recordings", "");
    private static final List<String> NAMED =
            Arrays.stream(System.getProperty("real.jobs", "").split(",")).filter(name -> !name.isEmpty()).toList();
    private static final List<RealRun> RUNS = new ArrayList<>();

    @TempDir
    private static Path temporary = Path.of("");

    static List<RealJob> jobs() {
        return RealJob.all().stream()
                .filter(job -> NAMED.isEmpty() ? ALL || job.quick() : NAMED.contains(job.name()))
                .filter(job -> JUDGED.isEmpty() || Files.exists(Path.of(JUDGED, job.name() + ".parquet")))
                .toList();
    }

    @BeforeAll
    static void needs() throws IOException, InterruptedException {
        if (JUDGED.isEmpty()) {
            // Who asks for all of them wants no run without any.
            boolean required = ALL || "1".equals(System.getenv("ZERNEL_REQUIRE_BPF"));
            PlantedCausesIT.needs(
                    "needs a machine that can record, see zernel-record doctor", PlantedCausesIT.recorder("doctor"), required);
            PlantedCausesIT.needs(
                    "needs a Python with torch: set ZERNEL_PYTHON", List.of(PlantedCausesIT.PYTHON, "-c", "import torch"), required);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("jobs")
    void whatIsSaidOfARealJobIsTrue(RealJob job) throws IOException, InterruptedException {
        RealRun run = run(job, 1);
        if (!ALL && JUDGED.isEmpty() && !causeLeads(run)) {
            // A burst of another program may really cost more than what is planted. A second recording tells such a moment
            // from a finding that is wrong: that is wrong twice.
            run = run(job, 2);
        }
        RUNS.add(run);
        assertThat(run.skipped()).isEmpty();
        assertThat(PossibleBounds.violations(run.findings())).isEmpty();
        if (!ALL) {
            assertThat(causeLeads(run)).as(RealJobsDocument.of(List.of(run))).isTrue();
        }
    }

    /// Also on a machine where the job has to share its CPUs.
    private static boolean causeLeads(RealRun run) {
        return run.causeIsFirst() || run.job().findings().contains(PlantedCausesIT.first(run.findings()));
    }

    private static RealRun run(RealJob job, int attempt) throws IOException, InterruptedException {
        if (!JUDGED.isEmpty()) {
            return RealRun.of(job, Path.of(JUDGED));
        }
        Path folder = (KEPT.isEmpty() ? temporary : Path.of(KEPT)).resolve(attempt == 1 ? "." : "again").toAbsolutePath();
        record(folder, job, ALL ? List.of() : List.of("--recorded-only"));
        RealRun run = RealRun.of(job, folder);
        if (!ALL || run.namedWorkers().isEmpty()) {
            return run;
        }
        record(folder, job, List.of("--num-workers=" + run.namedWorkers().getAsInt()));
        return RealRun.of(job, folder);
    }

    private static void record(Path folder, RealJob job, List<String> options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(PlantedCausesIT.PYTHON, RealJob.FOLDER.resolve("record.py").toString()));
        command.addAll(List.of(folder.toString(), job.name()));
        command.addAll(options);
        command.add("--");
        command.addAll(PlantedCausesIT.recorder());
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        System.out.print(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        assertThat(process.waitFor()).as("status of '%s'", job.name()).isZero();
    }

    @AfterAll
    static void writeTheTable() throws IOException {
        if (!ALL || RUNS.isEmpty()) {
            return;
        }
        String table = RealJobsDocument.of(RUNS);
        if (RUNS.size() == RealJob.all().size()) {
            WrittenBlock.REAL_JOBS.write(table);
        } else {
            Path _ = Files.writeString(Path.of("target/real-jobs.md"), table);
        }
        System.out.println(table);
        assertThat(RealJobsDocument.bars(RUNS)).allSatisfy(bar -> assertThat(bar.holds()).as(bar::toString).isTrue());
    }
}
