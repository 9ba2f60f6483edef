package io.dyber.zernel.record.probe;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class LibrarySelectorTest {
    @ParameterizedTest
    @CsvSource({
        "libfoo.so, /usr/lib/libfoo.so, true",
        "libfoo.so, /usr/lib/libfoo.so.1, true",
        "libfoo.so, /usr/lib/libfoo.so.1.2.3, true",
        "libfoo.so, /usr/lib/libfoo-3.2.so, true",
        "libfoo.so, /site-packages/x.libs/libfoo-1a2b3c4d.so.1.0.0, true",
        "libfoo.so, /usr/lib/libfoo-bar.so, false",
        "libfoo.so, /usr/lib/libfoobar.so, false",
        "libfoo.so, /usr/lib/mylibfoo.so, false",
        "libfoo.so, /usr/lib/libfoo.sox, false",
        "libfoo.so, /usr/lib/libfoo.so/other, false",
        "libc.so, /lib/x86_64-linux-gnu/libc.so.6, true",
        "libc.so, /lib/libc-2.31.so, true",
        "libfoo.so.1, /usr/lib/libfoo.so.1, true",
        "libfoo.so.1, /usr/lib/libfoo.so.1.4, true",
        "libfoo.so.1, /usr/lib/libfoo-1a2b3c4d.so.1.4, true",
        "libfoo.so.1, /usr/lib/libfoo.so.10, false",
        "libfoo.so.1, /usr/lib/libfoo.so, false",
        "libfoo, /usr/lib/libfoo.so.1, true",
        "libfoo*.so*, /usr/lib/libfoo_bar.so.1, true",
        "libfoo*.so*, /usr/lib/libbar.so.1, false",
        "/opt/*/libfoo.so, /opt/a/libfoo.so, true",
        "/opt/*/libfoo.so, /usr/lib/libfoo.so, false",
        "/opt/libfoo.so, /opt/libfoo.so, true",
        "/opt/libfoo.so, /opt/libfoo.so.1, false",
        "/opt/libfoo.so, /usr/lib/libfoo.so, false",
        "python3, /usr/bin/python3, true",
        "python3, /usr/bin/python3.11, true",
        "python, /usr/bin/python3.11, true",
        "python3.1, /usr/bin/python3.11, false",
        "python, /usr/lib/libpython3.11.so, false",
        "train, /home/u/train.old, false"
    })
    void meansFilesByName(String selector, String path, boolean matches) {
        assertThat(new LibrarySelector(selector).matches(path, "", false)).isEqualTo(matches);
    }

    @ParameterizedTest
    @CsvSource({
        "libcuda.so.1, /usr/lib/libcuda.so.580.159.04, libcuda.so.1, true",
        "libcuda.so.1, /usr/lib/libcuda.so.580.159.04, libcuda.so.2, false",
        "libcudart.so, /opt/cudart64, libcudart.so.13, true",
        "libnccl, /opt/collectives, libnccl.so.2, true",
        "libfoo*.so*, /opt/other, libfoo.so.1, false",
        "/opt/libfoo.so, /opt/other, libfoo.so, false",
        "exe, /opt/other, exe, false"
    })
    void aNameMeansLibrariesByTheirSonameToo(String selector, String path, String soname, boolean matches) {
        assertThat(new LibrarySelector(selector).matches(path, soname, false)).isEqualTo(matches);
    }

    @Test
    void exeMeansTheMainProgramWhateverItsName() {
        assertThat(new LibrarySelector("exe").matches("/opt/app", "", true)).isTrue();
        assertThat(new LibrarySelector("exe").matches("/opt/app", "", false)).isFalse();
    }
}
