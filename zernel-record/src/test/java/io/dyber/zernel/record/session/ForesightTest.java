package io.dyber.zernel.record.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.dyber.zernel.record.attach.LibrarySelectors;
import io.dyber.zernel.record.elf.Gcc;
import io.dyber.zernel.record.process.FileTree;
import io.dyber.zernel.record.process.MappedFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// In a file tree of its own, so that what this machine has installed does not matter.
final class ForesightTest {
    private static final LibrarySelectors WANTED = new LibrarySelectors(List.of("libfast.so.1", "exe"));

    @TempDir
    private Path root;

    private Path library = Path.of("");

    @BeforeEach
    void compile() throws Exception {
        library = Gcc.compile(root, "library", "int fast(void) { return 1; }", "-shared", "-Wl,-soname,libfast.so.1");
    }

    private void place(String path) throws IOException {
        Path file = root.resolve(path.substring(1));
        Files.createDirectories(file.getParent());
        Files.copy(library, file);
    }

    private void link(String path, String target) throws IOException {
        Path file = root.resolve(path.substring(1));
        Files.createDirectories(file.getParent());
        Files.createSymbolicLink(file, Path.of(target));
    }

    private void write(String path, String text) throws IOException {
        Path file = root.resolve(path.substring(1));
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private List<String> foreseen(Map<String, String> environment, String... words) {
        return Foresight.ofCommand(new FileTree(root), List.of(words), environment, "/srv", WANTED).stream()
                .filter(file -> !file.program())
                .map(MappedFile::path)
                .toList();
    }

    @Test
    void aLibraryInADefaultFolder() throws Exception {
        place("/usr/lib/libfast.so.1.2");
        place("/usr/lib/libslow.so.1");
        Files.delete(root.resolve("usr/lib/libslow.so.1"));
        assertThat(foreseen(Map.of())).containsExactly("/usr/lib/libfast.so.1.2");
    }

    @Test
    void aLibraryByTheNameOfALinkToIt() throws Exception {
        place("/opt/driver/libfast-580.04");
        link("/usr/lib/libfast.so.1", "/opt/driver/libfast-580.04");
        assertThat(foreseen(Map.of())).containsExactly("/opt/driver/libfast-580.04");
    }

    @Test
    void aLibraryInTheLibraryPathAlsoByItsSoname() throws Exception {
        place("/opt/a/libfast.so.1");
        place("/srv/b/renamed.so");
        assertThat(foreseen(Map.of("LD_LIBRARY_PATH", "/opt/a:b:/missing")))
                .containsExactly("/opt/a/libfast.so.1", "/srv/b/renamed.so");
    }

    @Test
    void stubsForLinkingAreNotLoaded() throws Exception {
        place("/usr/local/cuda/lib64/stubs/libfast.so");
        place("/opt/driver/libfast.so.1");
        assertThat(foreseen(Map.of("LD_LIBRARY_PATH", "/usr/local/cuda/lib64/stubs:/opt/driver")))
                .containsExactly("/opt/driver/libfast.so.1");
    }

    @Test
    void aLibraryThatIsLoadedBeforeAllOthers() throws Exception {
        place("/opt/a/renamed.so");
        assertThat(foreseen(Map.of("LD_PRELOAD", "/opt/a/renamed.so"))).containsExactly("/opt/a/renamed.so");
    }

    @Test
    void aLibraryBesideTheProgramByItsRunpath() throws Exception {
        place("/opt/job/lib/libfast.so.1");
        Files.createDirectories(root.resolve("opt/job/bin"));
        Gcc.compile(root.resolve("opt/job/bin"), "job", "int main(void) { return 0; }", "-Wl,-rpath,$ORIGIN/../lib");
        assertThat(foreseen(Map.of(), "/opt/job/bin/job")).containsExactly("/opt/job/lib/libfast.so.1");
        assertThat(foreseen(Map.of("PATH", "/opt/job/bin"), "env", "job")).containsExactly("/opt/job/lib/libfast.so.1");
        assertThat(foreseen(Map.of(), "../opt/job/bin/job")).containsExactly("/opt/job/lib/libfast.so.1");
    }

    @Test
    void aLibraryThatANeededLibraryNeeds() throws Exception {
        place("/opt/far/libfast.so.1");
        Path middle = Files.createDirectories(root.resolve("opt/middle"));
        Gcc.compile(middle, "libmiddle.so", "int middle(void) { return 2; }", "-shared", "-fPIC", "-Wl,-rpath,/opt/far");
        Gcc.compile(middle, "job", "int middle(void); int main(void) { return middle(); }", "-L" + middle, "-lmiddle",
                "-Wl,-rpath,/opt/middle");
        assertThat(foreseen(Map.of(), "/opt/middle/job")).containsExactly("/opt/far/libfast.so.1");
    }

    @Test
    void librariesOfThePackagesOfAVirtualEnvironmentAndOfThePythonItWasMadeFrom() throws Exception {
        write("/usr/bin/python3.12", "");
        link("/venv/bin/python3", "/usr/bin/python3.12");
        write("/venv/pyvenv.cfg", "home = /opt/python/bin\nversion = 3.12.1\n");
        place("/venv/lib/python3.12/site-packages/torch/lib/libfast-1a2b3c4d.so.1");
        place("/venv/lib/python3.12/site-packages/nvidia/cu13/lib/libfast.so.1");
        place("/opt/python/lib/python3.12/site-packages/fast.libs/libfast.so.1");
        place("/usr/lib/python3/dist-packages/fast/lib/libfast.so.1");
        assertThat(foreseen(Map.of(), "/venv/bin/python3", "train.py"))
                .containsExactlyInAnyOrder(
                        "/venv/lib/python3.12/site-packages/torch/lib/libfast-1a2b3c4d.so.1",
                        "/venv/lib/python3.12/site-packages/nvidia/cu13/lib/libfast.so.1",
                        "/opt/python/lib/python3.12/site-packages/fast.libs/libfast.so.1",
                        "/usr/lib/python3/dist-packages/fast/lib/libfast.so.1");
    }

    @Test
    void librariesInFoldersThatPathFilesOfPackagesName() throws Exception {
        write("/venv/bin/python3", "");
        write("/venv/lib/python3.12/site-packages/shared.pth", "# of all projects\nimport os; os.getcwd()\n/srv/packages\n../more\n");
        place("/srv/packages/torch/lib/libfast.so.1");
        place("/venv/lib/python3.12/more/fast/lib/libfast.so.1");
        assertThat(foreseen(Map.of(), "/venv/bin/python3", "train.py"))
                .containsExactlyInAnyOrder("/srv/packages/torch/lib/libfast.so.1", "/venv/lib/python3.12/more/fast/lib/libfast.so.1");
    }

    @Test
    void librariesOfThePythonThatRunsAScript() throws Exception {
        write("/venv/bin/python3", "");
        place("/venv/lib/python3.11/site-packages/torch/lib/libfast.so.1");
        write("/usr/local/bin/torchrun", "#!/venv/bin/python3\nimport torch\n");
        write("/usr/bin/env", "");
        write("/srv/train", "#!/usr/bin/env -S python3 -u\n");
        assertThat(foreseen(Map.of("PATH", "/usr/local/bin"), "torchrun"))
                .containsExactly("/venv/lib/python3.11/site-packages/torch/lib/libfast.so.1");
        assertThat(foreseen(Map.of("PATH", "/venv/bin"), "./train"))
                .containsExactly("/venv/lib/python3.11/site-packages/torch/lib/libfast.so.1");
    }

    @Test
    void librariesOfTheEnvironmentThatAScriptRunsIn() throws Exception {
        place("/home/ada/env/lib/python3.11/site-packages/torch/lib/libfast.so.1");
        write("/home/ada/env/bin/activate", "");
        write("/srv/train.sh", "#!/bin/sh\nset -e\n. \"$HOME/env/bin/activate\" && python train.py\n");
        List<String> all = List.of("/home/ada/env/lib/python3.11/site-packages/torch/lib/libfast.so.1");
        assertThat(foreseen(Map.of("HOME", "/home/ada"), "./train.sh")).isEqualTo(all);
        assertThat(foreseen(Map.of("HOME", "/home/ada"), "bash", "train.sh")).isEqualTo(all);
        assertThat(foreseen(Map.of("HOME", "/home/ada"), "sh", "-c", "source ~/env/bin/activate; exec python train.py")).isEqualTo(all);
        assertThat(foreseen(Map.of("HOME", "/home/bob"), "./train.sh")).isEmpty();
    }

    /// To open it for reading waits until somebody writes.
    @Test
    @Timeout(60)
    void aWordThatIsAPipeIsNotRead() throws Exception {
        Files.createDirectories(root.resolve("srv"));
        Process made = new ProcessBuilder("mkfifo", root.resolve("srv/batches").toString()).start();
        assertThat(made.waitFor()).isZero();
        assertThat(foreseen(Map.of(), "cat", "batches")).isEmpty();
    }

    @Test
    void librariesOfTheEnvironmentOfTheFolder() throws Exception {
        place("/srv/.venv/lib/python3.11/site-packages/torch/lib/libfast.so.1");
        write("/srv/.venv/bin/python", "");
        assertThat(foreseen(Map.of(), "uv", "run", "train.py"))
                .containsExactly("/srv/.venv/lib/python3.11/site-packages/torch/lib/libfast.so.1");
    }

    @Test
    void librariesOfTheUsersOwnPackages() throws Exception {
        place("/home/ada/.local/lib/python3.11/site-packages/torch/lib/libfast.so.1");
        place("/data/packages/fast/lib/libfast.so.1");
        assertThat(foreseen(Map.of("HOME", "/home/ada", "PYTHONPATH", "/data/packages")))
                .containsExactlyInAnyOrder(
                        "/home/ada/.local/lib/python3.11/site-packages/torch/lib/libfast.so.1",
                        "/data/packages/fast/lib/libfast.so.1");
    }

    @Test
    void linksThatGoInCirclesAndFilesThatAreNoneEndTheSearch() throws Exception {
        link("/usr/lib/libfast.so.1", "libfast.so.1");
        link("/opt/a", "/opt/a");
        Files.createDirectories(root.resolve("opt/libfast.so.1"));
        write("/opt/b/libfast.so.1", "not a library");
        assertThat(foreseen(Map.of("LD_LIBRARY_PATH", "/opt:/opt/a:/opt/b"))).containsExactly("/opt/b/libfast.so.1");
    }

    @Test
    void programsAreAmongTheFilesAndScriptsAreNot() throws Exception {
        Files.createDirectories(root.resolve("usr/bin"));
        Gcc.compile(root.resolve("usr/bin"), "job", "int main(void) { return 0; }");
        write("/usr/bin/script", "no program");
        assertThat(Foresight.ofCommand(
                        new FileTree(root), List.of("/usr/bin/script", "/usr/bin/job"), Map.of(), "/", WANTED))
                .extracting(MappedFile::path, MappedFile::program)
                .containsExactly(tuple("/usr/bin/job", true));
    }
}
