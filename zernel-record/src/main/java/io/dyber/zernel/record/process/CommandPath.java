package io.dyber.zernel.record.process;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// Tells which file a command's name means, and which program runs in the end: of a script, its interpreter. Looks at files
/// only; nothing is run.
///
/// @param folders where commands are looked for, as in `PATH`
public record CommandPath(List<Path> folders) {
    private static final Path SHELL = Path.of("/bin/sh");

    /// As the kernel: more of a first line is not looked at, and more interpreters of interpreters are refused.
    private static final int FIRST_LINE = 256;
    private static final int MOST_INTERPRETERS = 5;

    private static final byte[] ELF = {0x7f, 'E', 'L', 'F'};
    private static final String BLANKS = "[ \t]+";

    public CommandPath {
        folders = List.copyOf(folders);
    }

    /// The folders of a `PATH`.
    public static CommandPath of(String path) {
        return new CommandPath(Arrays.stream(path.split(":")).map(Path::of).toList());
    }

    /// The file that a command means, as the caller would name it: links are not followed.
    public Optional<Path> find(String command) {
        List<Path> candidates = command.contains("/")
                ? List.of(Path.of(command))
                : folders.stream().map(folder -> folder.resolve(command)).toList();
        return candidates.stream()
                .filter(candidate -> Files.isExecutable(candidate) && !Files.isDirectory(candidate))
                .findFirst();
    }

    /// The ELF program that runs when this file is executed; empty when that cannot be told.
    ///
    /// That is the file itself, or the interpreter that its first line names (`#!/usr/bin/env python3` means the Python
    /// in [#folders]), or the shell, which runs a text that names none. What the program runs by itself, as a shim of
    /// pyenv does, is not known.
    public Optional<Path> program(Path file) {
        Path found = file;
        for (int i = 0; i <= MOST_INTERPRETERS; i++) {
            Optional<byte[]> beginning = beginning(found);
            if (beginning.isEmpty()) {
                return Optional.empty();
            }
            byte[] bytes = beginning.get();
            if (startsWith(bytes, ELF)) {
                return Optional.of(found);
            }
            if (!startsWith(bytes, new byte[] {'#', '!'})) {
                return isText(bytes) ? Optional.of(SHELL) : Optional.empty();
            }
            Optional<Path> interpreter = interpreter(new String(bytes, StandardCharsets.UTF_8));
            if (interpreter.isEmpty()) {
                return Optional.empty();
            }
            found = interpreter.get();
        }
        return Optional.empty();
    }

    private Optional<Path> interpreter(String text) {
        String[] words = text.substring(2).lines().findFirst().orElse("").strip().split(BLANKS, 2);
        if (words[0].isEmpty()) {
            return Optional.of(SHELL);
        }
        Path interpreter = Path.of(words[0]);
        boolean env = interpreter.endsWith("env") && words.length == 2;
        return env ? ofEnv(words[1]).flatMap(this::find) : Optional.of(interpreter);
    }

    /// The command of an `env`, which the kernel gives all that follows as one word.
    private static Optional<String> ofEnv(String argument) {
        String split = argument.replaceFirst("^(-[vi0]*S|--split-string[= \t])", "");
        if (split.length() == argument.length()) {
            return argument.startsWith("-") ? Optional.empty() : Optional.of(argument);
        }
        String[] words = split.strip().split(BLANKS);
        for (int i = 0; i < words.length; i++) {
            if (words[i].equals("-u") || words[i].equals("-C")) {
                i++;
            } else if (!words[i].startsWith("-") && !words[i].contains("=")) {
                return Optional.of(words[i]).filter(word -> !word.isEmpty());
            }
        }
        return Optional.empty();
    }

    private static Optional<byte[]> beginning(Path file) {
        if (!Files.isRegularFile(file)) {
            return Optional.empty();
        }
        try (InputStream in = Files.newInputStream(file)) {
            return Optional.of(in.readNBytes(FIRST_LINE));
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    private static boolean startsWith(byte[] bytes, byte[] start) {
        return bytes.length >= start.length && Arrays.equals(bytes, 0, start.length, start, 0, start.length);
    }

    private static boolean isText(byte[] bytes) {
        for (byte one : bytes) {
            if (one == 0) {
                return false;
            }
        }
        return true;
    }
}
