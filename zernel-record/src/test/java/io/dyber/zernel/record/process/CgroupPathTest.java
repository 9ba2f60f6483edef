package io.dyber.zernel.record.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

final class CgroupPathTest {
    @Test
    void thePathOfVersionTwoIsTaken() {
        assertThat(CgroupPath.of(List.of("0::/system.slice/ssh.service"))).isEqualTo("/system.slice/ssh.service");
    }

    @Test
    void whereVersionTwoHasNoneItIsThatOfTheMemoryController() {
        assertThat(CgroupPath.of(List.of("11:cpu,cpuacct:/docker/cpu", "9:memory:/docker/4711", "0::/")))
                .isEqualTo("/docker/4711");
    }

    @Test
    void aPathMayHaveColons() {
        assertThat(CgroupPath.of(List.of("0::/a:b:c"))).isEqualTo("/a:b:c");
    }

    @Test
    void aProcessThatHasEndedHasNone() {
        assertThat(CgroupPath.of(Path.of("/proc/none"))).isEmpty();
    }
}
