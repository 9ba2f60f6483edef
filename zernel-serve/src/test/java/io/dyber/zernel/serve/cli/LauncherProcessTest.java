package io.dyber.zernel.serve.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LauncherProcessTest {
    @TempDir
    private Path home;

    @Test
    void argumentsAndExitCodePassThrough() throws Exception {
        Path answer = home.resolve("answer");
        launcher("zernel-record", "printf '%s|' \"$@\" > '" + answer + "'; exit 3");
        LauncherProcess recorder = LauncherProcess.find("zernel-record", home.toString(), null);
        assertThat(recorder.run(List.of("-o", "my run.parquet", "--", "sh", "-c", "echo $HOME"))).isEqualTo(3);
        assertThat(answer).hasContent("-o|my run.parquet|--|sh|-c|echo $HOME|");
    }

    @Test
    void theSystemPropertyComesBeforeTheVariable() throws Exception {
        launcher("zernel-record", "exit 0");
        assertThat(LauncherProcess.find("zernel-record", home.toString(), "/nowhere").run(List.of())).isZero();
        assertThat(LauncherProcess.find("zernel-record", null, home.toString()).run(List.of())).isZero();
    }

    @Test
    void aMissingLauncherSaysWhereItWasSought() {
        assertThatThrownBy(() -> LauncherProcess.find("zernel-no-such", home.toString(), null))
                .isInstanceOf(Failure.class)
                .hasMessage("looking for 'zernel-no-such': not in " + home + "/bin");
    }

    private void launcher(String name, String script) throws Exception {
        Path bin = Files.createDirectories(home.resolve("bin"));
        Path file = Files.writeString(bin.resolve(name), "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
