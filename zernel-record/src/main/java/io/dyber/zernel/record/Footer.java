package io.dyber.zernel.record;

import io.dyber.zernel.format.Version;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.event.Column;
import io.dyber.zernel.record.event.EventType;
import io.dyber.zernel.record.event.Schema;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.ObjectMapper;

/// The key-value metadata of a recording, as `bpf/README.md` lists it. Values are JSON.
public final class Footer {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Map<String, String> values = new LinkedHashMap<>();

    public Footer() {
        values.put("zernel.format", "1");
    }

    /// Adds or replaces one key; the value is written as JSON.
    public Footer put(String key, Object value) {
        values.put(key, JSON.writeValueAsString(value));
        return this;
    }

    public Map<String, String> values() {
        return Map.copyOf(values);
    }

    /// The machine, for `zernel.recording`.
    public static Map<String, Object> machine() {
        Map<String, Object> machine = new LinkedHashMap<>();
        machine.put("version", Version.current());
        machine.put("host", host());
        machine.put("kernel", System.getProperty("os.version"));
        machine.put("arch", System.getProperty("os.arch"));
        machine.put("cpus", Runtime.getRuntime().availableProcessors());
        return machine;
    }

    private static String host() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException _) {
            try {
                return InetAddress.getLocalHost().getHostName();
            } catch (UnknownHostException _) {
                return "";
            }
        }
    }

    public static Map<String, Object> clock(Clock clock) {
        Map<String, Object> value = new LinkedHashMap<>();
        value.put("source", "CLOCK_MONOTONIC");
        value.put("offset_ns", clock.offsetNanos());
        value.put("error_ns", clock.errorNanos());
        value.put("boot_id", bootId());
        return value;
    }

    private static String bootId() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
        } catch (IOException _) {
            return "";
        }
    }

    /// `zernel.schema`: what the columns and kinds are.
    public static Map<String, Object> schema(Schema schema) {
        List<Map<String, Object>> columns = new ArrayList<>();
        for (Column column : schema.columns()) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("name", column.name());
            row.put("type", column.type().name());
            row.put("unit", column.unit());
            row.put("comment", column.comment());
            columns.add(row);
        }
        List<Map<String, Object>> kinds = new ArrayList<>();
        for (EventType kind : schema.kinds()) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("kind", kind.kind());
            row.put("comment", kind.comment());
            row.put("columns", Schema.columnsOf(kind));
            kinds.add(row);
        }
        Map<String, Object> value = new LinkedHashMap<>();
        value.put("columns", columns);
        value.put("kinds", kinds);
        return value;
    }
}
