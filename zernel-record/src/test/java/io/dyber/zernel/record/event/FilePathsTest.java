package io.dyber.zernel.record.event;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.schema.FileRecord;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Which text a key stands for, with file records written by hand.
final class FilePathsTest {
    private static final FileRecord LAYOUT = new FileRecord(48, 64, 72, 76, 78, 80, 88);
    private static final long INODE = 1L << 61;
    private static final int REGULAR = 0x8000;
    private static final int SOCKET = 0xc000;
    private static final int PIPE = 0x1000;
    private static final int DEVICE = 254 << 20 | 3;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment record = arena.allocate(1024, 8);
    private final StringDictionary texts = new StringDictionary();
    private final FilePaths files = new FilePaths(texts);
    private final List<String> asked = new ArrayList<>();

    FilePathsTest() {
        files.readAs(LAYOUT, (pid, device, inode) -> {
            asked.add(pid + " " + (device >>> 20) + ":" + (device & 0xfffff) + " " + inode);
            return inode == 7 ? Optional.of("/data/mapped") : Optional.empty();
        });
    }

    @AfterEach
    void free() {
        arena.close();
    }

    private void learn(long file, long id, int form, int mode, long inode, String names) {
        byte[] bytes = names.getBytes(StandardCharsets.UTF_8);
        record.fill((byte) 0);
        record.set(JAVA_LONG_UNALIGNED, LAYOUT.file(), file);
        record.set(JAVA_LONG_UNALIGNED, LAYOUT.file() + 8, id);
        record.set(JAVA_LONG_UNALIGNED, LAYOUT.inode(), inode);
        record.set(JAVA_INT_UNALIGNED, LAYOUT.device(), DEVICE);
        record.set(JAVA_SHORT_UNALIGNED, LAYOUT.mode(), (short) mode);
        record.set(JAVA_SHORT_UNALIGNED, LAYOUT.form(), (short) form);
        record.set(JAVA_INT_UNALIGNED, LAYOUT.length(), bytes.length);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, record, LAYOUT.names(), bytes.length);
        files.learn(record.asByteBuffer().order(ByteOrder.nativeOrder()), 0);
    }

    private String text(long file, long id) {
        int text = files.text(100, file, id);
        return text < 0 ? "-" : texts.text(text);
    }

    @Test
    void aPathIsItsNamesFromTheRoot() {
        learn(-1, 2, FileRecord.PATH, REGULAR, 5, "a.bin\0sets\0data\0");
        learn(-1, 3, FileRecord.PATH, REGULAR, 6, "");
        learn(-2, 2, FileRecord.CUT, REGULAR, 5, "a.bin\0sets\0");
        assertThat(text(-1, 2)).isEqualTo("/data/sets/a.bin");
        assertThat(text(-1, 3)).isEqualTo("/");
        assertThat(text(-2, 2)).isEqualTo(".../sets/a.bin");
        assertThat(text(-3, 2)).isEqualTo("-");
    }

    @Test
    void aPipeWithANameIsAPipe() {
        learn(-1, 2, FileRecord.PATH, PIPE, 5, "batches\0tmp\0");
        assertThat(text(-1, 2)).isEqualTo("pipe:/tmp/batches");
    }

    @Test
    void whatIsInNoFolderIsNamedAsInProc() {
        learn(-1, 1, FileRecord.NO_DIRECTORY, PIPE, 17, "\0");
        learn(-1, 2, FileRecord.NO_DIRECTORY, SOCKET, 18, "UNIX\0");
        learn(-1, 3, FileRecord.NO_DIRECTORY, 0, 19, "[eventfd]\0");
        learn(-1, 4, FileRecord.NO_DIRECTORY, REGULAR, 20, "memfd:weights\0");
        assertThat(List.of(text(-1, 1), text(-1, 2), text(-1, 3), text(-1, 4)))
                .containsExactly("pipe:[17]", "socket:[18] unix", "anon_inode:[eventfd]", "/memfd:weights");
    }

    @Test
    void aPathThatWasOnlyAskedForStaysAsItIs() {
        learn(1L << 62, 1, FileRecord.ASKED, 0, 0, "../none\0");
        learn(1L << 62, 2, FileRecord.ASKED, 0, 0, "");
        assertThat(text(1L << 62, 1)).isEqualTo("../none");
        assertThat(text(1L << 62, 2)).isEqualTo("-");
    }

    @Test
    void aFutexIsAConstantAndZeroIsNothing() {
        assertThat(text(0, 1)).isEqualTo("futex");
        assertThat(text(0, 0)).isEqualTo("-");
    }

    @Test
    void anOpenedFileIsAlsoKnownByItsInode() {
        learn(-1, 2, FileRecord.PATH, REGULAR, 7, "opened\0data\0");
        assertThat(text(INODE | DEVICE, 7)).isEqualTo("/data/opened");
        assertThat(asked).isEmpty();
    }

    @Test
    void theProcessIsLookedAtOnceForAnInode() {
        assertThat(List.of(text(INODE | DEVICE, 7), text(INODE | DEVICE, 7), text(INODE | DEVICE, 8), text(INODE | DEVICE, 8)))
                .containsExactly("/data/mapped", "/data/mapped", "-", "-");
        assertThat(asked).containsExactly("100 254:3 7", "100 254:3 8");
    }

    @Test
    void aFileInUseIsNotForgottenAndOneOutOfUseIs() {
        learn(-1, 1, FileRecord.PATH, REGULAR, 0, "used\0");
        learn(-1, 2, FileRecord.PATH, REGULAR, 0, "unused\0");
        for (int i = 0; i < 200_000; i++) {
            learn(-2, i, FileRecord.PATH, REGULAR, 0, "other\0");
            if (i % 10_000 == 0) {
                assertThat(text(-1, 1)).isEqualTo("/used");
            }
        }
        assertThat(text(-1, 1)).isEqualTo("/used");
        assertThat(text(-1, 2)).isEqualTo("-");
        assertThat(text(-2, 199_999)).isEqualTo("/other");
    }

    @Test
    void pathsThatWereOnlyAskedForPushOutNone() {
        learn(-1, 1, FileRecord.PATH, REGULAR, 0, "unused\0");
        for (int i = 0; i < 200_000; i++) {
            learn(1L << 62 | 100, i, FileRecord.ASKED, 0, 0, "none\0");
            if (i % 10_000 == 0) {
                assertThat(text(1L << 62 | 100, i)).isEqualTo("none");
            }
        }
        assertThat(text(-1, 1)).isEqualTo("/unused");
    }

    @Test
    void afterManyPathsAFileIsToldByItsFolder() {
        for (int i = 0; i < 200_000; i++) {
            files.learn(1, i, "/set/" + i);
        }
        files.learn(1, 200_000, "/set/new");
        files.learn(1, 200_001, "/set/17");
        assertThat(text(INODE | 1, 199_999)).isEqualTo("/set/199999");
        assertThat(text(INODE | 1, 200_000)).isEqualTo("/set/*");
        assertThat(text(INODE | 1, 200_001)).isEqualTo("/set/17");
    }
}
