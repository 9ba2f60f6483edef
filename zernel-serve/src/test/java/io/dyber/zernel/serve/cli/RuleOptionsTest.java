package io.dyber.zernel.serve.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.source.WrittenRecording;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class RuleOptionsTest {
    @TempDir
    private Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void aReplaySaysWhenYesterdaysRuleWouldHaveFired() {
        Path file = almostFull();
        assertThat(run("serve", file.toString(), "--alerts-only", "--speed", "max")).isZero();
        assertThat(out.toString()).isEqualTo("""
                      +26 s  2023-11-14T22:13:46Z firing   critical gpu-memory-almost-full{gpu_id="0"}: 0.9600 > 0.95 for 5 s
                      +41 s  2023-11-14T22:14:01Z resolved critical gpu-memory-almost-full{gpu_id="0"}
                """);
        assertThat(err.toString()).isEqualTo("zernel serve: 1 alert fired in 59 s of the recording\n");
    }

    @Test
    void whatFiresDoesNotDependOnTheSpeed() {
        Path file = almostFull();
        assertThat(run("serve", file.toString(), "--alerts-only", "--speed", "60x")).isZero();
        assertThat(out.toString()).contains("+26 s  2023-11-14T22:13:46Z firing").contains("+41 s");
    }

    @Test
    void rulesAreTriedOnTheMetricsThatAServerShows() throws IOException {
        Path file = WrittenRecording.write(folder.resolve("run.parquet"), """
                SELECT 'torch_alloc' AS kind, 'malloc' AS name, 1700000000000000000 + second * 1000000000 AS ts_ns,
                       0 AS dur_ns, 7 AS pid, 7 AS tid, 0 AS device, second AS addr, 1000 AS bytes
                FROM range(5) AS r(second)
                """, Map.of(
                "zernel.detail", "{\"kinds\": [\"torch_alloc\"], \"windows\": []}",
                "zernel.overhead", "{\"share\": 0.25}"));
        Path rules = Files.writeString(folder.resolve("rules.yaml"), """
                rules:
                  - {name: memory, metric: zernel_torch_memory_used_bytes, comparison: ">", threshold: 0}
                  - {name: costly, metric: zernel_recorder_overhead_ratio, comparison: ">", threshold: 0.1}
                  - {name: found, metric: zernel_finding_lost_seconds, comparison: ">", threshold: 1}
                """);
        assertThat(run("serve", file.toString(), "--alerts-only", "--speed", "max", "--rules", rules.toString())).isZero();
        assertThat(out.toString()).isEqualTo("       +1 s  2023-11-14T22:13:21Z firing   warning  costly: 0.2500 > 0.1\n");
        assertThat(err.toString()).isEqualTo("""
                zernel serve: 1 alert fired in 4 s of the recording
                zernel serve: not tried: rule 'found', as zernel_finding_lost_seconds is there only without --alerts-only
                """);
    }

    @Test
    void ruleFilesAreCheckedWithoutARecording() throws IOException {
        Path good = Files.writeString(folder.resolve("good.yaml"), """
                rules:
                  - {name: stuck, metric: zernel_step_age_seconds, comparison: ">", threshold: 60}
                """);
        assertThat(run("serve", "--check-rules", good.toString())).isZero();
        assertThat(out.toString()).isEqualTo(good + ": 1 rule, no faults\n");

        Path bad = Files.writeString(folder.resolve("bad.yaml"), "rules:\n  - name: stuck\n");
        assertThat(run("serve", "--check-rules", bad.toString())).isEqualTo(1);
        assertThat(err.toString()).isEqualTo("zernel serve: reading rules '" + bad + "': 3 faults\n"
                + bad + ":2: 'metric' is missing\n"
                + bad + ":2: 'comparison' is missing\n"
                + bad + ":2: 'threshold' is missing\n");
    }

    @Test
    void aRuleFileThatIsMissingOrBinaryIsOneLine() throws IOException {
        Path missing = folder.resolve("no.yaml");
        assertThat(run("serve", "run.parquet", "--rules", missing.toString())).isEqualTo(1);
        assertThat(err.toString()).isEqualTo("zernel serve: reading rules '" + missing + "': no such file\n");
        err.getBuffer().setLength(0);
        Path binary = Files.write(folder.resolve("b.yaml"), new byte[] {(byte) 0xff, 0, 1, (byte) 0xfe});
        assertThat(run("serve", "--check-rules", binary.toString())).isEqualTo(1);
        assertThat(err.toString()).isEqualTo("zernel serve: reading rules '" + binary + "': not text in UTF-8\n");
    }

    @Test
    void prometheusRulesAreMadeOfTheRules() {
        assertThat(run("serve", "--generate", "prometheus-rules")).isZero();
        assertThat(out.toString()).isEqualTo("""
                groups:
                  - name: zernel
                    rules:
                      - alert: "gpu-memory-almost-full"
                        expr: "zernel_gpu_memory_used_ratio > 0.95"
                        for: 5000ms
                        labels:
                          severity: critical
                        annotations:
                          summary: "A device has less than 5 % of its memory left; the next allocation may fail."
                """);
    }

    @Test
    void rulesForHistogramsTakeTheirQuantilesFromBuckets() throws IOException {
        Path rules = Files.writeString(folder.resolve("rules.yaml"), """
                rules:
                  - {name: slow, metric: zernel_io_seconds, labels: {quantile: "0.99", rank: "0"}, comparison: ">", threshold: 0.1}
                  - {name: lost, metric: zernel_lost_events_total, comparison: ">", threshold: 0}
                """);
        assertThat(run("serve", "--generate", "prometheus-rules", "--rules", rules.toString(), "--histograms")).isZero();
        assertThat(out.toString()).contains(
                "expr: \"histogram_quantile(0.99, rate(zernel_io_seconds_bucket{rank=\\\"0\\\"}[1m])) > 0.1\"",
                "expr: \"zernel_lost_events_total > 0\"");
    }

    @Test
    void somethingElseCannotBeGenerated() {
        assertThat(run("serve", "--generate", "poetry")).isEqualTo(2);
        assertThat(err.toString())
                .contains("--generate makes prometheus-rules or grafana-dashboard, not 'poetry'");
    }

    /// A minute in which the memory of a device of 100 bytes, sampled each second, is at 96 % from second 20 to 40.
    private Path almostFull() {
        return WrittenRecording.write(folder.resolve("run.parquet"), """
                SELECT 'gpu_sample' AS kind, name, 1700000000000000000 + second * 1000000000 AS ts_ns,
                       CAST(NULL AS BIGINT) AS dur_ns, 0 AS pid, 0 AS tid, 0 AS device,
                       CASE WHEN name = 'memory_total' THEN 100 WHEN second BETWEEN 20 AND 39 THEN 96 ELSE 50 END AS value
                FROM range(60) AS r(second), (VALUES ('memory_total'), ('memory_used')) AS n(name)
                """);
    }

    private int run(String... arguments) {
        return Zernel.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
    }
}
