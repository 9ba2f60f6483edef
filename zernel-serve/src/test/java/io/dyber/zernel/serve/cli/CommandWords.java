package io.dyber.zernel.serve.cli;

import io.dyber.zernel.analyze.cli.Analyze;
import io.dyber.zernel.record.cli.Record;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;

/// A command line of one of the three programs as documents show it, cut into words as a shell does.
///
/// @param words `zernel-record`, `zernel-analyze` or `zernel`, then the arguments
record CommandWords(List<String> words) {
    private static final Pattern WORD = Pattern.compile("'([^']*)'|\"((?:[^\"\\\\]|\\\\.)*)\"|([^\\s'\"]+)|(\\s{3,}|\\s+[|>&#].*)");

    /// @param line may begin with `sudo`, then `jbang` and an alias of our catalog, and end with a redirection, a pipe, or
    /// a remark after `#` or three blanks
    static CommandWords of(String line) {
        List<String> words = new ArrayList<>();
        Matcher word = WORD.matcher(line.replaceFirst("^(sudo (-\\S+ )*)?(jbang (-\\S+ )*)?", ""));
        int end = -1;
        while (word.find() && word.group(4) == null) {
            String text = word.group(1) != null ? word.group(1) : word.group(2) != null ? word.group(2) : word.group(3);
            if (word.start() == end) {
                words.set(words.size() - 1, words.getLast() + text);
            } else {
                words.add(text);
            }
            end = word.end();
        }
        String program = words.getFirst().replaceFirst("^(\\./|.*/bin/)", "").replaceFirst("@dyber.*", "");
        if (program.equals("zernel-serve")) {
            program = "zernel";
            words.add(1, "serve");
        }
        words.set(0, program);
        // The umbrella hands these on.
        if (program.equals("zernel") && words.size() > 1) {
            switch (words.get(1)) {
                case "record", "analyze" -> {
                    words.set(0, "zernel-" + words.remove(1));
                }
                case "doctor" -> words.set(0, "zernel-record");
                default -> {
                    // is the umbrella's own
                }
            }
        }
        return new CommandWords(List.copyOf(words));
    }

    CommandLine program() {
        return switch (words.getFirst()) {
            case "zernel" -> Zernel.commandLine();
            case "zernel-record" -> Record.commandLine();
            case "zernel-analyze" -> Analyze.commandLine();
            default -> throw new IllegalArgumentException("no program of ours: " + words);
        };
    }

    String[] arguments() {
        return words.subList(1, words.size()).toArray(String[]::new);
    }

    /// @throws CommandLine.ParameterException if the program does not know these arguments
    void parse() {
        program().parseArgs(arguments());
    }
}
