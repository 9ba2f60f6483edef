package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.duckdb.Table;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// What steps are called: those of inference are engine steps, and training is only said where it was seen.
///
/// @param inferring subjects of findings whose steps are engine steps
public record StepWords(Set<String> inferring) {
    /// The member of [Finding#more] that names the step of a finding that is not of training, or is another mean than the report's.
    static final String KEY = "step_is";

    private static final String ENGINE_STEP = "engine step";
    private static final Pattern STEP = Pattern.compile("(?<!engine )(?<![\\w-])(?:training )?step(s?)(?![\\w-])");

    static StepWords of(Map<String, Table> sections) {
        Table threads = sections.get("training_threads");
        if (threads == null) {
            return new StepWords(Set.of());
        }
        return new StepWords(threads.rows().stream()
                .filter(StepWords::infers)
                .map(thread -> "pid " + thread.text("pid"))
                .collect(Collectors.toSet()));
    }

    public static boolean infers(Table.Row thread) {
        return "inference".equals(purpose(thread));
    }

    /// A step of kind train, as a text names it.
    public static String steady(Table.Row thread) {
        return switch (purpose(thread)) {
            case "inference" -> ENGINE_STEP;
            case "unknown" -> "step";
            default -> "training step";
        };
    }

    /// The step that a finding is about.
    static String step(Finding finding) {
        return finding.more().get(KEY) instanceof String step ? step : "step";
    }

    private static String purpose(Table.Row thread) {
        String purpose = thread.positions().containsKey("purpose") ? thread.text("purpose") : null;
        return purpose == null ? "training" : purpose;
    }

    /// The same findings, those of inference in its words.
    Diagnosis in(Diagnosis diagnosis) {
        if (inferring.isEmpty()) {
            return diagnosis;
        }
        List<Finding> findings = diagnosis.findings().stream()
                .map(finding -> isOfInference(finding) ? reworded(finding) : finding)
                .toList();
        return new Diagnosis(findings, diagnosis.skipped());
    }

    private boolean isOfInference(Finding finding) {
        return inferring.stream().anyMatch(pid -> (finding.subject() + " ").contains(pid + " "));
    }

    private static Finding reworded(Finding finding) {
        Map<String, @Nullable Object> more = new LinkedHashMap<>(finding.more());
        more.put(KEY, ENGINE_STEP);
        return new Finding(
                finding.name(),
                engineSteps(finding.title()),
                finding.subject(),
                finding.value(),
                engineSteps(finding.unit()),
                finding.severity(),
                finding.lostMillisPerStep(),
                finding.maxSpeedup(),
                engineSteps(finding.evidence()),
                engineSteps(finding.advice()),
                finding.nextCommand(),
                more,
                finding.lines());
    }

    static String engineSteps(String text) {
        return STEP.matcher(text).replaceAll(ENGINE_STEP + "$1").replace(" a " + ENGINE_STEP, " an " + ENGINE_STEP);
    }
}
