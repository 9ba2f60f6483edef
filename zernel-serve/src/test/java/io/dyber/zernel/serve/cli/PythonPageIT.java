package io.dyber.zernel.serve.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.cli.Analyze;
import io.dyber.zernel.record.cli.Record;
import io.dyber.zernel.serve.Commands;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The code of docs/python.md, one block after the other, on a simulated recording. Needs a Python with its libraries, which
/// `.ci/run` makes.
@Timeout(120)
final class PythonPageIT {
    private static final String MODULES = "duckdb, pandas, polars, pyarrow";
    private static final String PYTHON = System.getenv().getOrDefault("ZERNEL_PYTHON", "python3");
    private static final Pattern BLOCK = Pattern.compile("```python\n(.*?)```", Pattern.DOTALL);

    @TempDir
    private Path folder;

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
    void everyBlockRunsAndTypesAreWhatThePageSays() throws Exception {
        assertThat(Record.commandLine().setErr(new PrintWriter(new StringWriter())).execute(
                        "--simulate=data-bound-cpu", "--steps", "30", "-o", folder.resolve("run.parquet").toString()))
                .isZero();
        Path command = Files.writeString(folder.resolve("zernel-analyze"), "#!/bin/sh\nexec '"
                + Path.of(System.getProperty("java.home"), "bin", "java") + "' -XX:TieredStopAtLevel=1 --enable-native-access=ALL-UNNAMED"
                + " --add-opens=java.base/java.nio=ALL-UNNAMED -cp '" + System.getProperty("java.class.path") + "' "
                + Analyze.class.getName() + " \"$@\"\n");
        assertThat(command.toFile().setExecutable(true)).isTrue();
        String page = Files.readString(Path.of("../docs/python.md"));
        String code = BLOCK.matcher(page).results().map(block -> block.group(1)).collect(Collectors.joining("\n"));
        ProcessBuilder builder = new ProcessBuilder(PYTHON, "-c", code).directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().merge("PATH", folder.toString(), (path, first) -> first + ":" + path);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        assertThat(output)
                .contains("too_few_workers")
                .containsPattern("bytes +Int64")
                .contains("datetime64[ns, UTC]")
                .contains("('bytes', Int64)")
                .contains("Datetime(time_unit='ns', time_zone='UTC')")
                .endsWith("how long it took; NULL for an instant or an unseen end\n");
    }
}
