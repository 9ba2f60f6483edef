package io.dyber.zernel.serve.cli;

import io.dyber.zernel.serve.AlertReplay;
import io.dyber.zernel.serve.alert.Alert;
import io.dyber.zernel.serve.alert.AlertRules.RuleFileException;
import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.alert.PrometheusRules;
import io.dyber.zernel.serve.live.SeriesPolicy;
import io.dyber.zernel.serve.metric.GrafanaDashboard;
import io.dyber.zernel.serve.source.EventSource;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.MalformedInputException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine;

/// The options of `zernel serve` about alert rules, and what it does with them instead of serving.
final class RuleOptions {
    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(names = "--rules", paramLabel = "FILE",
            description = "Alert rules. Default: GPU memory above 95 %% for 5 s")
    private @Nullable Path rules;

    @Option(names = "--alerts-only",
            description = "Serve nothing; print when rules would have fired.")
    private boolean alertsOnly;

    @Option(names = "--check-rules", paramLabel = "FILE", description = "Say what is wrong with a rule file, and stop.")
    private @Nullable Path checked;

    @Option(names = "--generate", paramLabel = "WHAT",
            description = "Print prometheus-rules or grafana-dashboard; stop.")
    private @Nullable String generated;

    /// Does what needs no recording; empty when that was not asked for.
    ///
    /// @param histograms whether the server will show durations as histograms
    Optional<Integer> answer(boolean histograms) throws Failure {
        if (checked != null) {
            AlertRules good = read(checked);
            out().println(checked + ": " + counted(good.rules().size(), "rule") + ", no faults");
            return Optional.of(0);
        }
        if (generated == null) {
            return Optional.empty();
        }
        out().print(switch (generated) {
            case "prometheus-rules" -> PrometheusRules.yaml(rules(), histograms);
            case "grafana-dashboard" -> GrafanaDashboard.json();
            default -> throw new CommandLine.ParameterException(
                    spec.commandLine(), "--generate makes prometheus-rules or grafana-dashboard, not '" + generated + "'");
        });
        out().flush();
        return Optional.of(0);
    }

    boolean alertsOnly() {
        return alertsOnly;
    }

    AlertRules rules() throws Failure {
        return rules == null ? AlertRules.defaults() : read(rules);
    }

    /// Those of a fleet.
    AlertRules fleetRules() throws Failure {
        return rules == null ? AlertRules.fleetDefaults() : read(rules);
    }

    /// Prints at which second of the recording the rules fire.
    int replay(EventSource source, SeriesPolicy policy) throws Failure, IOException, InterruptedException {
        AtomicInteger fired = new AtomicInteger();
        AlertReplay.Outcome outcome = AlertReplay.run(source, rules(), policy, change -> {
            out().printf("%+9.0f s  %s%n", change.secondsIn(), line(change.alert()));
            out().flush();
            if (change.alert().state() == Alert.State.FIRING) {
                fired.incrementAndGet();
            }
        });
        PrintWriter err = spec.commandLine().getErr();
        err.println(spec.qualifiedName(" ") + ": " + counted(fired.get(), "alert") + " fired in "
                + Math.round(outcome.seconds()) + " s of the recording");
        if (!outcome.note().isEmpty()) {
            err.println(spec.qualifiedName(" ") + ": " + outcome.note());
        }
        outcome.untried().forEach(rule -> err.println(spec.qualifiedName(" ") + ": not tried: rule '" + rule.name()
                + "', as " + rule.metric().name() + " is there only without --alerts-only"));
        err.flush();
        return 0;
    }

    /// `2026-11-21T17:00:12Z firing critical gpu-memory-almost-full{gpu_id="0"}: 0.97 > 0.95 for 5 s`.
    static String line(Alert alert) {
        String labels = alert.labels().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(label -> label.getKey() + "=\"" + label.getValue() + "\"")
                .collect(Collectors.joining(","));
        String what = alert.at() + " %-8s %-8s %s".formatted(
                alert.state().label(), alert.rule().severity().label(), alert.rule().name());
        return what + (labels.isEmpty() ? "" : "{" + labels + "}")
                + (alert.state() == Alert.State.FIRING ? ": " + alert.condition() : "");
    }

    private static AlertRules read(Path file) throws Failure {
        try {
            return AlertRules.read(file);
        } catch (RuleFileException e) {
            String faults = e.faults().size() == 1 ? "a fault" : e.faults().size() + " faults";
            throw new Failure("reading rules '" + file + "': " + faults + "\n" + String.join("\n", e.faults()), null);
        } catch (NoSuchFileException _) {
            throw new Failure("reading rules '" + file + "': no such file", null);
        } catch (MalformedInputException _) {
            throw new Failure("reading rules '" + file + "': not text in UTF-8", null);
        } catch (IOException e) {
            throw new Failure("reading rules '" + file + "': " + e.getMessage(), null);
        }
    }

    private static String counted(int count, String noun) {
        return count + " " + noun + (count == 1 ? "" : "s");
    }

    private PrintWriter out() {
        return spec.commandLine().getOut();
    }
}
