package io.dyber.zernel.record.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class MachineTest {
    @Test
    void kernelsThatEndProcessesInContainersAtProbedReturnsAreKnown() {
        assertThat(List.of(
                        "6.11.0-29-generic", "6.11.11", "6.12.0-55.el10.x86_64", "6.12-rc3", "6.12.13+deb13-amd64", "6.13.0", "6.13.2"))
                .allMatch(Machine::endsFilteredAtReturns);
        assertThat(List.of(
                        "5.15.0-91-generic", "6.1.0-44-amd64", "6.8.0-60-generic", "6.10.14", "6.12.14", "6.12.100", "6.13.3-arch1-1",
                        "6.14.0-24-generic", "6.18.44-fc-v657", "6.110.1", "7.12.1"))
                .noneMatch(Machine::endsFilteredAtReturns);
    }
}
