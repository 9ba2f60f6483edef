package io.dyber.zernel.record.mark;

import java.io.IOException;
import java.net.ConnectException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What came of sending a mark to every recorder on this machine.
///
/// @param taken recordings that have it now
/// @param refused recorders that did not take it, with the reason
/// @param foreign how many recorders belong to other users
public record Marking(List<Taken> taken, List<String> refused, int foreign) {
    /// A recording that took the mark.
    ///
    /// @param nanos since it began
    public record Taken(String output, long nanos) {}

    public Marking {
        taken = List.copyOf(taken);
        refused = List.copyOf(refused);
    }

    /// Sends it to all recorders that this user can reach.
    public static Marking send(Mark mark) {
        List<Taken> taken = new ArrayList<>();
        List<String> refused = new ArrayList<>();
        int foreign = 0;
        byte[] message = Messages.encode(message(mark));
        for (Path socket : MarkFolders.sockets()) {
            if (!Files.isWritable(socket)) {
                foreign += Files.exists(socket) ? 1 : 0;
                continue;
            }
            try (SocketChannel peer = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
                Messages.write(peer, message);
                JsonNode reply = Messages.read(peer);
                if (reply.has("error")) {
                    refused.add(reply.path("error").asString(""));
                } else {
                    taken.add(new Taken(reply.path("output").asString(""), reply.path("ns").asLong(0)));
                }
            } catch (ConnectException _) {
                removeStale(socket);
            } catch (IOException e) {
                if (Files.exists(socket)) {
                    refused.add("asking the recorder at '" + socket + "': " + e.getMessage());
                }
            }
        }
        return new Marking(taken, refused, foreign);
    }

    private static ObjectNode message(Mark mark) {
        return Messages.JSON
                .createObjectNode()
                .put("monotonic_ns", mark.monotonicNanos())
                .put("pid", mark.pid())
                .put("tid", mark.tid())
                .put("comm", mark.comm())
                .put("text", mark.text());
    }

    /// Removes the socket of a recorder that is gone, where this user may.
    static void removeStale(Path socket) {
        try {
            Files.deleteIfExists(socket);
        } catch (IOException _) {
            // Another user's; root removes it when it records next.
        }
    }
}
