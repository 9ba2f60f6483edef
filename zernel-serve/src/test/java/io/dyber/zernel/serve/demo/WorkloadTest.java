package io.dyber.zernel.serve.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WorkloadTest {
    @TempDir
    private Path folder;

    @Test
    void aPythonWithTorchTrains() throws Exception {
        Path python = python("case \"$2\" in *find_spec*) exit 0 ;; *) echo 9.9.9 ;; esac");
        Workload workload = Workload.choose(Map.of("ZERNEL_PYTHON", python.toString()), folder);
        assertThat(workload.what()).isEqualTo("a small PyTorch training");
        assertThat(workload.why()).isEqualTo("'" + python + "' has torch 9.9.9");
        assertThat(workload.command())
                .containsExactly(python.toString(), folder.resolve("demo_train.py").toString());
        assertThat(folder.resolve("demo_train.py")).content().contains("DataLoader(").contains("num_workers=2");
        assertThat(Files.getPosixFilePermissions(folder.resolve("demo_train.py")))
                .isEqualTo(PosixFilePermissions.fromString("rw-r--r--"));
    }

    @Test
    void aPythonWhoseTorchIsBrokenLeadsToTheStandIn() throws Exception {
        Path python = python("case \"$2\" in *find_spec*) exit 0 ;; *) exit 1 ;; esac");
        Workload workload = Workload.choose(Map.of("ZERNEL_PYTHON", python.toString()), folder);
        assertThat(workload.why()).isEqualTo("the Python that ZERNEL_PYTHON names does not import torch");
        assertThat(workload.options()).isEqualTo(List.of("--probe", "libz.so.1:compress2(bytes=arg4)"));
        assertThat(workload.command()).last().isEqualTo("io.dyber.zernel.serve.demo.StandInJob");
    }

    private Path python(String script) throws Exception {
        Path file = Files.writeString(folder.resolve("python3"), "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        return file;
    }
}
