package io.dyber.zernel.analyze.cli;

import static io.dyber.zernel.analyze.RecordingFixture.NEXT;
import static io.dyber.zernel.analyze.RecordingFixture.STEP;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static io.dyber.zernel.analyze.TraceFixture.trace;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.TraceFixture;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What commands say of a trace that is given beside a recording.
class GpuCommandTest {
    @TempDir
    Path folder;

    private String run = "";
    private String trace = "";

    @BeforeEach
    void writeATraining() {
        run = recording().region(NEXT, 0, 10).launch("gemm", 12, 0.1).backward(20, 10).region(STEP, 30, 5)
                .region(NEXT, 35, 10).backward(55, 10).region(STEP, 65, 5).region(NEXT, 70, 5)
                .write(folder.resolve("run.parquet")).toString();
        trace = trace(100)
                .kernel("void gemm<float, 4>(float*)", 7, -1, 0, 12)
                .kernel("void gemm<float, 4>(float*)", 7, 22, 22, 18)
                .kernel("ncclDevKernel_AllReduce(int)", 20, 30, 35, 10)
                .copy("Memcpy HtoD (Pageable -> Device)", 7, 41, 49, 1)
                .write(folder.resolve("trace.json")).toString();
    }

    @Test
    void tablesOfGpus() {
        assertThat(Outcome.of("gpu", "--csv", run, trace).out()).isEqualTo(
                """
                recording,pid,device,profiled_ns,busy_ns,compute_ns,communication_ns,exposed_communication_ns,copy_ns,\
                exposed_copy_ns,idle_ns,busy_share,exposed_communication_share,idle_share,hidden_share,in_steps
                0,100,0,50000000,35000000,30000000,10000000,5000000,1000000,1000000,14000000,0.7,0.1,0.28,0.5,false
                """);
        assertThat(Outcome.of("gpu", "--idle", "--csv", run, trace).out())
                .startsWith("recording,pid,device,cause,gaps,idle_ns,share,longest_ns,meaning\n0,100,0,dispatch,1,10000000,0.2,")
                .contains("\n0,100,0,queued,1,4000000,0.08,4000000,")
                .hasLineCount(3);
        assertThat(Outcome.of("gpu", "--kernels", run, trace).out()).contains("communication  nccl", "18.0 ms     500 us");
        assertThat(Outcome.of("gpu", "--traces", "--json", run, trace).out()).contains("\"clock\": \"time of day\"");
    }

    /// Before the first step a GPU is idle, and SMs that have work have a kernel.
    @Test
    void theDriversSamplesAreThoseOfTheTraining() {
        RecordingFixture fixture = recording().training(100, 15);
        for (int i = -10; i < 5; i++) {
            fixture.gpuSample("power", i * 1000, i < 1 ? 70_000 : 400_000, "mW")
                    .gpuSample("sm_active", i * 1000, i < 1 ? 0 : 600_000, "ppm")
                    .gpuSample("temperature", i * 1000, 40 + i, "C");
            for (int j = 0; j < 5; j++) {
                fixture.gpuSample("busy", i * 1000 + j * 200, i < 0 ? 0 : 90, "percent");
            }
        }
        String file = fixture.write(folder.resolve("sampled.parquet")).toString();
        assertThat(Outcome.of("report", "--full", "--width", "200", file).out())
                .contains("in steps after warm-up a kernel ran 90 % of the time, SMs had work 60 %, 400 W; in all of the recording at most 44 C");
    }

    @Test
    void theReportSaysWhatTheGpuDidAndWhatThatRestsOn() {
        String report = Outcome.of("report", "--width", "120", run, trace).out();
        assertThat(report)
                .contains("""
                GPU activity
                  GPU 0 of pid 100: kernels ran 70.0 % of 50.0 ms; communication 20.0 %, 10.0 % not hidden by compute; copies alone
                  2.0 %; idle 28.0 %
                  GPU 0 of pid 100 was idle for: dispatch 20.0 %, queued 8.0 %
                  GPU 0 of pid 100 ran longest: gemm<float> 60.0 % (2 x 15.0 ms), ncclDevKernel_AllReduce 20.0 % (1 x 10.0 ms), Memcpy
                  HtoD (Pageable -> Device) 2.0 % (1 x 1.00 ms)
                """)
                .doesNotContain("Unknown without a GPU trace");
        assertThat(report.replaceAll("\\s+", " ")) // where the line breaks depends on the length of the path
                .contains("4 kernels and copies; too few of its calls were recorded to compare clocks, so the time of day counts");
        assertThat(Outcome.of("report", "--html", run, trace).out())
                .contains("\"label\": \"GPU 0 of pid 100 was idle for\", \"text\": \"dispatch 20.0 %, queued 8.0 %\"");
        assertThat(Outcome.of("report", "--markdown", run, trace).out()).contains("<summary>gpu idle causes</summary>");
    }

    @Test
    void aTraceOfTheCpuAloneIsSaidToBeOne() throws URISyntaxException {
        Path real = Path.of(Objects.requireNonNull(GpuCommandTest.class.getResource("/traces/cpu_only.json")).toURI());
        String training = recording().on(10756, 10756, "python").training(3, 15).write(folder.resolve("run.parquet")).toString();
        assertThat(Outcome.of("report", "--width", "200", training, real.toString()).out()).contains(
                "no GPU activity in it: profiled without a GPU, or with activities=[CPU] only");
        Outcome table = Outcome.of("gpu", training, real.toString());
        assertThat(table.status()).isZero();
        assertThat(table.err()).contains("no trace has GPU activity; give a trace of PyTorch's profiler with the recording");
    }

    @Test
    void aReportSaysHowManyLinesOfGpusItLeavesOut() {
        TraceFixture gpus = TraceFixture.trace(100);
        for (int device = 0; device < 4; device++) {
            gpus.activity("kernel", "gemm", device, 7, 1, 5).activity("kernel", "gemm", device, 7, 8, 5);
        }
        String file = gpus.write(folder.resolve("gpus.json")).toString();
        // Three of each GPU, and one of the file.
        assertThat(Outcome.of("report", file).out()).contains("GPU 2 of pid", "\n  and 5 lines more: --full\n").doesNotContain("GPU 3 of");
        assertThat(Outcome.of("report", "--full", file).out()).contains("GPU 3 of pid").doesNotContain(" lines more: ");
    }

    @Test
    void aDamagedTraceGivesWhatItHasAndSaysSo() throws IOException {
        String text = Files.readString(Path.of(trace));
        Files.writeString(Path.of(trace), text.substring(0, text.length() - 40));
        assertThat(Outcome.of("gpu", "--traces", "--csv", run, trace).out()).contains("the file is damaged after 8 events: ");
        assertThat(Outcome.of("report", "--width", "200", trace).out()).contains("INCOMPLETE", "damaged after 8 events: ");
    }

    @Test
    void aTraceThatIsDamagedBeforeItsGpuActivityIsNotSaidToBeWithout() throws IOException {
        String text = Files.readString(Path.of(trace));
        Files.writeString(Path.of(trace), text.substring(0, text.indexOf("\"kernel\"")));
        assertThat(Outcome.of("report", "--width", "200", trace).out())
                .contains("no GPU activity in it; 1 events were skipped: the file is damaged after ")
                .doesNotContain("profiled without a GPU");
    }
}
