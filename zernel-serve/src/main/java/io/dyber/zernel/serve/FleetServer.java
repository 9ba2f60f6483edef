package io.dyber.zernel.serve;

import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.serve.fleet.FleetAnalysis;
import io.dyber.zernel.serve.http.AccessToken;
import io.dyber.zernel.serve.http.Connections;
import io.dyber.zernel.serve.http.HostGuard;
import io.dyber.zernel.serve.http.HttpEndpoint;
import io.dyber.zernel.serve.http.PageFiles;
import io.dyber.zernel.serve.metric.CommonLabels;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Serves what the digests of many machines say together, as they arrive in a folder or by PUT: Prometheus metrics, JSON and
/// a web page, until closed.
public final class FleetServer implements AutoCloseable {
    private final Options options;
    private final Alerting alerting;
    private final FleetAnalysis analysis;
    private final DigestUpload upload;
    private final HttpEndpoint http;

    /// Where and how to serve.
    ///
    /// @param folder where digests arrive
    /// @param pace how often there is a look
    /// @param listen the address
    /// @param port HTTP; 0 takes a free one
    /// @param labels that all series have
    /// @param token what clients must show, if anything; without one no digest is taken by PUT
    /// @param names by which clients may call the server, besides its own
    public record Options(
            Path folder,
            FleetAnalysis.Pace pace,
            InetAddress listen,
            int port,
            CommonLabels labels,
            Optional<AccessToken> token,
            Set<String> names) {}

    private FleetServer(Options options, Alerting alerting) throws IOException {
        this.options = options;
        this.alerting = alerting;
        this.analysis = new FleetAnalysis(options.folder(), options.pace(), this::second);
        this.upload = new DigestUpload(options.folder(), options.token().isPresent());
        try {
            this.http = HttpEndpoint.start(
                    new InetSocketAddress(options.listen(), options.port()),
                    Connections.Limits.USUAL,
                    new HostGuard(options.listen(), options.names(), options.token()),
                    pages(),
                    upload);
        } catch (BindException e) {
            analysis.close();
            throw new MetricsServer.PortException(options.port(), "--metrics-port", e);
        } catch (IOException e) {
            analysis.close();
            throw e;
        }
    }

    /// Starts serving; alerting is closed with the server. The port is open when this returns.
    ///
    /// @throws RecordingException if there is no such folder
    public static FleetServer start(Options options, Alerting alerting) throws IOException {
        FleetServer server = new FleetServer(options, alerting);
        server.analysis.start();
        return server;
    }

    public int port() {
        return http.port();
    }

    @Override
    public void close() {
        http.close();
        analysis.close();
        alerting.close();
    }

    private Map<String, HttpEndpoint.Page> pages() throws IOException {
        HttpEndpoint.Page health = new Health(List.of(
                Health.Part.working("fleet", analysis::works, "its thread has died; the log says why"),
                Health.Part.working("alerting", alerting::works, "its webhook's thread has died; the log says why")));
        Map<String, HttpEndpoint.Page> pages = new HashMap<>(PageFiles.fleet());
        pages.put("/metrics", this::metrics);
        pages.put("/healthz", health);
        pages.put("/health", health);
        pages.put("/api/fleet", _ -> HttpEndpoint.Answer.json(200, json()));
        pages.put("/api/alerts", _ -> HttpEndpoint.Answer.json(200, alerting.json()));
        return pages;
    }

    private void second() {
        long nowMs = System.currentTimeMillis();
        alerting.evaluate(nowMs * 1_000_000, series(nowMs));
    }

    private FleetSeries series(long nowMs) {
        FleetSeries series = FleetSeries.of(analysis.state(), analysis.arrivals(), upload.refused(), nowMs);
        alerting.export(series.series());
        return series;
    }

    private HttpEndpoint.Answer metrics(HttpEndpoint.Asked asked) {
        Exposition.Format format = Exposition.Format.of(asked.headers().get("Accept"));
        FleetSeries series = series(System.currentTimeMillis());
        return new HttpEndpoint.Answer(200, format.contentType(), Exposition.of(series.families(), options.labels(), format));
    }

    private String json() {
        return Snapshots.json(FleetPage.of(
                analysis.state(), analysis.arrivals(), alerting.raised(), upload.refused(), System.currentTimeMillis()));
    }
}
