package io.dyber.zernel.record.mark;

import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A recorder's ear: a socket that only root and the recording's owner can connect to, with a thread that takes marks
/// from it.
public final class MarkListener implements AutoCloseable {
    private static final int FOLDER_MODE = 0755;
    private static final int SOCKET_MODE = 0600;

    private final ServerSocketChannel server;
    private final Path socket;
    private final Function<Mark, Reply> taker;
    private final Thread thread = new Thread(this::run, "zernel-marks");

    /// What a recorder says to a mark.
    ///
    /// @param output the recording
    /// @param nanos of the mark since the recording began
    public record Reply(Path output, long nanos) {}

    private MarkListener(ServerSocketChannel server, Path socket, Function<Mark, Reply> taker) {
        this.server = server;
        this.socket = socket;
        this.taker = taker;
    }

    /// Begins to listen. Sockets of recorders that are gone are removed.
    ///
    /// @param uid who may connect beside root, -1 for the user of this process
    /// @param gid group of that user
    /// @param taker called on the listener's thread
    /// @throws IOException when there is no place for a socket
    public static MarkListener open(int uid, int gid, Function<Mark, Reply> taker) throws IOException {
        Path folder = MarkFolders.own();
        if (!Files.isDirectory(folder)) {
            Files.createDirectories(folder);
            Files.setAttribute(folder, "unix:mode", FOLDER_MODE);
        }
        MarkFolders.socketsIn(folder).forEach(MarkListener::removeIfStale);
        String name = ProcessHandle.current().pid() + "-" + Long.toHexString(System.nanoTime());
        // Clients look for its final name only, which it gets when it is listening and has its owner.
        Path bound = folder.resolve(name + ".new");
        Path socket = folder.resolve(name + MarkFolders.SUFFIX);
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            server.bind(UnixDomainSocketAddress.of(bound));
            Files.setAttribute(bound, "unix:mode", SOCKET_MODE);
            if (uid >= 0) {
                Files.setAttribute(bound, "unix:gid", gid, LinkOption.NOFOLLOW_LINKS);
                Files.setAttribute(bound, "unix:uid", uid, LinkOption.NOFOLLOW_LINKS);
            }
            Files.move(bound, socket);
        } catch (IOException | RuntimeException e) {
            server.close();
            Files.deleteIfExists(bound);
            throw e;
        }
        MarkListener listener = new MarkListener(server, socket, taker);
        listener.thread.setDaemon(true);
        listener.thread.start();
        return listener;
    }

    private static void removeIfStale(Path socket) {
        try {
            SocketChannel.open(UnixDomainSocketAddress.of(socket)).close();
        } catch (ConnectException _) {
            Marking.removeStale(socket);
        } catch (IOException _) {
            // Another user's, or just removed.
        }
    }

    private void run() {
        while (true) {
            try (SocketChannel peer = server.accept()) {
                answer(peer);
            } catch (ClosedChannelException _) {
                return;
            } catch (IOException e) {
                // A client that went away, or was none; the next one is waiting.
                System.getLogger(MarkListener.class.getName()).log(System.Logger.Level.DEBUG, "taking a mark", e);
            }
        }
    }

    private void answer(SocketChannel peer) throws IOException {
        JsonNode message = Messages.read(peer);
        ObjectNode answer = Messages.JSON.createObjectNode();
        try {
            Reply reply = taker.apply(new Mark(
                    message.path("monotonic_ns").asLong(0),
                    message.path("pid").asInt(0),
                    message.path("tid").asInt(0),
                    message.path("comm").asString(""),
                    message.path("text").asString("")));
            answer.put("output", reply.output().toString());
            answer.put("ns", reply.nanos());
        } catch (IllegalArgumentException | IllegalStateException e) {
            answer.put("error", String.valueOf(e.getMessage()));
        }
        Messages.write(peer, Messages.encode(answer));
    }

    /// Stops listening. A mark that was answered has been taken.
    @Override
    public void close() {
        try {
            Files.deleteIfExists(socket);
            server.close();
            thread.join();
        } catch (IOException e) {
            System.getLogger(MarkListener.class.getName()).log(System.Logger.Level.DEBUG, "closing " + socket, e);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
