package io.dyber.zernel.record.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class MappingTest {
    @Test
    void codeOfALibraryIsRead() {
        Mapping mapping = Mapping.parse(
                "7f12a4c28000-7f12a4dbd000 r-xp 00028000 fe:01 3147 /usr/lib/x86_64-linux-gnu/libc.so.6");
        assertThat(mapping).isEqualTo(new Mapping(
                "7f12a4c28000-7f12a4dbd000", "r-xp", 0x28000, "fe:01", "3147", "/usr/lib/x86_64-linux-gnu/libc.so.6"));
        assertThat(mapping).matches(Mapping::isCodeOfFile);
    }

    @Test
    void pathsMayHoldBlanksAndLineBreaks() {
        assertThat(Mapping.parse("00400000-00452000 r-xp 00000000 08:02 173521      /opt/my  app/a\\012b"))
                .isEqualTo(new Mapping("400000-452000", "r-xp", 0, "08:02", "173521", "/opt/my  app/a\nb"));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "7f12a4c28000-7f12a4dbd000 r--p 00028000 fe:01 3147 /usr/lib/libc.so.6",
        "7ffd1a5c8000-7ffd1a5ca000 r-xp 00000000 00:00 0 [vdso]",
        "7ffd1a5c8000-7ffd1a5ca000 rwxp 00000000 00:00 0 ",
        "7ffd1a5c8000-7ffd1a5ca000 r-xp 00000000 00:0e 12 anon_inode:[perf_event]"
    })
    void everythingElseIsNoCode(String line) {
        assertThat(Mapping.parse(line)).isNotNull().matches(mapping -> !mapping.isCodeOfFile());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "nonsense", "1-2 r-xp 0 0:0"})
    void lineThatWasCutIsNone(String line) {
        assertThat(Mapping.parse(line)).isNull();
    }
}
