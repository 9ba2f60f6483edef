package io.dyber.zernel.serve.otlp;

import io.opentelemetry.exporter.internal.FailedExportException.HttpExportException;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.export.HttpResponse;
import java.net.ConnectException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Whether requests to one address arrive: counts those that do not, and says so when that begins and when it ends.
final class OtlpDelivery {
    /// After which OTLP has the same data sent again.
    private static final Set<Integer> TRY_AGAIN = Set.of(429, 502, 503, 504);

    private final String what;
    private final Consumer<String> log;
    private final AtomicLong failures = new AtomicLong();
    private boolean fails;

    /// What became of a request.
    enum Outcome {
        TAKEN,
        /// It may be taken later.
        NOT_YET,
        /// It will never be taken.
        REFUSED
    }

    /// @param signal `metrics` or `logs`
    /// @param log told one line when requests no longer arrive, and when they do again
    OtlpDelivery(String signal, String endpoint, Consumer<String> log) {
        this.what = "pushing " + signal + " to '" + endpoint + "'";
        this.log = log;
    }

    long failures() {
        return failures.get();
    }

    /// Waits for the answer.
    Outcome await(CompletableResultCode answer, Duration longest) {
        boolean taken = answer.join(longest.toMillis(), TimeUnit.MILLISECONDS).isSuccess();
        if (taken && fails) {
            log.accept(what + ": works again");
        } else if (!taken) {
            failures.incrementAndGet();
            if (!fails) {
                log.accept(what + ": " + why(answer.getFailureThrowable()) + "; goes on trying");
            }
        }
        fails = !taken;
        return taken ? Outcome.TAKEN : outcome(response(answer.getFailureThrowable()));
    }

    private static Outcome outcome(@Nullable HttpResponse response) {
        return response == null || TRY_AGAIN.contains(response.getStatusCode()) ? Outcome.NOT_YET : Outcome.REFUSED;
    }

    private static @Nullable HttpResponse response(@Nullable Throwable failure) {
        return failure instanceof HttpExportException answered ? answered.getResponse() : null;
    }

    private static String why(@Nullable Throwable failure) {
        HttpResponse response = response(failure);
        if (response != null) {
            return "status " + response.getStatusCode();
        }
        List<Throwable> causes = Stream.iterate(failure, Objects::nonNull, Throwable::getCause).toList();
        if (causes.isEmpty() || isThere(causes, HttpTimeoutException.class)) {
            return "no answer in time";
        }
        if (isThere(causes, UnresolvedAddressException.class)) {
            return "no such host";
        }
        if (isThere(causes, ConnectException.class)) {
            return "nobody listens there";
        }
        Throwable first = causes.getLast();
        return first.getMessage() == null ? first.getClass().getSimpleName() : first.getMessage();
    }

    private static boolean isThere(List<Throwable> causes, Class<? extends Throwable> kind) {
        return causes.stream().anyMatch(kind::isInstance);
    }
}
