package io.dyber.zernel.record.python;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.elf.Gcc;
import io.dyber.zernel.record.python.InterpreterLayout.Code;
import io.dyber.zernel.record.python.InterpreterLayout.Frames;
import io.dyber.zernel.record.python.InterpreterLayout.Frames.Entry;
import io.dyber.zernel.record.python.InterpreterLayout.Texts;
import io.dyber.zernel.record.python.InterpreterLayout.Threads;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class InterpreterTest {
    private static final Threads THREADS_3_12 = new Threads(40, 0, 72, 8, 16, 136, 56, 0);

    /// The symbols of CPython 3.12, with types of the sizes that it has.
    private static final String PYTHON_3_12 = """
            void *_PyEval_EvalFrameDefault(void *state, void *frame, int thrown) { return frame; }
            void *PyIter_Send(void *iterator) { return iterator; }
            const unsigned long Py_Version = 0x030c01f0;
            char _PyRuntime[64] = {1};
            typedef struct { long count; void *type; long size; char *name; long basic, item; } Type;
            Type PyCode_Type = {.basic = 192}, PyUnicode_Type = {.basic = 64}, PyBytes_Type = {.basic = 33},
                PyFrame_Type = {.basic = 120}, PyGen_Type = {.basic = 144};
            """;

    @TempDir
    private Path folder;

    private Optional<Interpreter> interpreter(String source) throws Exception {
        Path file = Gcc.compile(folder, "libpython3.so", source, "-shared", "-fPIC");
        try (ElfFile elf = ElfFile.open(file)) {
            return Interpreter.of(elf);
        }
    }

    private void assertUnknown(String source, String why) throws Exception {
        assertThat(interpreter(source)).contains(new Interpreter.Unknown(why));
    }

    @Test
    void aVersionWithATableHasItsLayout() throws Exception {
        assertThat(interpreter(PYTHON_3_12)).get().isInstanceOfSatisfying(Interpreter.Known.class, known -> {
            assertThat(known.layout().version()).hasToString("3.12.1");
            assertThat(known.layout().freeThreaded()).isFalse();
            assertThat(known.layout().runtime()).isPositive().isNotEqualTo(known.layout().codeType());
            assertThat(known.layout().threads()).isEqualTo(THREADS_3_12);
            assertThat(known.layout().frames()).isEqualTo(new Frames(0, 0, 8, 56, false, 70, 3, Entry.AFTER_FOREIGN, -1));
            assertThat(known.layout().code()).isEqualTo(new Code(8, 16, 128, 112, 68, 136, 192));
            assertThat(known.layout().texts()).isEqualTo(new Texts(16, 32, 2, 32, 64, 40, 56, 16, 32));
        });
    }

    @Test
    void anotherLibraryIsNone() throws Exception {
        assertThat(interpreter("extern void *_PyEval_EvalFrameDefault(); void *f() { return _PyEval_EvalFrameDefault(); }"))
                .isEmpty();
    }

    @Test
    void versionsBeforeAndAfterAreUnknown() throws Exception {
        assertUnknown(PYTHON_3_12.replace("Py_Version", "none").replace("PyIter_Send", "other"),
                "this CPython is older than 3.10: CPython 3.10 to 3.14 are supported");
        assertUnknown(PYTHON_3_12.replace("0x030c01f0", "0x030f02f0"),
                "this is CPython 3.15.2: CPython 3.10 to 3.14 are supported");
    }

    @Test
    void anAlphaOrBetaIsUnknown() throws Exception {
        assertUnknown(PYTHON_3_12.replace("0x030c01f0", "0x030c00b2"), "this is an alpha or beta of CPython 3.12.0");
        assertThat(interpreter(PYTHON_3_12.replace("0x030c01f0", "0x030c00c2"))).get().isInstanceOf(Interpreter.Known.class);
    }

    @Test
    void aDebugBuildIsUnknown() throws Exception {
        assertUnknown(PYTHON_3_12 + "void _Py_NegativeRefcount() {}", "this CPython is a debug build");
    }

    @Test
    void oneWithoutSymbolsIsUnknown() throws Exception {
        String why = "this CPython has no symbols '_PyRuntime' and 'PyCode_Type'";
        assertUnknown(PYTHON_3_12.replace("_PyRuntime", "runtime"), why);
        assertUnknown(PYTHON_3_12.replace("PyCode_Type", "Other_Type"), why);
    }

    @Test
    void oneWhoseStructuresHaveOtherSizesIsUnknown() throws Exception {
        String why = "this CPython 3.12.1 is built with other structures than the usual ones";
        for (String size : new String[] {"192", "64", "33", "120", "144"}) {
            assertUnknown(PYTHON_3_12.replace("= " + size + "}", "= " + size + " + 16}"), why);
        }
        assertUnknown(PYTHON_3_12.replace("0x030c01f0", "0x030b01f0"), why.replace("12.1", "11.1"));
        assertUnknown(PYTHON_3_12.replace("Py_Version", "none"), why.replace("12.1", "10.0"));
    }

    @Test
    void oneThatDoesNotDescribeItselfIsUnknown() throws Exception {
        assertUnknown(PYTHON_3_12.replace("0x030c01f0", "0x030d02f0"),
                "this CPython 3.13.2 does not describe its structures");
        assertUnknown(described(0x030d02f0, 0).replace("Py_Version = 0x030d02f0", "Py_Version = 0x030d03f0"),
                "this CPython 3.13.3 does not describe its structures");
    }

    @Test
    void oneThatDescribesOtherSizesThanItHasIsUnknown() throws Exception {
        assertUnknown(described(0x030d02f0, 0), "this CPython 3.13.2 is built with other structures than it describes");
    }

    @Test
    void aFreeThreaded314IsUnknown() throws Exception {
        assertUnknown(described(0x030e00f0, 1),
                "this is a free-threaded CPython 3.14.0: of those only 3.13 is supported");
    }

    private static String described(int version, int freeThreaded) {
        String number = "0x0%x".formatted(version);
        return PYTHON_3_12.replace("0x030c01f0", number).replace("char _PyRuntime[64] = {1};", """
                struct { char cookie[8]; unsigned long version, free_threaded, offsets[90]; } _PyRuntime =
                    {{'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'}, %s, %d, {[0 ... 89] = 8}};
                """.formatted(number, freeThreaded));
    }
}
