package io.dyber.zernel.analyze;

import io.dyber.zernel.analyze.sql.LineRule;
import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.analyze.sql.Threshold;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What `docs/findings.md` says of findings, from the headers of `sql/findings/*.sql`.
final class FindingReference {
    private static final Path PAGE = Path.of("../docs/findings.md");
    private static final String BEGIN = "<!-- written by FindingReferenceTest -Dgolden.update -->\n";
    private static final String END = "<!-- end -->";
    private static final Pattern ADVICE =
            Pattern.compile("evidence,[^\n]*\n((?:(?!evidence,).)*)AS advice,", Pattern.DOTALL);
    /// A row of a table `causes (cause, evidence, advice)`.
    private static final Pattern CAUSE = Pattern.compile("\\('[^'\n]*', (?:'[^'\n]*'|NULL),\\s+('[^'\n]*')\\)");
    private static final Pattern LITERAL = Pattern.compile("'((?:[^']|'')*)'");

    private FindingReference() {}

    /// The part of the page that is written here.
    static String page() throws IOException {
        String page = Files.readString(PAGE);
        return page.substring(page.indexOf(BEGIN) + BEGIN.length(), page.indexOf(END));
    }

    /// Writes that part.
    static void write(String reference) throws IOException {
        Files.writeString(PAGE, Files.readString(PAGE).replace(page(), reference));
    }

    /// The findings that the page does not have, or otherwise than their headers say.
    static List<String> missing(List<SqlObject> findings) throws IOException {
        String page = page();
        return findings.stream()
                .filter(finding -> !page.contains(row(finding)) || !page.contains(section(finding)))
                .map(finding -> "finding '" + finding.name()
                        + "': docs/findings.md does not say what its header says: -Dtest=FindingReferenceTest -Dgolden.update")
                .toList();
    }

    static String of(List<SqlObject> findings) {
        StringBuilder page = new StringBuilder("| finding | says |\n|---|---|\n");
        for (SqlObject finding : findings) {
            page.append(row(finding));
        }
        findings.forEach(finding -> page.append(section(finding)));
        return page.toString();
    }

    private static String row(SqlObject finding) {
        return "| [`%s`](#%s) | %s |\n".formatted(finding.name(), finding.name(), cell(finding.title()));
    }

    private static String section(SqlObject finding) {
        StringBuilder section = new StringBuilder("\n## " + finding.name() + "\n\n**" + finding.title() + "** ");
        section.append(prose(finding.why())).append("\n\n");
        List<String> advice = advice(finding);
        if (advice.size() == 1) {
            section.append("- Try: ").append(advice.getFirst()).append(".\n");
        } else {
            section.append("- Try, by what was seen:\n");
            advice.forEach(text -> section.append("  - ").append(text).append("\n"));
        }
        section.append("- Severity: ").append(finding.keys().getOrDefault("severity", "")).append(".\n");
        section.append("- Look further: ").append(finding.keys().getOrDefault("hint", "")).append(".\n");
        LineRule.of(finding).forEach(rule -> section.append("- Names the lines that hold most of ")
                .append(rule.of())
                .append(rule.cause().map(cause -> ", where the cause is `" + cause + "`").orElse(""))
                .append(".\n"));
        section.append("- Reads `").append(String.join("`, `", finding.needs())).append("`.\n");
        List<Threshold> thresholds = Threshold.of(finding);
        if (!thresholds.isEmpty()) {
            section.append("\n| threshold | default | what it is |\n|---|---:|---|\n");
            for (Threshold threshold : thresholds) {
                section.append("| `%s.%s` | %s | %s |\n".formatted(
                        finding.name(), threshold.name(), threshold.value(), cell(threshold.meaning())));
            }
        }
        return section.toString();
    }

    /// Paragraphs, the one about when it does not apply on its own.
    private static String prose(String why) {
        return Stream.of(why.replace("\nDoes not apply ", "\n\nDoes not apply ").split("\n\n+"))
                .map(paragraph -> paragraph.replace('\n', ' '))
                .collect(Collectors.joining("\n\n"));
    }

    /// The texts that its column `advice` chooses from; N stands for a number of the recording.
    static List<String> advice(SqlObject finding) {
        String columns = ADVICE.matcher(finding.sql()).results().map(column -> column.group(1)).collect(Collectors.joining("\n"));
        String chosen = !columns.contains("causes.advice")
                ? columns
                : CAUSE.matcher(finding.sql()).results().map(row -> row.group(1)).collect(Collectors.joining("\n"));
        // A text that goes on in the next line is one.
        return LITERAL.matcher(chosen.replaceAll("(?<!')'\\s*\\|\\|\\s*'(?!')", "")).results()
                .map(literal -> literal.group(1).replaceAll("(?<=[a-z])\\{}", "s").replace("{}", "N").replace("''", "'"))
                .filter(text -> text.contains(" ") && text.length() > 20)
                .distinct()
                .toList();
    }

    private static String cell(String text) {
        return text.replace("|", "\\|");
    }
}
