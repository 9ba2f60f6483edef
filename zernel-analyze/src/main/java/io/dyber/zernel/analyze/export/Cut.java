package io.dyber.zernel.analyze.export;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.recording.Recording;
import io.dyber.zernel.format.Footer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// A part of one recording as a recording of its own.
///
/// Its footer is that of the whole, without what was counted over the whole; `zernel.recording` says what was cut out.
///
/// @param database where the recording is open, alone
/// @param selection the part
public record Cut(Database database, Selection selection) {
    private static final List<String> COUNTERS = List.of(
            "entries", "returns", "events", "lost", "filtered", "sampled_out", "covered", "no_return", "open_before",
            "open_after", "driver", "runtime");
    private static final JsonMapper JSON = JsonMapper.shared();

    /// The rows.
    public String query() {
        return "SELECT * EXCLUDE (recording) FROM events WHERE " + selection.where();
    }

    /// The footer; empty where the recording has none.
    public Map<String, String> footer() {
        Recording whole = database.recordings().getFirst();
        Map<String, String> footer = new LinkedHashMap<>(whole.metadata());
        if (whole.state() == Recording.State.FOREIGN || isWhole()) {
            return footer;
        }
        footer.put(Footer.RECORDING, about(whole).toString());
        footer.computeIfPresent(Footer.LOSSES, (_, losses) -> losses(JSON.readTree(losses)).toString());
        footer.computeIfPresent(Footer.KINDS, (_, kinds) -> withoutCounters(withStates(JSON.readTree(kinds))));
        footer.computeIfPresent(Footer.PROBES, (_, probes) -> withoutCounters(JSON.readTree(probes)));
        footer.remove(Footer.OVERHEAD);
        footer.remove(Footer.THREADS);
        return footer;
    }

    /// Whether nothing is left out.
    private boolean isWhole() {
        return events() == database.rows();
    }

    private long events() {
        return database.query("SELECT count(*) AS n FROM events WHERE " + selection.where()).only().integer("n");
    }

    private ObjectNode about(Recording whole) {
        ObjectNode about =
                JSON.readTree(whole.metadata().getOrDefault(Footer.RECORDING, "{}")).asObject();
        ObjectNode cut = about.putObject("cut");
        cut.put("of", whole.path().toString()).put("from_ns", selection.from()).put("to_ns", selection.to());
        cut.set("kinds", JSON.valueToTree(selection.kinds()));
        cut.set("pids", JSON.valueToTree(selection.pids()));
        about.put("started_ns", Math.max(selection.from(), about.path("started_ns").asLong(Long.MIN_VALUE)));
        about.put("ended_ns", Math.min(selection.to(), about.path("ended_ns").asLong(Long.MAX_VALUE)));
        about.put("events", events());
        about.remove("series");
        if (!selection.kinds().isEmpty() || !selection.pids().isEmpty()) {
            about.put("complete", false);
            about.withArray("incomplete_because").add("only some kinds or processes were cut out");
        }
        return about;
    }

    /// What was lost in this time: the whole recording's counters do not say when.
    private ObjectNode losses(JsonNode whole) {
        ObjectNode byKind = JSON.createObjectNode();
        long total = 0;
        for (Table.Row row : database.query("SELECT name, CAST(sum(count) AS BIGINT) AS lost FROM events "
                        + "WHERE kind = 'lost' AND " + selection.inTime() + " GROUP BY name ORDER BY name")
                .rows()) {
            byKind.put(row.requiredText("name"), row.integer("lost"));
            total += row.integer("lost");
        }
        ObjectNode losses = JSON.createObjectNode().put("total", total);
        losses.set("by_kind", byKind);
        losses.set("rings", whole.path("rings"));
        return losses;
    }

    private JsonNode withStates(JsonNode kinds) {
        for (JsonNode kind : kinds) {
            boolean kept = selection.kinds().isEmpty() || selection.kinds().contains(kind.path("kind").asString(""));
            if (kind instanceof ObjectNode object && !kept) {
                object.put("state", "off").put("why", "left out of the cut");
            }
        }
        return kinds;
    }

    private static String withoutCounters(JsonNode list) {
        for (JsonNode one : list) {
            if (one instanceof ObjectNode object) {
                object.remove(COUNTERS);
            }
        }
        return list.toString();
    }
}
