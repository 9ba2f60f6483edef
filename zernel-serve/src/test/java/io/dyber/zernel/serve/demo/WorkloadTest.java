package io.dyber.zernel.serve.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WorkloadTest {
    private static final String TRAINS = "case \"$2\" in *find_spec*) exit 0 ;; *) echo 9.9.9 ;; esac";
    private static final String BROKEN = "case \"$2\" in *find_spec*) exit 0 ;; *) exit 1 ;; esac";

    @TempDir
    private Path folder;

    @Test
    void aPythonWithTorchTrains() throws Exception {
        Path python = python(TRAINS);
        Workload workload = choose(python);
        assertThat(workload.what()).isEqualTo("a small PyTorch training");
        assertThat(workload.why()).isEqualTo("'" + python + "' has torch 9.9.9");
        assertThat(workload.options()).isEmpty();
        assertThat(workload.command())
                .containsExactly(python.toString(), folder.resolve("demo_train.py").toString());
        assertThat(folder.resolve("demo_train.py")).content().contains("DataLoader(").contains("num_workers=options.workers");
        assertThat(Files.getPosixFilePermissions(folder.resolve("demo_train.py")))
                .isEqualTo(PosixFilePermissions.fromString("rw-r--r--"));
    }

    @Test
    void aPythonWhoseTorchIsBrokenLeadsToTheProgram() throws Exception {
        Workload workload = choose(python(BROKEN));
        assertThat(workload.why()).isEqualTo("the Python that ZERNEL_PYTHON names does not import torch");
        assertThat(workload.options()).containsExactly(
                "--probe", "zernel-demo-job:next_batch(role=data_wait)",
                "--probe", "zernel-demo-job:forward_backward(role=compute)",
                "--probe", "zernel-demo-job:wait_for_device(role=sync)",
                "--probe", "zernel-demo-job:optimizer_step(role=optimizer)");
        assertThat(workload.command()).containsExactly(folder.resolve("zernel-demo-job").toString());
        assertThat(folder.resolve("zernel-demo-job")).isExecutable();
    }

    @Test
    void aTrainingWithTooFewWorkersGetsAsManyAsTheAdviceSays() throws Exception {
        Workload workload = choose(python(TRAINS));
        Workload.Remedy remedy = workload.remedy("too_few_workers", "DataLoader(num_workers=5, persistent_workers=True)")
                .orElseThrow();
        assertThat(remedy.what()).isEqualTo("DataLoader(num_workers=5)");
        assertThat(remedy.job().command()).startsWith(workload.command().toArray(String[]::new)).endsWith("--workers", "5");
    }

    @Test
    void aProgramThatWaitsForDataFetchesAhead() throws Exception {
        Workload.Remedy remedy = choose(python(BROKEN)).remedy("data_bound", "fetch the next batch in a thread").orElseThrow();
        assertThat(remedy.what()).isEqualTo("each batch is fetched while the one before is computed");
        assertThat(remedy.job().command()).containsExactly(folder.resolve("zernel-demo-job").toString(), "prefetch");
        assertThat(remedy.job().options()).hasSize(8);
    }

    @Test
    void whatIsNotAboutDataHasNoRemedy() throws Exception {
        assertThat(choose(python(BROKEN)).remedy("cpu_preempted", "keep the two apart")).isEmpty();
    }

    private Workload choose(Path python) throws Exception {
        return Workload.choose(Map.of("ZERNEL_PYTHON", python.toString()), folder);
    }

    private Path python(String script) throws Exception {
        Path file = Files.writeString(folder.resolve("python3"), "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        return file;
    }
}
