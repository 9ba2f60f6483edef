package io.dyber.zernel.serve;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.atomic.AtomicInteger;

/// Ports that stay free while nobody who asked here listens: the system gives none of them to whoever asks it for any port,
/// and other processes of the tests have others.
public final class Ports {
    /// Below net.ipv4.ip_local_port_range, which begins at 32768.
    private static final int FIRST = 20_000;

    private static final int PROCESSES = 600;
    private static final int EACH = 20;
    private static final int OWN = FIRST + (int) (ProcessHandle.current().pid() % PROCESSES) * EACH;
    private static final AtomicInteger ASKED = new AtomicInteger();

    private Ports() {}

    /// A port at which nobody listens; another one each time.
    public static int free() {
        for (int i = 0; i < EACH; i++) {
            int port = OWN + ASKED.getAndIncrement() % EACH;
            try (ServerSocket tried = new ServerSocket(port)) {
                return tried.getLocalPort();
            } catch (IOException _) {
                // somebody else's
            }
        }
        throw new IllegalStateException("no port from " + OWN + " on is free");
    }
}
