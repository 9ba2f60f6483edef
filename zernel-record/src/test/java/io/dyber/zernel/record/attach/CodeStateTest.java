package io.dyber.zernel.record.attach;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.event.Load;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

/// How files are named to the BPF programs.
final class CodeStateTest {
    /// As overlayfs with xino, NFS and FUSE have them.
    @Test
    void anInodeNumberMayHaveItsHighestBitSet() {
        Load load = new Load(1, 0, 0x2f, 0x8000_0000_0000_1234L, "/lib/libx.so", false, false);

        assertThat(load.identity()).isEqualTo("00:2f:9223372036854780468");
        ByteBuffer key = ByteBuffer.wrap(CodeState.key(load.identity())).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(key.getLong()).isEqualTo(0x8000_0000_0000_1234L);
        assertThat(key.getInt()).isEqualTo(0x2f);
    }
}
