package io.dyber.zernel.dist;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.OptionSpec;

/// A program's completions for fish: one `complete` line for each command and option, under the commands typed so far.
final class FishCompletion {
    private final String program;
    private final String function;
    private final StringBuilder script = new StringBuilder();

    private FishCompletion(String program) {
        this.program = program;
        this.function = "__" + program.replace('-', '_') + "_in";
    }

    static String of(CommandLine program) {
        FishCompletion completion = new FishCompletion(program.getCommandName());
        // The last word keeps `string match` from reading standard input where there are no others.
        completion.script.append("""
                # Succeeds when the words typed after %s begin with these.
                function %s
                    set -l typed (commandline -opc)
                    set -l words (string match --invert -- '-*' $typed[2..-1] end)
                    set -l n (count $argv)
                    test (count $words) -gt $n; and test "$words[1..$n]" = "$argv"
                end
                """.formatted(completion.program, completion.function));
        completion.command(List.of(), program);
        return completion.script.toString();
    }

    private void command(List<String> path, CommandLine command) {
        Map<String, CommandLine> children = Programs.commands(command);
        String typed = path.isEmpty() ? "" : function + " " + String.join(" ", path);
        String before = children.isEmpty() ? typed : (typed.isEmpty() ? "" : typed + "; and ")
                + "not __fish_seen_subcommand_from " + String.join(" ", children.keySet());
        String condition = before.isEmpty() ? "" : " -n " + quoted(before);
        children.forEach((name, child) ->
                script.append("complete -c %s%s -a %s -d %s%n".formatted(program, condition, name, quoted(Texts.summary(child)))));
        Help help = new Help(command.getCommandSpec(), Help.defaultColorScheme(Ansi.OFF));
        for (OptionSpec option : Programs.options(command)) {
            script.append("complete -c %s%s%s%s -d %s%n".formatted(program, condition, names(option), values(option),
                    quoted(Texts.description(help, option))));
        }
        children.forEach((name, child) -> {
            List<String> below = new ArrayList<>(path);
            below.add(name);
            command(below, child);
        });
    }

    private static String names(OptionSpec option) {
        StringBuilder names = new StringBuilder();
        for (String name : option.names()) {
            names.append(name.startsWith("--") ? " -l " + name.substring(2) : " -s " + name.substring(1));
        }
        return names.toString();
    }

    /// Fish offers files for a value unless it is told the words.
    private static String values(OptionSpec option) {
        Iterable<String> candidates = option.completionCandidates();
        if (candidates != null) {
            return " -x -a " + quoted(String.join(" ", candidates));
        }
        return option.arity().min() > 0 ? " -r" : "";
    }

    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
