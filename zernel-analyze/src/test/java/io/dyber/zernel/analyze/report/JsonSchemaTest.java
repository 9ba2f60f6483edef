package io.dyber.zernel.analyze.report;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.report.data.Report;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

class JsonSchemaTest {
    @TempDir
    Path folder;

    private JsonNode schema = JsonMapper.shared().nullNode();
    private ObjectNode report = JsonMapper.shared().createObjectNode();

    @BeforeEach
    void reportATraining() {
        Path file = recording().training(20, 15).gpuAlloc(1, 1, 1000, 0).write(folder.resolve("run.parquet"));
        try (Database database = Recordings.open(file.toString())) {
            Report made = Report.of(database, Report.SECTIONS, (_, _) -> {});
            schema = written(out -> new JsonSchema(out, database.library()), made);
            report = (ObjectNode) written(out -> new JsonReport(out, database.library()), made);
        }
    }

    @Test
    void theReportIsAsTheSchemaSays() {
        assertThat(wrong(report, schema, "$")).isEmpty();
        assertThat(report.path("verdict").path("kind").asString()).isEqualTo("bottleneck");
    }

    @Test
    void everyMemberOfTheReportIsDescribed() {
        assertThat(report.propertyNames()).allSatisfy(name -> assertThat(schema.at("/properties/" + name).isMissingNode())
                .isFalse());
        JsonNode column = schema.at("/properties/step_mean/items/properties/data_loading_ns");
        assertThat(column.path("type").toString()).isEqualTo("[\"number\",\"null\"]");
        assertThat(column.path("description").asString()).isEqualTo("[ns] of it waiting for data");
    }

    @Test
    void aReportThatIsOtherwiseIsTold() {
        report.put("format", 2);
        report.remove("kinds");
        ((ObjectNode) report.path("step_mean").get(0)).put("steps", "many");
        assertThat(wrong(report, schema, "$")).containsExactlyInAnyOrder(
                "$.format is not 1", "$.kinds is missing", "$.step_mean[0].steps is no [\"integer\",\"null\"]");
    }

    private static JsonNode written(Function<PrintWriter, ReportFormat> format, Report report) {
        StringWriter text = new StringWriter();
        format.apply(new PrintWriter(text)).write(report);
        return JsonMapper.shared().readTree(text.toString());
    }

    /// What of a value is not as a schema says, for the keywords that ours has.
    private static List<String> wrong(JsonNode value, JsonNode schema, String path) {
        List<String> wrong = new ArrayList<>();
        if (schema.has("const") && !schema.path("const").equals(value)) {
            wrong.add(path + " is not " + schema.path("const"));
        }
        if (schema.has("enum") && schema.path("enum").valueStream().noneMatch(value::equals)) {
            wrong.add(path + " is none of " + schema.path("enum"));
        }
        if (schema.has("type") && !hasType(value, schema.path("type"))) {
            wrong.add(path + " is no " + schema.path("type"));
        }
        schema.path("required").forEach(name -> {
            if (!value.has(name.asString())) {
                wrong.add(path + "." + name.asString() + " is missing");
            }
        });
        schema.path("properties").properties().forEach(member -> {
            if (value.has(member.getKey())) {
                wrong.addAll(wrong(value.path(member.getKey()), member.getValue(), path + "." + member.getKey()));
            }
        });
        for (int i = 0; schema.has("items") && i < value.size(); i++) {
            wrong.addAll(wrong(value.get(i), schema.path("items"), path + "[" + i + "]"));
        }
        return wrong;
    }

    private static boolean hasType(JsonNode value, JsonNode types) {
        List<String> names = types.isArray() ? types.valueStream().map(JsonNode::asString).toList() : List.of(types.asString());
        return names.stream().anyMatch(type -> switch (type) {
            case "null" -> value.isNull();
            case "integer" -> value.isIntegralNumber();
            case "number" -> value.isNumber();
            case "string" -> value.isString();
            case "boolean" -> value.isBoolean();
            case "array" -> value.isArray();
            case "object" -> value.isObject();
            default -> false;
        });
    }
}
