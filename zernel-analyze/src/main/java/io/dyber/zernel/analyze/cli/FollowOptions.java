package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.cli.option.Job;
import io.dyber.zernel.analyze.export.DigestPush;
import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.format.TimeText;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The options of `zernel-analyze digest` about a recording that is being written.
final class FollowOptions {
    private static final Duration LEAST = Duration.ofSeconds(1);
    private static final Duration MOST = Duration.ofHours(1);

    @Option(names = "--follow", description = "Digest the last seconds while it is being written.")
    boolean asked;

    @Option(names = "--every", paramLabel = "TIME", description = "With --follow: how often (default: 10s).")
    @Nullable String every;

    @Option(names = "--last", paramLabel = "TIME", description = "With --follow: how many seconds (default: 30s).")
    @Nullable String last;

    @Option(names = "--push", paramLabel = "URL", description = "Send them to this zernel serve --fleet, too.")
    @Nullable URI push;

    @Option(names = "--token-file", paramLabel = "FILE", description = "With --push: the file with that server's token.")
    @Nullable Path tokenFile;

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    /// Whether a recording is to be followed.
    ///
    /// @throws ParameterException if options are given that say how, but not that it is
    boolean isAsked() {
        if (!asked && (every != null || last != null || push != null || tokenFile != null)) {
            throw new ParameterException(spec.commandLine(), "--every, --last, --push and --token-file need --follow");
        }
        return asked;
    }

    /// Follows it until it ends.
    void run(Job job, Path output) {
        boolean toFolder = !output.toString().isEmpty();
        if (job.files.size() != 1) {
            throw new ParameterException(spec.commandLine(), "--follow takes one recording or folder");
        }
        if (!toFolder && push == null) {
            throw new ParameterException(spec.commandLine(), "--follow needs -o DIR or --push URL");
        }
        Duration between = time("--every", every, Duration.ofSeconds(10));
        Duration length = time("--last", last, Duration.ofSeconds(30));
        if (length.compareTo(between) < 0) {
            throw new ParameterException(spec.commandLine(), "--last must be at least --every, or what lies between is in no digest");
        }
        try (DigestPush sender = push == null ? null : new DigestPush(url(push), token())) {
            new FollowedDigests(
                            new FollowedDigests.Options(
                                    Path.of(job.files.getFirst()),
                                    between,
                                    length,
                                    toFolder ? output : null,
                                    Optional.ofNullable(sender),
                                    job.input.modest(),
                                    job.input.library()),
                            spec.commandLine().getErr())
                    .run();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private Duration time(String option, @Nullable String text, Duration usual) {
        Optional<Duration> time = text == null ? Optional.of(usual) : TimeText.parse(text);
        return time.filter(one -> one.compareTo(LEAST) >= 0 && one.compareTo(MOST) <= 0)
                .orElseThrow(() -> new ParameterException(spec.commandLine(), option + " is a time from 1s to 1h, not '" + text + "'"));
    }

    private URI url(URI given) {
        String scheme = given.getScheme();
        if (given.getHost() == null || !("http".equals(scheme) || "https".equals(scheme))) {
            throw new ParameterException(spec.commandLine(), "--push takes an URL such as http://head:9091, not '" + given + "'");
        }
        return given;
    }

    private @Nullable String token() {
        if (tokenFile == null) {
            return null;
        }
        try {
            return Files.readString(tokenFile).strip();
        } catch (IOException e) {
            String why = e instanceof NoSuchFileException ? "no such file" : String.valueOf(e.getMessage());
            throw new RecordingException("reading '" + tokenFile + "': " + why, "it holds the token of zernel serve --fleet --token-file");
        }
    }
}
