package io.dyber.zernel.record.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/// Chosen variables of the environment that a process was started with. Nothing else of it, which is full of secrets, becomes
/// a string here.
public final class StartEnvironment {
    private StartEnvironment() {}

    /// The variables of these names; none when this user may not look.
    ///
    /// @param mostBytes of a value that are kept
    public static Map<String, String> of(Path proc, Collection<String> keys, int mostBytes) {
        try {
            return parse(Files.readAllBytes(proc.resolve("environ")), keys, mostBytes);
        } catch (IOException _) {
            return Map.of();
        }
    }

    /// The variables among `KEY=value` texts that each end with a zero byte; of two with one key, the first.
    static Map<String, String> parse(byte[] environ, Collection<String> keys, int mostBytes) {
        Map<String, String> found = new LinkedHashMap<>();
        int start = 0;
        for (int end = 0; end <= environ.length; end++) {
            if (end == environ.length || environ[end] == 0) {
                for (String key : keys) {
                    if (startsWith(environ, start, end, key)) {
                        int value = start + key.length() + 1;
                        found.putIfAbsent(
                                key,
                                new String(environ, value, Math.min(end - value, mostBytes), StandardCharsets.UTF_8));
                    }
                }
                start = end + 1;
            }
        }
        return found;
    }

    private static boolean startsWith(byte[] environ, int start, int end, String key) {
        if (end - start <= key.length() || environ[start + key.length()] != '=') {
            return false;
        }
        for (int i = 0; i < key.length(); i++) {
            if (environ[start + i] != key.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}
