package io.dyber.zernel.dist;

import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.OptionSpec;

/// A program's completions for zsh: one function for each command, which hands what follows to the command's own.
final class ZshCompletion {
    private final StringBuilder script = new StringBuilder();

    private ZshCompletion() {}

    static String of(CommandLine program) {
        ZshCompletion completion = new ZshCompletion();
        completion.script.append("#compdef ").append(program.getCommandName()).append('\n');
        completion.command("_" + program.getCommandName(), program);
        completion.script.append("\n_").append(program.getCommandName()).append(" \"$@\"\n");
        return completion.script.toString();
    }

    private void command(String function, CommandLine command) {
        Map<String, CommandLine> children = Programs.commands(command);
        children.forEach((name, child) -> command(function + "_" + name, child));
        Help help = new Help(command.getCommandSpec(), Help.defaultColorScheme(Ansi.OFF));
        script.append("\n").append(function).append("() {\n");
        if (!children.isEmpty()) {
            script.append("    local state line\n");
        }
        script.append("    _arguments -s");
        for (OptionSpec option : Programs.options(command)) {
            String text = "[" + escaped(Texts.description(help, option)) + "]" + values(option);
            for (String name : option.names()) {
                script.append(" \\\n        ").append(quoted(one(option, name) + text));
            }
        }
        if (children.isEmpty()) {
            script.append(" \\\n        '*:file:_files'\n}\n");
        } else {
            String commands = children.entrySet().stream()
                    .map(child -> child.getKey() + "\\:" + quotedTwice(escaped(Texts.summary(child.getValue()))))
                    .collect(Collectors.joining(" "));
            script.append(" \\\n        ").append(quoted("1:command:((" + commands + "))"));
            script.append(" \\\n        '*::argument:->argument'\n");
            script.append("    [[ $state != argument ]] || case $line[1] in\n");
            children.keySet().forEach(name -> script.append("        %s) %s_%s ;;%n".formatted(name, function, name)));
            script.append("        *) _files ;;\n    esac\n}\n");
        }
    }

    /// An option that may come only once leaves out its other names too.
    private static String one(OptionSpec option, String name) {
        String value = option.arity().max() == 0 ? "" : name.startsWith("--") ? "=" : "+";
        String others = option.isMultiValue() ? "*" : Stream.of(option.names()).collect(Collectors.joining(" ", "(", ")"));
        return others + name + value;
    }

    private static String values(OptionSpec option) {
        if (option.arity().max() == 0) {
            return "";
        }
        Iterable<String> candidates = option.completionCandidates();
        String optional = option.arity().min() == 0 ? "::" : ":";
        return candidates == null
                ? optional + escaped(option.paramLabel()) + ":_files"
                : optional + escaped(option.paramLabel()) + ":(" + String.join(" ", candidates) + ")";
    }

    private static String escaped(String text) {
        return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:");
    }

    private static String quotedTwice(String text) {
        return "\"" + text.replace("\"", "\\\"").replace("`", "\\`").replace("$", "\\$") + "\"";
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "'\\''") + "'";
    }
}
