package io.dyber.zernel.record.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.recording.OutputException;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// What a recording says of why it ended.
final class StopReasonTest {
    private static final Optional<RuntimeException> NONE = Optional.empty();
    private static final Optional<RuntimeException> BUG = Optional.of(new IllegalStateException("bug"));
    private static final Optional<RuntimeException> NO_SPACE =
            Optional.of(OutputException.of("writing 'run.parquet'", new IOException("No space left on device")));

    @Test
    void withoutAFailureItIsWhatEndedTheRecording() {
        assertThat(Session.reason("command-exited", NONE, NONE)).isEqualTo("command-exited");
    }

    @Test
    void aFullDiskThatTheRecordingsThreadMeetsIsTheReason() {
        assertThat(Session.reason("", NO_SPACE, NONE)).isEqualTo("disk-full");
    }

    @Test
    void aFullDiskThatIsMetAfterTheEndIsTheReasonToo() {
        assertThat(Session.reason("command-exited", NONE, NO_SPACE)).isEqualTo("disk-full");
    }

    @Test
    void anErrorIsSaidToBeOne() {
        assertThat(Session.reason("", BUG, NONE)).isEqualTo("failed");
        assertThat(Session.reason("duration", NONE, BUG)).isEqualTo("failed");
    }
}
