package io.dyber.zernel.serve;

import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.serve.analysis.Analysis;
import io.dyber.zernel.serve.analysis.Findings;
import io.dyber.zernel.serve.http.AccessToken;
import io.dyber.zernel.serve.http.Connections;
import io.dyber.zernel.serve.http.HostGuard;
import io.dyber.zernel.serve.http.HttpEndpoint;
import io.dyber.zernel.serve.http.PageFiles;
import io.dyber.zernel.serve.http.PortOwner;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.live.SeriesPolicy;
import io.dyber.zernel.serve.live.SeriesTable;
import io.dyber.zernel.serve.otlp.Otlp;
import io.dyber.zernel.serve.otlp.OtlpIdentity;
import io.dyber.zernel.serve.otlp.OtlpTarget;
import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.EventSource;
import io.dyber.zernel.serve.source.Playback;
import io.dyber.zernel.serve.source.SourceState;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Serves what a source of events says, as Prometheus metrics, JSON, a web page and a WebSocket feed, until closed.
public final class MetricsServer implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(MetricsServer.class.getName());
    private static final Duration LONGEST_SILENCE = Duration.ofSeconds(30);

    private final EventSource source;
    private final Options options;
    private final Alerting alerting;
    private final Charts charts = new Charts();
    private final Semaphore news = new Semaphore(0);
    private volatile LiveMetrics live;
    private final Analysis analysis;
    private final HttpEndpoint http;
    private final SnapshotFeed feed;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
    private volatile boolean reads = true;
    private volatile Optional<Otlp> otlp = Optional.empty();
    private volatile long publishedNanos = System.nanoTime();

    /// Where and how to serve.
    ///
    /// @param listen the address for both ports
    /// @param metricsPort HTTP; 0 takes a free one
    /// @param webSocketPort WebSocket; 0 takes a free one
    /// @param interval between snapshots
    /// @param series which there are, and how they are shown
    /// @param findings also analyze the recording, in the background
    /// @param token what clients must show, if anything
    /// @param names by which clients may call the server, besides its own
    /// @param otlp where to push the same, if anywhere
    public record Options(
            InetAddress listen,
            int metricsPort,
            int webSocketPort,
            Duration interval,
            SeriesPolicy series,
            boolean findings,
            Optional<AccessToken> token,
            Set<String> names,
            Optional<OtlpTarget> otlp) {
        /// With the usual series of so many processes, and pushed nowhere.
        public Options(
                InetAddress listen,
                int metricsPort,
                int webSocketPort,
                Duration interval,
                int pidLimit,
                boolean findings,
                Optional<AccessToken> token,
                Set<String> names) {
            this(listen, metricsPort, webSocketPort, interval, SeriesPolicy.of(pidLimit), findings, token, names, Optional.empty());
        }
    }

    private MetricsServer(EventSource source, Options options, Alerting alerting) throws IOException {
        this.source = source;
        this.options = options;
        this.alerting = alerting;
        this.analysis = new Analysis(source, options.findings());
        this.live = emptyMetrics();
        HostGuard guard = new HostGuard(options.listen(), options.names(), options.token());
        this.feed = startFeed(guard);
        try {
            this.http = HttpEndpoint.start(
                    new InetSocketAddress(options.listen(), options.metricsPort()), Connections.Limits.USUAL, guard, pages());
        } catch (BindException e) {
            feed.close();
            throw new PortException(options.metricsPort(), "--metrics-port", e);
        } catch (IOException e) {
            feed.close();
            throw e;
        }
    }

    private LiveMetrics emptyMetrics() {
        LiveMetrics empty = new LiveMetrics(options.series(), analysis.inferences(), new LiveMetrics.Watcher() {
            @Override
            public void second(LiveMetrics.View view) {
                alerting.second(view);
                charts.second(view);
            }

            @Override
            public void export(SeriesTable series) {
                alerting.export(series);
                FindingSeries.export(series, analysis.findings());
                otlp.ifPresent(pushing -> pushing.export(series));
            }
        });
        empty.overhead(source.overheadShare());
        empty.detail(source::detail);
        empty.facts(source::facts);
        alerting.startOver();
        charts.startOver();
        return empty;
    }

    /// A port that another process has.
    public static final class PortException extends IOException {
        private final int port;
        private final String option;

        PortException(int port, String option, BindException cause) {
            super(cause.getMessage() + PortOwner.of(port).map(owner -> " by " + owner).orElse(""), cause);
            this.port = port;
            this.option = option;
        }

        public int port() {
            return port;
        }

        /// The option that chooses another.
        public String option() {
            return option;
        }
    }

    private SnapshotFeed startFeed(HostGuard guard) throws IOException {
        try {
            return WebSocketFeed.start(
                    new InetSocketAddress(options.listen(), options.webSocketPort()), Connections.Limits.USUAL, guard);
        } catch (BindException e) {
            throw new PortException(options.webSocketPort(), "--ws-port", e);
        }
    }

    /// Starts serving; source and alerting are closed with the server. Both ports are open when this returns.
    public static MetricsServer start(EventSource source, Options options, Alerting alerting) throws IOException {
        MetricsServer server = new MetricsServer(source, options, alerting);
        server.otlp = options.otlp().map(server::startPushing);
        Thread.ofPlatform().daemon().name("zernel-events").start(server::readEvents);
        server.analysis.start();
        Thread.ofPlatform().daemon().name("zernel-snapshots").start(server::publishSnapshots);
        return server;
    }

    public int metricsPort() {
        return http.port();
    }

    public int webSocketPort() {
        return feed.port();
    }

    public SourceState state() {
        SourceState state = source.state();
        String note = Stream.of(state.note(), analysis.note())
                .filter(part -> !part.isEmpty())
                .collect(Collectors.joining("; "));
        return new SourceState(state.mode(), state.path(), state.speed(), state.ended(), note);
    }

    /// Waits until the source has ended; false when this server was closed before.
    ///
    /// @throws IOException what ended it, when it did not end well
    /// @throws RecordingException if that is the recording's fault
    public boolean awaitEnd() throws IOException, InterruptedException {
        ended.await();
        Exception bad = failure.get();
        if (bad instanceof IOException io) {
            throw io;
        }
        if (bad instanceof RecordingException known) {
            throw known;
        }
        if (bad != null) {
            throw new IllegalStateException("reading events", bad);
        }
        return closed.getCount() > 0;
    }

    @Override
    public void close() {
        closed.countDown();
        otlp.ifPresent(Otlp::close);
        analysis.close();
        source.close();
        http.close();
        feed.close();
        alerting.close();
    }

    private void readEvents() {
        boolean well = false;
        try {
            analysis.awaitBegin();
            do {
                Optional<EventBatch> batch = source.next();
                while (batch.isPresent()) {
                    apply(batch.get());
                    batch = source.next();
                }
                analysis.awaitEnd();
                live.finish();
                ended.countDown();
            } while (source.awaitMore());
            well = true;
        } catch (IOException | RuntimeException e) {
            failure.set(e);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } finally {
            reads = well;
            ended.countDown();
        }
    }

    private void apply(EventBatch batch) {
        if (batch.startsOver()) {
            live = emptyMetrics();
        }
        live.apply(batch);
        if (batch.rows() > 0) {
            news.release();
        }
    }

    private void publishSnapshots() {
        try {
            while (!awaitsClose()) {
                publishSnapshot();
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /// Waits for an interval. Of a recording that is being written, a little less or more: until just after a batch has
    /// come, so that what is in it need not wait for the next snapshot.
    private boolean awaitsClose() throws InterruptedException {
        SourceState state = source.state();
        long millis = options.interval().toMillis();
        if (state.mode().equals("replay") || state.ended()) {
            return closed.await(millis, TimeUnit.MILLISECONDS);
        }
        long slack = millis * 3 / 20;
        if (closed.await(millis - slack, TimeUnit.MILLISECONDS)) {
            return true;
        }
        news.drainPermits();
        boolean _ = news.tryAcquire(2 * slack, TimeUnit.MILLISECONDS);
        return closed.getCount() == 0;
    }

    private void publishSnapshot() {
        try {
            SourceState state = source.state();
            if (!state.mode().equals("replay") && !state.ended()) {
                live.moveTo(source.nowNanos());
            }
            feed.publish(snapshotJson());
            publishedNanos = System.nanoTime();
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "publishing a snapshot", e);
        }
    }

    private Map<String, HttpEndpoint.Page> pages() throws IOException {
        HttpEndpoint.Page health = new Health(parts());
        HttpEndpoint.Page snapshot = _ -> HttpEndpoint.Answer.json(200, snapshotJson());
        Map<String, HttpEndpoint.Page> pages = new HashMap<>(PageFiles.load(feed.port()));
        pages.put("/metrics", this::metrics);
        pages.put("/healthz", health);
        pages.put("/health", health);
        pages.put("/api/snapshot", snapshot);
        pages.put("/api/percentiles", _ -> HttpEndpoint.Answer.json(200, percentilesJson()));
        pages.put("/api/alerts", _ -> HttpEndpoint.Answer.json(200, alerting.json()));
        pages.put("/json", snapshot);
        pages.put("/api/charts", _ -> HttpEndpoint.Answer.json(200, Snapshots.json(charts.all())));
        pages.put("/api/replay", new ReplayPage(source));
        return pages;
    }

    private List<Health.Part> parts() {
        return List.of(
                Health.Part.working("websocket", feed::answers, "its port does not answer"),
                new Health.Part("snapshots", this::silence),
                Health.Part.working("source", () -> reads, "events are no longer read; the log says why"),
                Health.Part.working("analysis", analysis::works, "its thread has died; the log says why"),
                Health.Part.working("alerting", alerting::works, "its webhook's thread has died; the log says why"),
                Health.Part.working(
                        "otlp", () -> otlp.map(Otlp::works).orElse(true), "its thread has died; the log says why"));
    }

    private String silence() {
        long silentNanos = System.nanoTime() - publishedNanos;
        return silentNanos < LONGEST_SILENCE.plus(options.interval().multipliedBy(3)).toNanos()
                ? ""
                : "none was made for " + silentNanos / 1_000_000_000 + " s; the log says why";
    }

    private void read(Consumer<LiveMetrics.View> reader) {
        live.read(source.nowNanos(), source.state().ended(), reader);
    }

    private Otlp startPushing(OtlpTarget target) {
        OtlpIdentity identity =
                OtlpIdentity.of(source.facts().recording().host(), http.port(), options.series().labels());
        Otlp started = Otlp.start(target, identity, this::read, analysis::findings);
        alerting.tellAlso(started::tell);
        return started;
    }

    private HttpEndpoint.Answer metrics(HttpEndpoint.Asked asked) {
        Exposition.Format format = Exposition.Format.of(asked.headers().get("Accept"));
        AtomicReference<String> text = new AtomicReference<>("");
        read(view -> text.set(Exposition.of(view, format)));
        return new HttpEndpoint.Answer(200, format.contentType(), text.get());
    }

    private String percentilesJson() {
        AtomicReference<String> json = new AtomicReference<>("");
        read(view -> json.set(PercentilesPage.json(view)));
        return json.get();
    }

    private String snapshotJson() {
        SourceState state = state();
        Snapshots.Context context = new Snapshots.Context(
                options.interval(), state, source.playback().map(Playback::status).orElse(null), analysis.findings(), alerting.raised());
        AtomicReference<@Nullable Snapshot> snapshot = new AtomicReference<>();
        live.read(source.nowNanos(), state.ended(), view -> snapshot.set(Snapshots.of(view, context)));
        return Snapshots.json(Objects.requireNonNull(snapshot.get()));
    }
}
