package io.dyber.zernel.record.probe;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The few environment variables that say which part of a job a process is. Nothing else of an environment, which is
/// full of secrets, becomes a string here.
final class JobEnvironment {
    private static final int MOST_BYTES = 1024;
    private static final List<String> KEYS = List.of(
            "RANK",
            "LOCAL_RANK",
            "WORLD_SIZE",
            "GROUP_RANK",
            "MASTER_ADDR",
            "MASTER_PORT",
            "CUDA_VISIBLE_DEVICES",
            "SLURM_JOB_ID",
            "SLURM_PROCID",
            "OMPI_COMM_WORLD_RANK",
            "TORCHELASTIC_RUN_ID");

    private JobEnvironment() {}

    /// As the process was started with; empty when this user may not look.
    static Map<String, String> of(Path proc) {
        try {
            return parse(Files.readAllBytes(proc.resolve("environ")));
        } catch (IOException _) {
            return Map.of();
        }
    }

    /// The variables among `KEY=value` texts that each end with a zero byte; of two with one key, the first.
    static Map<String, String> parse(byte[] environ) {
        Map<String, String> found = new LinkedHashMap<>();
        int start = 0;
        for (int end = 0; end <= environ.length; end++) {
            if (end == environ.length || environ[end] == 0) {
                for (String key : KEYS) {
                    if (startsWith(environ, start, end, key)) {
                        int value = start + key.length() + 1;
                        found.putIfAbsent(
                                key,
                                new String(environ, value, Math.min(end - value, MOST_BYTES), StandardCharsets.UTF_8));
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
