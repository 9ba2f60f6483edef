package io.dyber.zernel.record.stack;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.elf.Gcc;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PythonsTest {
    /// The symbols of CPython 3.13 and a description with sizes that fit, but `co_qualname` at 300.
    private static final String PYTHON_3_13 = """
            #include <stdio.h>
            void *_PyEval_EvalFrameDefault(void *state, void *frame, int thrown) { return frame; }
            const unsigned long Py_Version = 0x030d02f0;
            struct { char cookie[8]; unsigned long version, free_threaded, offsets[90]; } _PyRuntime = {
                {'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'}, 0x030d02f0, 0,
                {[0 ... 89] = 8, [34] = 300, [40] = 192, [44] = 24, [63] = 32, [64] = 64}};
            typedef struct { long count; void *type; long size; char *name; long basic, item; } Type;
            Type PyCode_Type = {.basic = 192}, PyUnicode_Type = {.basic = 64}, PyBytes_Type = {.basic = 33};
            int main(void) { puts("ready"); fflush(stdout); return getchar(); }
            """;

    @TempDir
    private Path folder;

    @Test
    void anInterpreterThatSaysWhatNoneCanBeIsUnknown() throws Exception {
        Path program = Gcc.compile(folder, "python3", PYTHON_3_13).toRealPath();
        Process process = new ProcessBuilder(program.toString()).start();
        try {
            assertThat(process.getInputStream().read()).isEqualTo('r');
            Pythons pythons = new Pythons(CompiledPrograms.pythonBtf(), (_, _) -> {});
            pythons.look(Set.of((int) process.pid()));
            assertThat(pythons.describe()).containsExactly(new Footer.PythonInfo(
                    program.toString(), null, "describing a Python: 'code_size' lies at 308", List.of()));
        } finally {
            process.destroyForcibly();
        }
    }
}
