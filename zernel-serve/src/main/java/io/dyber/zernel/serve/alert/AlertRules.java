package io.dyber.zernel.serve.alert;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/// What a rule file says.
///
/// @param webhook whom the rules with the action `webhook` tell
public record AlertRules(List<AlertRule> rules, Optional<Webhook.Options> webhook) {
    /// A rule file that cannot be used.
    public static final class RuleFileException extends Exception {
        private final List<String> faults;

        RuleFileException(List<String> faults) {
            super(String.join("\n", faults));
            this.faults = List.copyOf(faults);
        }

        /// One line each, `file:line: what`.
        public List<String> faults() {
            return faults;
        }
    }

    public AlertRules {
        rules = List.copyOf(rules);
    }

    /// The rules of those who give none.
    public static AlertRules defaults() {
        return shipped("default-rules.yaml");
    }

    /// The rules of those who serve a fleet and give none.
    public static AlertRules fleetDefaults() {
        return shipped("fleet-rules.yaml");
    }

    private static AlertRules shipped(String name) {
        try (InputStream file = AlertRules.class.getResourceAsStream(name)) {
            byte[] text = Objects.requireNonNull(file).readAllBytes();
            return RuleFile.parse(name, new String(text, StandardCharsets.UTF_8));
        } catch (IOException | RuleFileException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Reads a file of YAML or JSON.
    ///
    /// @throws RuleFileException with all its faults
    /// @throws IOException if it cannot be read
    public static AlertRules read(Path file) throws IOException, RuleFileException {
        return RuleFile.parse(file.toString(), Files.readString(file));
    }
}
