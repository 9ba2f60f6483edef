package io.dyber.zernel.record.bpf;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class BackendTest {
    @Test
    void theKernelKeepsMoreOpenCallsThanItSetsPlacesAsideForItsCpus() {
        assertThat(Backend.keptOn(2)).isEqualTo(16_384);
        assertThat(Backend.keptOn(128)).isEqualTo(32_768);
        assertThat(Backend.keptOn(512)).isEqualTo(131_072);
    }
}
