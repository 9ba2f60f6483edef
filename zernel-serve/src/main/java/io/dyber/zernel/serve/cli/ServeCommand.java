package io.dyber.zernel.serve.cli;

import io.dyber.zernel.serve.MetricsServer;
import io.dyber.zernel.serve.source.EventSource;
import io.dyber.zernel.serve.source.Sources;
import io.dyber.zernel.serve.source.Speed;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `zernel serve`: a recording as live metrics.
@Command(
        name = "serve",
        description = {
            "Serve a recording as live metrics: Prometheus, WebSocket and a web page.",
            "A finished recording is replayed in its own time; one that is still being written is followed."
        },
        mixinStandardHelpOptions = true)
final class ServeCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Parameters(paramLabel = "RECORDING", description = "run.parquet, or run.parquet.live while it is written")
    @SuppressWarnings("NullAway.Init")
    private Path recording;

    @Option(names = "--speed", paramLabel = "N", defaultValue = "1x", converter = SpeedConverter.class,
            description = "Replay N times as fast: 10, 10x, 0.5x, max. Default: ${DEFAULT-VALUE}")
    private Speed speed = Speed.REAL_TIME;

    @Option(names = "--loop", description = "Start the replay again when it has ended.")
    private boolean loop;

    @Option(names = "--exit-at-end", description = "Stop serving when the recording has ended.")
    private boolean exitAtEnd;

    @Option(names = "--metrics-port", paramLabel = "PORT", defaultValue = "${env:ZERNEL_METRICS_PORT:-9091}",
            description = "Port for HTTP; 0 takes a free one. Default: ZERNEL_METRICS_PORT or 9091")
    private int metricsPort;

    @Option(names = "--ws-port", paramLabel = "PORT", defaultValue = "${env:ZERNEL_WS_PORT:-9092}",
            description = "Port for the WebSocket; 0 takes a free one. Default: ZERNEL_WS_PORT or 9092")
    private int webSocketPort;

    @Option(names = "--interval", paramLabel = "SECONDS", defaultValue = "1",
            description = "Time between WebSocket snapshots. Default: ${DEFAULT-VALUE}")
    private double interval;

    @Option(names = "--listen", paramLabel = "ADDRESS", defaultValue = "127.0.0.1",
            description = "Address to listen on. Default: ${DEFAULT-VALUE}, only this machine")
    @SuppressWarnings("NullAway.Init")
    private InetAddress listen;

    @Option(names = "--max-pids", paramLabel = "N", defaultValue = "100",
            description = "Processes with series of their own; the others share one. Default: ${DEFAULT-VALUE}")
    private int pidLimit;

    @Override
    public Integer call() throws Failure, IOException, InterruptedException {
        check();
        PrintWriter err = spec.commandLine().getErr();
        if (!listen.isLoopbackAddress()) {
            err.println("zernel serve: warning: anybody who reaches " + listen.getHostAddress()
                    + " can read these metrics; there is no password");
        }
        try (EventSource source = Sources.open(recording, speed, loop);
                MetricsServer server = start(source)) {
            Runtime.getRuntime().addShutdownHook(new Thread(server::close, "zernel-stop"));
            greet(server, err);
            return waitFor(server, err);
        }
    }

    private void check() {
        if (interval < 0.05 || interval > 3600) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "--interval is between 0.05 and 3600 seconds");
        }
        for (int port : new int[] {metricsPort, webSocketPort}) {
            if (port < 0 || port > 65535) {
                throw new CommandLine.ParameterException(spec.commandLine(), "no such port: " + port);
            }
        }
    }

    private MetricsServer start(EventSource source) throws Failure, IOException {
        Duration between = Duration.ofMillis(Math.round(interval * 1000));
        try {
            return MetricsServer.start(
                    source, new MetricsServer.Options(listen, metricsPort, webSocketPort, between, pidLimit));
        } catch (MetricsServer.PortException e) {
            throw new Failure(
                    "listening on " + listen.getHostAddress() + " port " + e.port() + ": " + e.getMessage(),
                    "choose another with " + e.option());
        }
    }

    private void greet(MetricsServer server, PrintWriter err) {
        String host = listen.isAnyLocalAddress() || listen.isLoopbackAddress() ? "localhost" : listen.getHostAddress();
        String http = "http://" + host + ":" + server.metricsPort();
        err.println((server.state().mode().equals("tail") ? "Following " : "Replaying at " + speed + " ")
                + recording + ". Ctrl-C stops.");
        err.println("  web page    " + http + "/");
        err.println("  Prometheus  " + http + "/metrics");
        err.println("  WebSocket   ws://" + host + ":" + server.webSocketPort());
        String port = server.webSocketPort() == 9092 ? "" : " --port " + server.webSocketPort();
        err.println("  terminal    zernel watch" + port);
        err.flush();
    }

    private int waitFor(MetricsServer server, PrintWriter err) throws IOException, InterruptedException {
        if (!server.awaitEnd()) {
            return 0;
        }
        err.println("zernel serve: " + server.state().note()
                + (exitAtEnd ? "" : "; still serving the last values, Ctrl-C stops"));
        err.flush();
        if (!exitAtEnd) {
            new CountDownLatch(1).await();
        }
        return 0;
    }

    /// Reads a [Speed].
    static final class SpeedConverter implements CommandLine.ITypeConverter<Speed> {
        @Override
        public Speed convert(String value) {
            try {
                return Speed.parse(value);
            } catch (IllegalArgumentException e) {
                throw new CommandLine.TypeConversionException(e.getMessage());
            }
        }
    }
}
