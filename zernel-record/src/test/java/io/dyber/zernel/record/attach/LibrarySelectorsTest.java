package io.dyber.zernel.record.attach;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.elf.Gcc;
import io.dyber.zernel.record.process.MappedFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LibrarySelectorsTest {
    @TempDir
    private Path folder;

    private final LibrarySelectors selectors =
            new LibrarySelectors(List.of("libcuda.so.1", "libcuda*.so*", "exe", "libcuda.so.1", "libother.so"));

    private MappedFile driver(String identity) throws Exception {
        Path file = Gcc.compile(
                folder, "libcuda.so.580.159.04", "int x;", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1");
        return new MappedFile(identity, file.toString(), file, false, false);
    }

    @Test
    void aFileIsMeantByItsNameAndByItsSoname() throws Exception {
        assertThat(selectors.of(driver("8:1"))).containsExactlyInAnyOrder("libcuda.so.1", "libcuda*.so*");
        assertThat(selectors.mean("/lib/libother.so.3", folder.resolve("none"))).isTrue();
        assertThat(selectors.mean("/lib/libthird.so.3", folder.resolve("none"))).isFalse();
    }

    @Test
    void aFileIsLookedIntoOnceAndAnotherWithItsNumberAgain() throws Exception {
        MappedFile file = driver("8:1");
        assertThat(selectors.of(file)).contains("libcuda.so.1");
        Files.writeString(file.opened(), "not a library");
        assertThat(selectors.of(file)).contains("libcuda.so.1");
        Path text = Files.writeString(folder.resolve("notes"), "not a library");
        assertThat(selectors.of(new MappedFile("8:1", text.toString(), text, false, false))).isEmpty();
    }
}
