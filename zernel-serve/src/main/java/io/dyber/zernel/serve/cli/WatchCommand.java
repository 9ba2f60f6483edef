package io.dyber.zernel.serve.cli;

import io.dyber.zernel.serve.watch.SnapshotStream;
import io.dyber.zernel.serve.watch.Terminal;
import io.dyber.zernel.serve.watch.WatchScreen;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `zernel watch`: the snapshots of a server in the terminal.
@Command(
        name = "watch",
        description = "Watch in the terminal what a zernel serve says; q quits.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Examples:",
            "  zernel watch",
            "  zernel watch --once --host gpu7 --token-file token",
            "",
            "Then: zernel analyze report run.parquet"
        })
final class WatchCommand implements Callable<Integer> {
    private static final int ONCE_WIDTH = 120;
    private static final Duration ONCE_PATIENCE = Duration.ofSeconds(10);
    private static final Duration FRAME = Duration.ofMillis(250);
    private static final int FRAMES_PER_MEASURE = 4;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(names = "--host", defaultValue = "localhost", description = "Default: ${DEFAULT-VALUE}")
    private String host = "localhost";

    @Option(names = "--port", defaultValue = "${env:ZERNEL_WS_PORT:-9092}",
            description = "The server's WebSocket port. Default: ZERNEL_WS_PORT or 9092")
    private int port;

    @Option(names = "--token-file", paramLabel = "FILE", description = "The token that the server asks for.")
    private @Nullable Path tokenFile;

    @Option(names = "--once", description = "Print one snapshot and end.")
    private boolean once;

    @Override
    public Integer call() throws Failure, IOException, InterruptedException {
        URI address = URI.create("ws://" + host + ":" + port + "/");
        // Colours are for terminals, and for people who want them: https://no-color.org
        boolean colours = !once && System.getenv("NO_COLOR") == null;
        WatchScreen screen = new WatchScreen("ws://" + host + ":" + port, ZoneId.systemDefault(), colours);
        return once ? printOnce(address, screen) : watch(address, screen);
    }

    /// Where the server asks for one.
    private Optional<String> token() throws Failure {
        if (tokenFile == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(Files.readString(tokenFile).strip());
        } catch (IOException e) {
            throw new Failure("reading '" + tokenFile + "': " + e.getMessage(), null);
        }
    }

    private int printOnce(URI address, WatchScreen screen) throws Failure, InterruptedException {
        CompletableFuture<String> first = new CompletableFuture<>();
        start(address, new SnapshotStream.Listener() {
            @Override
            public void snapshot(String json) {
                first.complete(json);
            }

            @Override
            public void disconnected(String why, Duration retry) {
                first.completeExceptionally(new IOException(why));
            }
        });
        try {
            screen.accept(first.get(ONCE_PATIENCE.toSeconds(), TimeUnit.SECONDS));
        } catch (ExecutionException | TimeoutException e) {
            String why = e.getCause() == null ? "no snapshot came" : String.valueOf(e.getCause().getMessage());
            throw new Failure("watching 'ws://" + host + ":" + port + "': " + why, "start a server: zernel serve run.parquet");
        }
        PrintWriter out = spec.commandLine().getOut();
        screen.draw(ONCE_WIDTH, Integer.MAX_VALUE).forEach(out::println);
        out.flush();
        return 0;
    }

    private int watch(URI address, WatchScreen screen) throws Failure, IOException, InterruptedException {
        Terminal terminal = new Terminal(spec.commandLine().getOut());
        Thread restore = new Thread(terminal::close, "zernel-terminal");
        Runtime.getRuntime().addShutdownHook(restore);
        start(address, new SnapshotStream.Listener() {
            @Override
            public void snapshot(String json) {
                synchronized (screen) {
                    screen.accept(json);
                }
            }

            @Override
            public void disconnected(String why, Duration retry) {
                synchronized (screen) {
                    screen.disconnected(why, retry);
                }
            }
        });
        for (int frame = 0; !quits(screen); frame++) {
            if (frame % FRAMES_PER_MEASURE == 0) {
                terminal.measure();
            }
            synchronized (screen) {
                terminal.show(screen.draw(terminal.size().width(), terminal.size().height()));
            }
            Thread.sleep(FRAME);
        }
        return 0;
    }

    private static boolean quits(WatchScreen screen) throws IOException {
        while (System.in.available() > 0) {
            int key = System.in.read();
            if (key == 'q' || key == 'Q' || key == 3) {
                return true;
            }
            synchronized (screen) {
                screen.key(key);
            }
        }
        return false;
    }

    private void start(URI address, SnapshotStream.Listener listener) throws Failure {
        SnapshotStream stream = new SnapshotStream(address, token(), listener);
        Thread.ofPlatform().daemon().name("zernel-watch").start(() -> {
            try {
                stream.run();
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        });
    }
}
