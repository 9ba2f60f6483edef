package io.dyber.zernel.record.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class JobEnvironmentTest {
    private static Map<String, String> parse(String environ) {
        return StartEnvironment.parse(environ.getBytes(StandardCharsets.UTF_8), JobEnvironment.KEYS, JobEnvironment.MOST_BYTES);
    }

    @Test
    void onlyTheNamedVariablesAreTaken() {
        assertThat(parse("HOME=/root\0RANK=3\0API_KEY=hush\0MASTER_ADDR=node-ü\0CUDA_VISIBLE_DEVICES=\0"))
                .containsExactly(entry("RANK", "3"), entry("MASTER_ADDR", "node-ü"), entry("CUDA_VISIBLE_DEVICES", ""));
    }

    @Test
    void aVariableThatOnlyLooksLikeOneIsNotTaken() {
        assertThat(parse("MY_RANK=1\0RANK_FILE=hush\0RANK\0=RANK=1\0X=\nRANK=5\0rank=2\0")).isEmpty();
    }

    @Test
    void theFirstOfTwoCountsAsForThePrograms() {
        assertThat(parse("RANK=1\0RANK=2")).containsExactly(entry("RANK", "1"));
    }

    @Test
    void aLongValueIsCut() {
        assertThat(parse("MASTER_ADDR=" + "x".repeat(5_000) + "\0").getOrDefault("MASTER_ADDR", "")).hasSize(1024);
    }

    @Test
    void anEnvironmentThatMayNotBeReadIsEmpty() {
        assertThat(JobEnvironment.of(Path.of("/proc/0"))).isEmpty();
        assertThat(parse("")).isEmpty();
    }
}
