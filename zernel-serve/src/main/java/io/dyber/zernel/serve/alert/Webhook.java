package io.dyber.zernel.serve.alert;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// Tells a URL of alerts, one POST each and in order, by a thread of its own. What cannot be delivered is tried again,
/// later and later; what does not fit into the queue meanwhile is dropped and counted.
public final class Webhook implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Webhook.class.getName());
    private static final int QUEUE = 1000;
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);
    private static final Duration LAST_WORDS = Duration.ofSeconds(5);

    private final Options options;
    private final Duration firstPause;
    private final BlockingQueue<Alert> queue = new ArrayBlockingQueue<>(QUEUE);
    private final CountDownLatch closing = new CountDownLatch(1);
    private final HttpClient http;
    private final Thread thread;
    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private final AtomicLong dropped = new AtomicLong();

    /// Whom to tell, and how patiently.
    ///
    /// @param timeout of connecting, and of an answer
    /// @param retries how often an alert is sent again before it is given up
    public record Options(URI url, AlertPayload payload, Duration timeout, int retries) {}

    /// How many alerts were delivered, given up, and dropped because the queue was full.
    public record Counts(long sent, long failed, long dropped) {}

    public Webhook(Options options) {
        this(options, Duration.ofSeconds(1));
    }

    /// @param firstPause before the first retry; doubled for each that follows
    Webhook(Options options, Duration firstPause) {
        this.options = options;
        this.firstPause = firstPause;
        this.http = HttpClient.newBuilder()
                .connectTimeout(options.timeout())
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
        this.thread = Thread.ofPlatform().daemon().name("zernel-webhook").start(this::deliverAll);
    }

    /// Sends the alert soon; never waits.
    public void accept(Alert alert) {
        if (!queue.offer(alert)) {
            dropped.incrementAndGet();
        }
    }

    public Counts counts() {
        return new Counts(sent.get(), failed.get(), dropped.get());
    }

    /// Whether there still is who delivers them.
    public boolean works() {
        return thread.isAlive();
    }

    /// Gives what is queued one last chance, for a few seconds.
    @Override
    public void close() {
        closing.countDown();
        try {
            thread.join(LAST_WORDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        thread.interrupt();
        http.shutdownNow();
    }

    private void deliverAll() {
        try {
            while (!queue.isEmpty() || closing.getCount() > 0) {
                Alert alert = queue.poll(100, TimeUnit.MILLISECONDS);
                if (alert != null) {
                    deliver(alert);
                }
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void deliver(Alert alert) throws InterruptedException {
        Duration pause = firstPause;
        for (int attempt = 0; ; attempt++) {
            String why = post(alert);
            if (why.isEmpty()) {
                sent.incrementAndGet();
                return;
            }
            boolean again = attempt < options.retries() && closing.getCount() > 0;
            LOG.log(again ? Level.DEBUG : Level.WARNING, "telling ''{0}'' of alert ''{1}'': {2}", options.url(),
                    alert.rule().name(), why);
            if (!again) {
                failed.incrementAndGet();
                return;
            }
            closing.await(pause.toMillis(), TimeUnit.MILLISECONDS);
            pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
        }
    }

    /// Why it was not accepted; empty when it was.
    private String post(Alert alert) throws InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(options.url())
                .timeout(options.timeout())
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(options.payload().json(alert)))
                .build();
        try {
            int status = http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
            return status / 100 == 2 ? "" : "status " + status;
        } catch (IOException e) {
            return e.getMessage() == null ? e.toString() : e.getMessage();
        }
    }
}
