package io.dyber.zernel.serve.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.Commands;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/// The notebooks run from top to bottom, as `jupyter nbconvert --execute` does. Needs a Python with Jupyter's kernel, which
/// `.ci/run` makes.
@Timeout(300)
final class NotebookIT {
    private static final String MODULES = "duckdb, pandas, matplotlib, nbclient, ipykernel";
    private static final String PYTHON = System.getenv().getOrDefault("ZERNEL_PYTHON", "python3");
    private static final Path PROGRAMS = Path.of("target/programs").toAbsolutePath();

    @TempDir
    private Path folder = Path.of("");

    @BeforeAll
    static void needs() throws InterruptedException {
        if (Commands.succeeds(PYTHON, "-c", "import " + MODULES)) {
            return;
        }
        String need = "needs a Python with " + MODULES + ": set ZERNEL_PYTHON";
        if ("1".equals(System.getenv("ZERNEL_REQUIRE_BPF"))) {
            throw new AssertionError(need);
        }
        System.out.println("skipped: " + need);
        Assumptions.abort(need);
    }

    @Test
    void thePythonNotebooksRunAndDraw() throws Exception {
        assertThat(run("1-first-look", "2-step-time", "3-stragglers", "4-memory-growth"))
                .contains("1-first-look.ipynb: 1 pictures")
                .contains("2-step-time.ipynb: 1 pictures")
                .contains("3-stragglers.ipynb: 2 pictures")
                .contains("4-memory-growth.ipynb: 1 pictures");
    }

    @Test
    void theJavaNotebookRunsWithOurLibrary() throws Exception {
        // The kernel takes the path from the folder of its jar.
        Path repository = PROGRAMS.relativize(MavenRepository.filled());
        Path kernel = Files.createDirectories(folder.resolve("jupyter/kernels/rapaio-jupyter-kernel"));
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "--add-opens=java.base/java.nio=ALL-UNNAMED",
                "-jar",
                PROGRAMS.resolve("rapaio-jupyter-kernel.jar").toString(),
                "{connection_file}");
        JsonMapper.shared().writeValue(kernel.resolve("kernel.json"), Map.of(
                "display_name", "Java",
                "language", "java",
                "interrupt_mode", "message",
                "argv", command,
                "env", Map.of("RJK_MIMA_CACHE", repository.toString())));
        assertThat(run("5-java")).contains("raining waits for data").contains("5-java.ipynb: 1 pictures");
    }

    private String run(String... notebooks) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(PYTHON, "src/test/workloads/run_notebook.py"));
        Arrays.stream(notebooks)
                .map(name -> Path.of("../notebooks", name + ".ipynb").toAbsolutePath().normalize().toString())
                .forEach(command::add);
        Path err = folder.resolve("err");
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(err.toFile());
        builder.environment().put("JUPYTER_PATH", folder.resolve("jupyter").toString());
        builder.environment().put("MPLCONFIGDIR", folder.toString());
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(() -> output + "\n" + text(err)).isZero();
        return output;
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
