package io.dyber.zernel.serve.http;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.server.ConnectionMetaData;

/// The connections over which something is asked, or is still to be asked. There are never too many, and none stays for
/// doing nothing: where there are as many as may be, a new one ends the one that has got nothing done for the longest
/// time, so that those who come and stay silent keep nobody out. WebSockets have got what they asked for and are not
/// among them.
public final class Connections implements Connection.Listener {
    private final Limits limits;

    /// Those that got something done latest come last.
    private final Map<Connection, Progress> open = new LinkedHashMap<>();

    /// How many connections a port may have, and how long each may take.
    ///
    /// @param most connections
    /// @param patience from opening, or from the answer before, until a request is there, and from there to its answer
    public record Limits(int most, Duration patience) {
        /// More than monitoring needs, and fewer than the files that a process may open.
        public static final Limits USUAL = new Limits(1000, Duration.ofSeconds(30));
    }

    private record Progress(long messages, long sinceNanos) {}

    Connections(Limits limits) {
        this.limits = limits;
    }

    @Override
    public void onOpened(Connection connection) {
        if (!(connection instanceof ConnectionMetaData)) {
            return;
        }
        List<Connection> tooMany = new ArrayList<>();
        synchronized (open) {
            open.put(connection, new Progress(0, System.nanoTime()));
            Iterator<Connection> eldest = open.keySet().iterator();
            for (int surplus = open.size() - limits.most(); surplus > 0; surplus--) {
                tooMany.add(eldest.next());
                eldest.remove();
            }
        }
        tooMany.forEach(one -> end(one, "others came"));
    }

    @Override
    public void onClosed(Connection connection) {
        synchronized (open) {
            open.remove(connection);
        }
    }

    /// Ends those that took too long.
    void sweep() {
        long now = System.nanoTime();
        List<Connection> late = new ArrayList<>();
        synchronized (open) {
            for (Map.Entry<Connection, Progress> entry : List.copyOf(open.entrySet())) {
                Connection connection = entry.getKey();
                Progress before = entry.getValue();
                long messages = connection.getMessagesIn() + connection.getMessagesOut();
                if (messages != before.messages()) {
                    open.remove(connection);
                    open.put(connection, new Progress(messages, now));
                } else if (now - before.sinceNanos() > limits.patience().toNanos()) {
                    late.add(connection);
                }
            }
            late.forEach(open::remove);
        }
        late.forEach(one -> end(one, "it took longer than " + limits.patience()));
    }

    private static void end(Connection connection, String why) {
        connection.getEndPoint().close(new TimeoutException(why));
    }
}
