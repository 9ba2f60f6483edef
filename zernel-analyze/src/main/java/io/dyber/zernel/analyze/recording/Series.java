package io.dyber.zernel.analyze.recording;

import io.dyber.zernel.format.Footer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// The files of a rotating recording, opened together: they are the one recording that was divided. So are traces of one
/// process that follow each other.
///
/// Their rows follow each other, their counters add up, and what was said last of anything else holds.
public final class Series {
    private static final List<String> PROBE = List.of("kind", "name", "library", "build_id", "symbol", "site");
    private static final List<String> LISTS = List.of(Footer.PROCESSES, Footer.KERNELS, AttachedRecording.GPU_TRACES);
    private static final JsonMapper JSON = JsonMapper.shared();

    private Series() {}

    /// A file, and where in which series it belongs.
    private record Part(AttachedRecording file, JsonNode about) {
        String series() {
            return about.path("series").path("id").asString("");
        }

        int number() {
            return about.path("series").path("part").asInt(0);
        }

        long began() {
            return about.path("started_ns").asLong(0);
        }

        long ended() {
            return about.path("ended_ns").asLong(Long.MAX_VALUE);
        }
    }

    /// Puts the parts of each series together, and leaves everything else as it is. Files of a flight recorder are no
    /// parts where they overlap.
    public static List<AttachedRecording> joined(List<AttachedRecording> files) {
        Map<String, List<Part>> series = new LinkedHashMap<>();
        for (AttachedRecording file : files) {
            Part part = new Part(file, parsed(file.recording().metadata().getOrDefault(Footer.RECORDING, "{}")));
            String key = part.series().isEmpty() ? "file " + series.size() : part.series();
            series.computeIfAbsent(key, _ -> new ArrayList<>()).add(part);
        }
        List<AttachedRecording> joined = new ArrayList<>();
        for (List<Part> parts : series.values()) {
            parts.sort(Comparator.comparingLong(Part::began));
            if (parts.size() > 1 && followEachOther(parts)) {
                joined.add(join(parts));
            } else {
                parts.forEach(part -> joined.add(part.file()));
            }
        }
        return joined;
    }

    private static boolean followEachOther(List<Part> parts) {
        for (int i = 1; i < parts.size(); i++) {
            if (parts.get(i).began() < parts.get(i - 1).ended()) {
                return false;
            }
        }
        return true;
    }

    private static AttachedRecording join(List<Part> parts) {
        List<AttachedRecording.Relation> relations =
                parts.stream().flatMap(part -> part.file().relations().stream()).toList();
        Recording last = parts.getLast().file().recording();
        Recording first = parts.getFirst().file().recording();
        long rows = parts.stream().mapToLong(part -> part.file().recording().rows()).sum();
        String note = parts.size() + " parts, the last is " + last.path()
                + (last.note() == null ? "" : "; " + last.note());
        Recording whole = new Recording(first.index(), first.path(), last.state(), rows, metadata(parts), note);
        return new AttachedRecording(whole, relations);
    }

    private static Map<String, String> metadata(List<Part> parts) {
        Map<String, String> metadata = new LinkedHashMap<>();
        parts.forEach(part -> metadata.putAll(part.file().recording().metadata()));
        metadata.put(Footer.RECORDING, about(parts).toString());
        metadata.put(Footer.LOSSES, losses(parts).toString());
        metadata.put(Footer.KINDS, summed(parts, Footer.KINDS, List.of("kind")).toString());
        metadata.put(Footer.PROBES, summed(parts, Footer.PROBES, PROBE).toString());
        LISTS.forEach(key -> metadata.put(key, union(parts, key).toString()));
        if (values(parts, Footer.THREADS).size() == parts.size()) {
            metadata.put(Footer.THREADS, union(parts, Footer.THREADS).toString());
        } else {
            metadata.remove(Footer.THREADS);
        }
        return metadata;
    }

    private static ObjectNode about(List<Part> parts) {
        ObjectNode about = JSON.createObjectNode();
        parts.forEach(part -> part.about().properties().forEach(member -> about.set(member.getKey(), member.getValue())));
        Set<String> reasons = new LinkedHashSet<>();
        boolean complete = true;
        for (int i = 0; i < parts.size(); i++) {
            Part part = parts.get(i);
            complete &= part.about().path("complete").asBoolean(false);
            part.about().path("incomplete_because").forEach(reason -> reasons.add(reason.asString("")));
            if (i > 0 && part.number() > parts.get(i - 1).number() + 1) {
                reasons.add("files between " + parts.get(i - 1).file().recording().path() + " and "
                        + part.file().recording().path() + " are missing");
                complete = false;
            }
        }
        about.put("started_ns", parts.getFirst().began());
        about.put("events", parts.stream().mapToLong(part -> part.about().path("events").asLong(0)).sum());
        about.put("complete", complete);
        about.set("incomplete_because", JSON.valueToTree(reasons));
        return about;
    }

    private static ObjectNode losses(List<Part> parts) {
        ObjectNode losses = JSON.createObjectNode();
        ObjectNode byKind = JSON.createObjectNode();
        for (JsonNode part : values(parts, Footer.LOSSES)) {
            losses.set("rings", part.path("rings"));
            add(losses, part, "total");
            add(losses, part, "ends");
            part.path("by_kind").propertyNames().forEach(kind -> add(byKind, part.path("by_kind"), kind));
        }
        losses.set("by_kind", byKind);
        return losses;
    }

    /// Objects with the same members `identity` become one: numbers are added, of anything else the last counts.
    private static ArrayNode summed(List<Part> parts, String key, List<String> identity) {
        Map<List<String>, ObjectNode> sums = new LinkedHashMap<>();
        for (JsonNode list : values(parts, key)) {
            for (JsonNode object : list) {
                List<String> name = identity.stream().map(member -> object.path(member).asString("")).toList();
                ObjectNode sum = sums.computeIfAbsent(name, _ -> JSON.createObjectNode());
                object.properties().forEach(member -> {
                    if (member.getValue().isIntegralNumber()) {
                        add(sum, object, member.getKey());
                    } else {
                        sum.set(member.getKey(), member.getValue());
                    }
                });
            }
        }
        return JSON.createArrayNode().addAll(sums.values());
    }

    private static ArrayNode union(List<Part> parts, String key) {
        Set<JsonNode> all = new LinkedHashSet<>();
        values(parts, key).forEach(list -> list.forEach(all::add));
        return JSON.createArrayNode().addAll(all);
    }

    private static void add(ObjectNode sum, JsonNode more, String member) {
        sum.put(member, sum.path(member).asLong(0) + more.path(member).asLong(0));
    }

    private static List<JsonNode> values(List<Part> parts, String key) {
        return parts.stream()
                .map(part -> part.file().recording().metadata().get(key))
                .filter(value -> value != null)
                .map(Series::parsed)
                .toList();
    }

    /// What is not JSON is for [Footer] to complain of.
    private static JsonNode parsed(String json) {
        try {
            return JSON.readTree(json);
        } catch (JacksonException _) {
            return JSON.createObjectNode();
        }
    }
}
