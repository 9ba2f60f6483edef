package io.dyber.zernel.record.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A recording that begins or is recovered beside readers, who lock the folder for a moment to learn whether its recorder
/// lives.
final class ClaimTest {
    @TempDir
    private Path folder = Path.of("");

    private Path output = Path.of("");
    private Path lock = Path.of("");

    @BeforeEach
    void name() {
        output = folder.resolve("run.parquet");
        lock = folder.resolve("run.parquet.live/lock");
    }

    /// A reader that has the lock when somebody else tries for the first time, and lets go after the third.
    private final class Reader implements Claim.Locking {
        private int tries;
        private Optional<FileLock> held = Optional.empty();

        @Override
        public boolean locks(FileChannel file) throws IOException {
            tries++;
            if (tries == 1) {
                held = Optional.of(FileChannel.open(lock, StandardOpenOption.READ).tryLock(0, Long.MAX_VALUE, true));
            }
            boolean locked = Claim.locks(file);
            if (tries == 3) {
                held.orElseThrow().acquiredBy().close();
            }
            return locked;
        }
    }

    @Test
    void aReaderThatLooksAtANewFolderIsWaitedFor() throws IOException {
        Reader reader = new Reader();
        try (ClaimedFolder claimed = Claim.create(output, Optional.empty(), reader)) {
            assertThat(claimed.output()).isEqualTo(output);
        }
        assertThat(reader.tries).isEqualTo(4);
        assertThat(lock).hasContent(ProcessHandle.current().pid() + "\n");
    }

    @Test
    void aReaderThatLooksAtACrashedRecordingIsWaitedFor() throws IOException {
        Claim.create(output, Optional.empty()).close();
        Reader reader = new Reader();
        try (ClaimedFolder claimed = Claim.adopt(output, reader)) {
            assertThat(claimed.output()).isEqualTo(output);
        }
        assertThat(reader.tries).isEqualTo(4);
    }

    @Test
    void aNewFolderThatCannotBeLockedIsNotLeftBehind() {
        assertThatThrownBy(() -> Claim.create(output, Optional.empty(), _ -> false))
                .isInstanceOf(OutputException.class)
                .hasMessage("recording to '%s': another process uses 'run.parquet.live'", output);
        assertThat(folder).isEmptyDirectory();
    }
}
