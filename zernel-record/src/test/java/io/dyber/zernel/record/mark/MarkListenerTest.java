package io.dyber.zernel.record.mark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.record.mark.MarkListener.Reply;
import io.dyber.zernel.record.mark.Marking.Taken;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class MarkListenerTest {
    @TempDir
    private Path directory = Path.of("");

    private final List<Mark> first = Collections.synchronizedList(new ArrayList<>());
    private final List<Mark> second = Collections.synchronizedList(new ArrayList<>());

    @BeforeEach
    void useFolder() {
        System.setProperty(MarkFolders.FOLDER_PROPERTY, folder().toString());
    }

    @AfterEach
    void forgetFolder() {
        System.clearProperty(MarkFolders.FOLDER_PROPERTY);
    }

    private Path folder() {
        return directory.resolve("zernel");
    }

    private static MarkListener listener(Function<Mark, Reply> taker) throws IOException {
        return MarkListener.open(-1, -1, taker);
    }

    private static Function<Mark, Reply> into(List<Mark> marks, String output) {
        return mark -> {
            marks.add(mark);
            return new Reply(Path.of(output), mark.monotonicNanos() - 1_000);
        };
    }

    private List<Path> left() throws IOException {
        try (Stream<Path> files = Files.list(folder())) {
            return files.toList();
        }
    }

    @Test
    void aMarkReachesEveryListenerAsItWasMade() throws IOException {
        Mark mark = new Mark(5_000_000_000L, 17, 18, "trainer", "größe ≥ 3, \"quoted\"\nsecond line");
        try (MarkListener _ = listener(into(first, "/tmp/a.parquet"));
                MarkListener _ = listener(into(second, "/tmp/b.parquet"))) {
            Marking marking = Marking.send(mark);
            assertThat(marking.taken()).containsExactlyInAnyOrder(
                    new Taken("/tmp/a.parquet", 4_999_999_000L), new Taken("/tmp/b.parquet", 4_999_999_000L));
            assertThat(marking.refused()).isEmpty();
            assertThat(marking.foreign()).isZero();
        }
        assertThat(first).containsExactly(mark);
        assertThat(second).containsExactly(mark);
        assertThat(left()).isEmpty();
    }

    @Test
    void onlyTheOwnerAndRootMayConnect() throws IOException {
        try (MarkListener _ = listener(into(first, "a"))) {
            assertThat(left()).hasSize(1);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(left().getFirst())))
                    .isEqualTo("rw-------");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder()))).isEqualTo("rwxr-xr-x");
        }
    }

    @Test
    void withoutAListenerNobodyHasIt() {
        assertThat(Marking.send(new Mark(1, 1, 1, "x", "x"))).isEqualTo(new Marking(List.of(), List.of(), 0));
    }

    @Test
    void aSocketThatNobodyListensToIsRemovedByTheNextMark() throws IOException {
        Files.createDirectory(folder());
        leaveSocketBehind();
        assertThat(Marking.send(new Mark(1, 1, 1, "x", "x"))).isEqualTo(new Marking(List.of(), List.of(), 0));
        assertThat(left()).isEmpty();
    }

    @Test
    void aSocketThatNobodyListensToIsRemovedByTheNextListener() throws IOException {
        Files.createDirectory(folder());
        leaveSocketBehind();
        try (MarkListener _ = listener(into(first, "a"));
                MarkListener _ = listener(into(second, "b"))) {
            assertThat(left()).hasSize(2).doesNotContain(folder().resolve("1-dead.sock"));
        }
    }

    private void leaveSocketBehind() throws IOException {
        ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        dead.bind(UnixDomainSocketAddress.of(folder().resolve("1-dead.sock")));
        dead.close();
        assertThat(left()).containsExactly(folder().resolve("1-dead.sock"));
    }

    @Test
    void aRecordingThatHasEndedSaysSo() throws IOException {
        try (MarkListener _ = listener(_ -> {
            throw new IllegalStateException("the recording of 'a' has ended");
        })) {
            assertThat(Marking.send(new Mark(1, 1, 1, "x", "x")).refused())
                    .containsExactly("the recording of 'a' has ended");
        }
    }

    @Test
    void clientsThatSayNothingOrNonsenseDoNotKeepOthersOut() throws IOException {
        try (MarkListener _ = listener(into(first, "a"));
                SocketChannel silent = connect();
                SocketChannel noisy = connect();
                SocketChannel endless = connect()) {
            assertThat(silent.isConnected()).isTrue();
            noisy.write(ByteBuffer.wrap("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.UTF_8)));
            endless.write(ByteBuffer.wrap("x".repeat(20_000).getBytes(StandardCharsets.UTF_8)));
            SocketChannel gone = connect();
            gone.close();
            Marking marking = sendPatiently();
            assertThat(marking.taken()).hasSize(1);
        }
        assertThat(first).extracting(Mark::text).contains("x");
    }

    /// Each is answered or hung up on, and the next client is heard.
    @ParameterizedTest
    @ValueSource(strings = {
        "null", "[]", "7", "\"text\"", "{}", "{\"text\":{}}", "{\"text\":[\"x\"]}", "{", "\0", "\uD800",
        "{\"text\":\"x\",\"pid\":\"many\"}", "{\"text\":\"x\",\"pid\":99999999999999999999}",
        "{\"text\":\"x\",\"tid\":1.5}", "{\"text\":\"x\",\"monotonic_ns\":1e999999999}",
        "{\"text\":\"x\",\"monotonic_ns\":null}", "{\"text\":\"\\ud800\",\"comm\":{\"a\":[]}}"
    })
    void noMessageEndsTheListener(String message) throws IOException {
        try (MarkListener _ = listener(into(first, "a"));
                SocketChannel peer = connect()) {
            peer.write(ByteBuffer.wrap((message + "\n").getBytes(StandardCharsets.UTF_8)));
            assertThat(peer.read(ByteBuffer.allocate(1))).isBetween(-1, 1);
            assertThat(Marking.send(new Mark(1, 1, 1, "x", "good")).taken()).hasSize(1);
        }
        assertThat(first).extracting(Mark::text).contains("good");
    }

    @Test
    void deepNestingEndsNoListener() throws IOException {
        noMessageEndsTheListener("[".repeat(16_000));
        noMessageEndsTheListener("{\"a\":".repeat(2_500));
    }

    /// The listener hears one client after the other, and a silent one for some seconds.
    private static Marking sendPatiently() {
        Marking marking = Marking.send(new Mark(1, 1, 1, "x", "x"));
        for (int i = 0; i < 10 && marking.taken().isEmpty(); i++) {
            marking = Marking.send(new Mark(1, 1, 1, "x", "x"));
        }
        return marking;
    }

    private SocketChannel connect() throws IOException {
        return SocketChannel.open(UnixDomainSocketAddress.of(left().getFirst()));
    }

    @Test
    void aMarkHasATextOfAtMostOneKibibyte() {
        assertThat(new Mark(1, 1, 1, "x", "ü".repeat(512)).text()).hasSize(512);
        assertThatThrownBy(() -> new Mark(1, 1, 1, "x", "ü".repeat(512) + "x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the text of the mark is 1025 bytes long, the longest are 1024");
        assertThatThrownBy(() -> new Mark(1, 1, 1, "x", " ")).hasMessage("a mark needs a text");
    }

    @Test
    void aMarkKnowsItsThread() throws InterruptedException {
        List<Mark> marks = new ArrayList<>();
        Thread thread = new Thread(() -> marks.add(Mark.ofThisThread(7, "here")), "z-marker");
        thread.start();
        thread.join();
        Mark mark = marks.getFirst();
        assertThat(mark.pid()).isEqualTo((int) ProcessHandle.current().pid());
        assertThat(mark.tid()).isNotEqualTo(mark.pid());
        assertThat(mark.comm()).isEqualTo("z-marker");
    }
}
