package io.dyber.zernel.record.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Which program a command runs, told from files alone.
class CommandPathTest {
    private static final Path SHELL = Path.of("/bin/sh");

    @TempDir
    private Path directory = Path.of("");

    private CommandPath path = CommandPath.of("");
    private Path python = Path.of("");

    @BeforeEach
    void aPythonIsInThePath() throws IOException {
        python = executable("bin/python3", "\177ELF and so on\0");
        path = CommandPath.of("/nowhere:" + directory.resolve("bin"));
    }

    private Path executable(String name, String content) throws IOException {
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        Files.write(file, content.getBytes(StandardCharsets.ISO_8859_1));
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Path script(String firstLine) throws IOException {
        return executable("script", firstLine + "\nimport sys\n");
    }

    @Test
    void aNameIsLookedForInTheFoldersOfThePath() {
        assertThat(path.find("python3")).contains(python);
        assertThat(path.find("python4")).isEmpty();
    }

    @Test
    void aNameWithASlashIsAPath() {
        assertThat(path.find(python.toString())).contains(python);
        assertThat(path.find(directory.resolve("python3").toString())).isEmpty();
    }

    @Test
    void foldersAndWhatIsNotExecutableAreNoCommands() throws IOException {
        Files.createDirectories(directory.resolve("bin/folder"));
        Files.writeString(directory.resolve("bin/text"), "text");
        assertThat(path.find("folder")).isEmpty();
        assertThat(path.find("text")).isEmpty();
    }

    @Test
    void anEmptyPathIsTheWorkingFolder() {
        assertThat(CommandPath.of("").folders()).containsExactly(Path.of(""));
    }

    @Test
    void aProgramRunsItself() {
        assertThat(path.program(python)).contains(python);
    }

    @Test
    void aLinkToAProgramIsNotFollowed() throws IOException {
        Path link = Files.createSymbolicLink(directory.resolve("bin/python"), python);
        assertThat(path.program(script("#!" + link))).contains(link);
    }

    @ParameterizedTest
    @ValueSource(strings = {"#!%s", "#! %s", "#!\t%s  ", "#!%s -u", "#! %s -u -X dev"})
    void ofAScriptTheInterpreterRuns(String line) throws IOException {
        assertThat(path.program(script(line.formatted(python)))).contains(python);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "#!/usr/bin/env python3",
        "#! /usr/bin/env  python3 ",
        "#!/usr/bin/env -S python3 -u",
        "#!/usr/bin/env -Spython3 -u",
        "#!/usr/bin/env -vS python3",
        "#!/usr/bin/env --split-string=python3 -u",
        "#!/usr/bin/env -S -i LANG=C OMP_NUM_THREADS=1 python3 -u",
        "#!/usr/bin/env -S -u LANG -C /tmp -- python3"
    })
    void envLooksForTheInterpreterInThePath(String line) throws IOException {
        assertThat(path.program(script(line))).contains(python);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "#!/usr/bin/env python3 -u", "#!/usr/bin/env python4", "#!/usr/bin/env -i", "#!/usr/bin/env -S", "#!/no/such/interpreter"
    })
    void whatWouldNotRunIsNothing(String line) throws IOException {
        assertThat(path.program(script(line))).isEmpty();
    }

    @Test
    void theInterpreterMayBeAScriptItself() throws IOException {
        Path first = executable("first", "#!" + python);
        Path second = executable("second", "#!" + first);
        assertThat(path.program(script("#!" + second))).contains(python);
    }

    @Test
    void aScriptThatIsItsOwnInterpreterIsNothing() throws IOException {
        assertThat(path.program(script("#!" + directory.resolve("script")))).isEmpty();
    }

    @Test
    void aTextThatNamesNoInterpreterIsRunByTheShell() throws IOException {
        assertThat(path.program(script("echo hello"))).contains(SHELL);
        assertThat(path.program(script(""))).contains(SHELL);
        assertThat(path.program(script("#!"))).contains(SHELL);
    }

    @Test
    void anUnknownBinaryIsNothing() throws IOException {
        assertThat(path.program(executable("class", "\312\376\272\276\0\0\0"))).isEmpty();
        assertThat(path.program(directory)).isEmpty();
        assertThat(path.program(directory.resolve("nothing"))).isEmpty();
    }
}
