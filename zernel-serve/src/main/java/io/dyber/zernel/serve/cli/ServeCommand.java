package io.dyber.zernel.serve.cli;

import io.dyber.zernel.serve.Alerting;
import io.dyber.zernel.serve.FleetServer;
import io.dyber.zernel.serve.MetricsServer;
import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.fleet.FleetAnalysis;
import io.dyber.zernel.serve.http.AccessToken;
import io.dyber.zernel.serve.live.SeriesPolicy;
import io.dyber.zernel.serve.otlp.OtlpTarget;
import io.dyber.zernel.serve.source.EventSource;
import io.dyber.zernel.serve.source.FollowedFolder;
import io.dyber.zernel.serve.source.Moment;
import io.dyber.zernel.serve.source.Replay;
import io.dyber.zernel.serve.source.SourceState;
import io.dyber.zernel.serve.source.Sources;
import io.dyber.zernel.serve.source.Speed;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine;

/// `zernel serve`: a recording as live metrics.
@Command(
        name = "serve",
        description = {
            "Serve a recording as live metrics: Prometheus, WebSocket and a web page.",
            "A finished one is replayed in its own time, one still being written followed."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false,
        abbreviateSynopsis = true,
        footer = {
            "",
            "Examples:",
            "  zernel serve run.parquet --speed 10x",
            "  zernel serve --follow /var/recordings --otlp http://collector:4318",
            "  zernel serve --fleet /shared/digests --token-file token",
            "",
            "Then: zernel watch"
        })
final class ServeCommand implements Callable<Integer> {
    private static final List<String> OF_RECORDINGS = List.of("--speed", "--loop", "--from", "--to", "--exit-at-end", "--ws-port",
            "--interval", "--no-findings", "--alerts-only", "--otlp", "--max-pids", "--workers-apart", "--histograms");

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Parameters(paramLabel = "RECORDING", arity = "0..1",
            description = "run.parquet, finished or still being written")
    private @Nullable Path recording;

    @Option(names = "--follow", paramLabel = "DIR",
            description = "Follow the newest recording here, and later ones.")
    private @Nullable Path follow;

    @Option(names = "--simulate", paramLabel = "SCENARIO", arity = "0..1", fallbackValue = "healthy",
            description = "A simulation, for ever; a bad name lists them.")
    private @Nullable String simulate;

    @Option(names = "--fleet", paramLabel = "DIR",
            description = "The digests of many machines that arrive here.")
    private @Nullable Path fleet;

    @Option(names = "--speed", paramLabel = "N", defaultValue = "1x", converter = SpeedConverter.class,
            description = "Replay N times as fast: 10x, 0.5x, max. Default: ${DEFAULT-VALUE}")
    private Speed speed = Speed.REAL_TIME;

    @Option(names = "--loop", description = "Start the replay again when it has ended.")
    private boolean loop;

    @Option(names = "--from", paramLabel = "MOMENT", converter = MomentConverter.class,
            description = "Begin at e.g. 90s or 2026-11-21T17:30:00Z.")
    private Optional<Moment> from = Optional.empty();

    @Option(names = "--to", paramLabel = "MOMENT", converter = MomentConverter.class,
            description = "End the replay there.")
    private Optional<Moment> to = Optional.empty();

    @Option(names = "--exit-at-end", description = "Stop serving when the recording has ended.")
    private boolean exitAtEnd;

    @Option(names = "--metrics-port", paramLabel = "PORT", defaultValue = "${env:ZERNEL_METRICS_PORT:-9091}",
            description = "HTTP, 0: any. Default: $ZERNEL_METRICS_PORT or 9091")
    private int metricsPort;

    @Option(names = "--ws-port", paramLabel = "PORT", defaultValue = "${env:ZERNEL_WS_PORT:-9092}",
            description = "WebSocket, 0: any. Default: $ZERNEL_WS_PORT or 9092")
    private int webSocketPort;

    @Option(names = "--interval", paramLabel = "SECONDS", defaultValue = "1",
            description = "Time between WebSocket snapshots. Default: ${DEFAULT-VALUE}")
    private double interval;

    @Option(names = "--listen", paramLabel = "ADDRESS", defaultValue = "127.0.0.1",
            description = "Default: ${DEFAULT-VALUE}, only this machine")
    @SuppressWarnings("NullAway.Init")
    private InetAddress listen;

    @Option(names = "--token-file", paramLabel = "FILE",
            description = "Answer only who sends the token in this file.")
    private @Nullable Path tokenFile;

    @Option(names = "--allow-host", paramLabel = "NAME",
            description = "Also answer to this name; repeatable.")
    private List<String> names = List.of();

    @Option(names = "--no-findings",
            description = "Do not analyze the recording in the background.")
    private boolean withoutFindings;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SeriesOptions series;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private RuleOptions rules;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OtlpOptions otlp;

    @Override
    public Integer call() throws Failure, IOException, InterruptedException {
        Optional<Integer> answered = rules.answer(series.histograms());
        if (answered.isPresent()) {
            return answered.get();
        }
        check();
        SeriesPolicy policy = series.policy();
        if (fleet != null) {
            return serveFleet(fleet, policy);
        }
        if (rules.alertsOnly()) {
            try (EventSource source = open(false)) {
                return rules.replay(source, policy);
            }
        }
        PrintWriter err = spec.commandLine().getErr();
        Optional<OtlpTarget> target = otlp.target(line -> {
            err.println("zernel serve: " + line);
            err.flush();
        });
        Optional<AccessToken> token = token();
        warn(token, err);
        Alerting alerting = alerting(rules.rules(), policy, err);
        try (EventSource source = open(loop || simulate != null);
                MetricsServer server = start(source, policy, token, target, alerting)) {
            Runtime.getRuntime().addShutdownHook(new Thread(server::close, "zernel-stop"));
            greet(server, target, err);
            return waitFor(server, err);
        }
    }

    private int serveFleet(Path folder, SeriesPolicy policy) throws Failure, IOException, InterruptedException {
        PrintWriter err = spec.commandLine().getErr();
        Optional<AccessToken> token = token();
        warn(token, err);
        FleetServer.Options options = new FleetServer.Options(
                folder, FleetAnalysis.Pace.USUAL, listen, metricsPort, policy.labels(), token, Set.copyOf(names));
        try (FleetServer server = FleetServer.start(options, alerting(rules.fleetRules(), policy, err))) {
            Runtime.getRuntime().addShutdownHook(new Thread(server::close, "zernel-stop"));
            String http = "http://" + host() + ":" + server.port();
            err.println("Serving the digests that arrive in " + folder + ". Ctrl-C stops.");
            err.println("  web page    " + http + "/");
            err.println("  Prometheus  " + http + "/metrics");
            err.println("  pushes      " + (token.isEmpty() ? "none: they need --token-file" : "zernel-analyze digest --follow RECORDING --push " + http));
            err.flush();
            new CountDownLatch(1).await();
            return 0;
        } catch (MetricsServer.PortException e) {
            throw taken(e);
        }
    }

    private void warn(Optional<AccessToken> token, PrintWriter err) {
        if (!listen.isLoopbackAddress()) {
            err.println("zernel serve: warning: " + (token.isEmpty()
                    ? "anybody who reaches " + listen.getHostAddress() + " can read these metrics; --token-file FILE asks for a token"
                    : "the token and the metrics go unencrypted: whatever is on the way can read them"));
        }
    }

    private static Alerting alerting(AlertRules rules, SeriesPolicy policy, PrintWriter err) {
        return new Alerting(rules, alert -> {
            err.println("zernel serve: alert: " + RuleOptions.line(alert));
            err.flush();
        }, policy.labels());
    }

    private EventSource open(boolean again) throws Failure, IOException, InterruptedException {
        if (simulate != null) {
            return new Replay(SimulatedRecording.make(simulate), new Replay.Options(speed, again, from, to));
        }
        return follow != null
                ? new FollowedFolder(follow)
                : Sources.open(Objects.requireNonNull(recording), new Replay.Options(speed, again, from, to));
    }

    private Optional<AccessToken> token() throws Failure {
        if (tokenFile == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(new AccessToken(Files.readString(tokenFile).strip()));
        } catch (IOException | IllegalArgumentException e) {
            String why = e instanceof NoSuchFileException ? "no such file" : String.valueOf(e.getMessage());
            throw new Failure("reading '" + tokenFile + "': " + why, "make one: openssl rand -hex 32 > " + tokenFile);
        }
    }

    private void check() {
        if (Stream.of(recording, follow, simulate, fleet).filter(Objects::nonNull).count() != 1) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "say what to serve: one of RECORDING, --follow DIR, --fleet DIR and --simulate");
        }
        if (fleet != null) {
            OF_RECORDINGS.stream().filter(option -> spec.commandLine().getParseResult().hasMatchedOption(option)).findFirst().ifPresent(option -> {
                throw new CommandLine.ParameterException(spec.commandLine(), option + " is not for --fleet");
            });
        }
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

    private MetricsServer start(
            EventSource source,
            SeriesPolicy policy,
            Optional<AccessToken> token,
            Optional<OtlpTarget> target,
            Alerting alerting)
            throws Failure, IOException {
        Duration between = Duration.ofMillis(Math.round(interval * 1000));
        MetricsServer.Options options = new MetricsServer.Options(
                listen, metricsPort, webSocketPort, between, policy, !withoutFindings, token, Set.copyOf(names), target);
        try {
            return MetricsServer.start(source, options, alerting);
        } catch (MetricsServer.PortException e) {
            throw taken(e);
        }
    }

    private Failure taken(MetricsServer.PortException e) {
        return new Failure(
                "listening on " + listen.getHostAddress() + " port " + e.port() + ": " + e.getMessage(),
                "choose another with " + e.option());
    }

    private String host() {
        return listen.isAnyLocalAddress() || listen.isLoopbackAddress() ? "localhost" : listen.getHostAddress();
    }

    private void greet(MetricsServer server, Optional<OtlpTarget> target, PrintWriter err) {
        String host = host();
        String http = "http://" + host + ":" + server.metricsPort();
        SourceState state = server.state();
        err.println((state.mode().equals("replay") ? "Replaying at " + speed + " " : "Following ")
                + (simulate == null ? state.path() : "a simulation of '" + simulate + "'") + ". Ctrl-C stops.");
        err.println("  web page    " + http + "/");
        err.println("  Prometheus  " + http + "/metrics");
        err.println("  WebSocket   ws://" + host + ":" + server.webSocketPort());
        String port = server.webSocketPort() == 9092 ? "" : " --port " + server.webSocketPort();
        err.println("  terminal    zernel watch" + port);
        target.ifPresent(pushed -> err.println("  OTLP        " + pushed.base()));
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

    /// Reads a [Moment].
    static final class MomentConverter implements CommandLine.ITypeConverter<Moment> {
        @Override
        public Moment convert(String value) {
            try {
                return Moment.parse(value);
            } catch (IllegalArgumentException e) {
                throw new CommandLine.TypeConversionException(e.getMessage());
            }
        }
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
