package io.dyber.zernel.record.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.elf.Gcc;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MappedFilesTest {
    private static final String LOADER = """
            #include <dlfcn.h>
            #include <stdio.h>
            int main(void) {
                char line[4096];
                puts("up"); fflush(stdout);
                while (scanf(" %4095[^\\n]", line) == 1) {
                    puts(dlopen(line, RTLD_NOW) ? "loaded" : dlerror()); fflush(stdout);
                }
                return 0;
            }
            """;

    @TempDir
    private Path folder;

    private final MappedFiles files = new MappedFiles();
    private Process process;
    private BufferedReader output;

    @BeforeEach
    void startLoader() throws Exception {
        Path loader = Gcc.compile(folder, "loader", LOADER, "-ldl");
        process = new ProcessBuilder(loader.toString()).start();
        output = process.inputReader();
        assertThat(output.readLine()).isEqualTo("up");
    }

    @AfterEach
    void stopLoader() {
        if (process != null) {
            process.destroyForcibly();
        }
    }

    private int pid() {
        return (int) process.pid();
    }

    private void load(Path library) throws Exception {
        process.outputWriter().append(library + "\n").flush();
        assertThat(output.readLine()).isEqualTo("loaded");
    }

    private Path library(String name) throws Exception {
        return Gcc.compile(folder, name, "int mine(void) { return 1; }", "-shared", "-fPIC");
    }

    /// Looks until there is nothing new: twice the whole list, then nothing.
    private void settle() {
        files.changed(pid());
        files.changed(pid());
        assertThat(files.changed(pid())).isEmpty();
    }

    private MappedFile named(List<MappedFile> found, String name) {
        return found.stream().filter(file -> file.path().endsWith("/" + name)).findFirst().orElseThrow();
    }

    @Test
    void programAndItsLibrariesAreFoundOnce() {
        List<MappedFile> found = files.of(pid());
        assertThat(named(found, "loader").program()).isTrue();
        assertThat(found).filteredOn(file -> file.path().contains("libc")).hasSize(1);
        assertThat(found).extracting(MappedFile::identity).doesNotHaveDuplicates();
        assertThat(named(found, "loader").opened()).isEqualTo(folder.resolve("loader"));
    }

    @Test
    void libraryLoadedLaterIsFoundByTheNextLook() throws Exception {
        settle();
        load(library("libmine two.so"));
        assertThat(named(files.changed(pid()), "libmine two.so").program()).isFalse();
        settle();
    }

    @Test
    void listIsReadAgainOnceAsItsCodeMayComeAfterItsSize() {
        assertThat(files.changed(pid())).isNotEmpty();
        assertThat(files.changed(pid())).isNotEmpty();
        assertThat(files.changed(pid())).isEmpty();
    }

    @Test
    void replacedLibraryCanStillBeOpened() throws Exception {
        Path library = library("libold.so");
        load(library);
        Path replacement = library("libnew.so");
        Files.move(replacement, library, StandardCopyOption.REPLACE_EXISTING);

        MappedFile old = named(files.of(pid()), "libold.so");
        assertThat(old.deleted()).isTrue();
        assertThat(old.isGone()).isFalse();
        assertThat(old.opened().toString()).startsWith("/proc/" + pid() + "/map_files/");
        if (Files.isReadable(old.opened())) { // needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE
            try (ElfFile elf = ElfFile.open(old.opened())) {
                assertThat(elf.find("mine").symbols()).hasSize(1);
            }
        }
        process.destroyForcibly().waitFor();
        assertThat(old.isGone()).isTrue();
    }

    @Test
    void fileThatNobodyMapsHasTheIdentityItWillHave() throws Exception {
        Path library = library("libahead.so");
        MappedFile ahead = MappedFiles.at(library, false).orElseThrow();
        load(library);
        assertThat(named(files.of(pid()), "libahead.so")).isEqualTo(ahead);
        assertThat(MappedFiles.at(folder.resolve("gone.so"), false)).isEmpty();
    }

    @Test
    void endedProcessMapsNothing() throws Exception {
        assertThat(files.changed(pid())).isNotEmpty();
        process.destroyForcibly().waitFor();
        assertThat(files.changed(pid())).isEmpty();
        assertThat(files.of(pid())).isEmpty();
    }

    @Test
    void factsOfTheProcessAreRead() {
        ProcessFacts facts = ProcessFacts.of(pid()).orElseThrow();
        assertThat(facts.comm()).isEqualTo("loader");
        assertThat(facts.parent()).isEqualTo((int) ProcessHandle.current().pid());
        assertThat(facts.exe()).isEqualTo(folder.resolve("loader").toString());
        assertThat(facts.commandLine()).containsExactly(folder.resolve("loader").toString());
        assertThat(facts.started()).isBetween(
                process.info().startInstant().orElseThrow().minusSeconds(2),
                process.info().startInstant().orElseThrow().plusSeconds(2));
        assertThat(ProcessFacts.descendantsOf(facts.parent())).contains(pid());
        assertThat(ProcessFacts.everyPid()).contains(pid(), facts.parent());
    }

    @Test
    void endedProcessHasNoFacts() throws Exception {
        process.destroyForcibly().waitFor();
        assertThat(ProcessFacts.of(pid())).isEmpty();
    }

    @Test
    void oddNameIsReadWhole() throws Exception {
        Path odd = Files.copy(folder.resolve("loader"), folder.resolve("a) S 1 (b"));
        Process named = new ProcessBuilder(odd.toString()).start();
        try {
            assertThat(named.inputReader().readLine()).isEqualTo("up");
            ProcessFacts facts = ProcessFacts.of((int) named.pid()).orElseThrow();
            assertThat(facts.comm()).isEqualTo("a) S 1 (b");
            assertThat(facts.parent()).isEqualTo((int) ProcessHandle.current().pid());
        } finally {
            named.destroyForcibly();
        }
    }
}
