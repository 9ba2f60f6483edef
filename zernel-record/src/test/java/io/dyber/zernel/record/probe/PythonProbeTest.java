package io.dyber.zernel.record.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.elf.Gcc;
import io.dyber.zernel.record.schema.Constant;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PythonProbeTest {
    private static final String INTERPRETER = """
            void *_PyEval_EvalFrameDefault(void *state, void *frame, int thrown) { return frame; }
            void *PyObject_CallObject(void *callable, void *arguments) { return callable; }
            const unsigned long Py_Version = 0x030d02f0;
            struct { char cookie[8]; unsigned long version, free_threaded; } _PyRuntime =
                {{'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'}, 0x030d02f0, FREE_THREADED};
            """;

    @TempDir
    private Path folder;

    private List<Function> functions(String glob, String source, String... options) throws Exception {
        String[] arguments = {"-shared", "-fPIC", options.length > 0 ? options[0] : "-DFREE_THREADED=0"};
        Path file = Gcc.compile(folder, "libpython3.so", source, arguments);
        try (ElfFile elf = ElfFile.open(file)) {
            return new PythonProbe(glob).functions(elf);
        }
    }

    @Test
    void aPythonFunctionIsSeenInTheEvaluator() throws Exception {
        List<Function> functions = functions("Trainer.*", INTERPRETER);
        assertThat(functions).extracting(Function::symbol).containsExactly("_PyEval_EvalFrameDefault");
        assertThat(functions.getFirst().captures()).extracting(Capture::offsets)
                .containsExactly(List.of(0, 128, 32), List.of(0, 128, 40));
    }

    @Test
    void aFunctionOfTheCInterfaceIsProbedItself() throws Exception {
        assertThat(functions("PyObject_Call*", INTERPRETER)).extracting(Function::symbol, f -> f.captures().size())
                .containsExactly(org.assertj.core.groups.Tuple.tuple("PyObject_Call*", 0));
    }

    @Test
    void freeThreadedAndOtherInterpretersAndOtherLibrariesHaveNothing() throws Exception {
        assertThat(functions("*", INTERPRETER, "-DFREE_THREADED=1")).isEmpty();
        assertThat(functions("*", INTERPRETER.replace("0x030d02f0", "0x030a02f0"))).isEmpty();
        assertThat(functions("*", "int unrelated;")).isEmpty();
    }

    @Test
    void everyKnownVersionHasALayout() {
        assertThat(PythonLayout.ofVersion(0x030b)).contains(new PythonLayout(32, 48, 0));
        assertThat(PythonLayout.ofVersion(0x030c)).contains(new PythonLayout(0, 40, 0));
        assertThat(PythonLayout.ofVersion(0x030d)).contains(new PythonLayout(0, 40, 0));
        assertThat(PythonLayout.ofVersion(0x030e)).contains(new PythonLayout(0, 40, 3));
        assertThat(PythonLayout.ofVersion(0x030a)).isEmpty();
        assertThat(PythonLayout.ofVersion(0x030f)).isEmpty();
    }

    @Test
    void aProbeTextNamesFunctions() {
        assertThat(ProbeSpec.parse("py_call:main.<locals>.*")).isEqualTo(new PythonProbe("main.<locals>.*"));
        assertThatThrownBy(() -> ProbeSpec.parse("py_call:step(bytes=arg1)"))
                .isInstanceOf(ProbeSyntaxException.class)
                .hasMessageContaining("of a Python function only its name can be read");
    }

    @Test
    void aPythonFunctionHasARole() {
        assertThat(ProbeSpec.parse("py_call:next_batch(role=data_wait)"))
                .isEqualTo(new PythonProbe("next_batch", List.of(Constant.of("role", "data_wait"))));
    }

    @Test
    void regionsAreTwoFunctionsOfTheInterpreter() {
        assertThat(ProbeSpec.parse("py_region")).isEqualTo(new PythonRegions(false));
        assertThat(FunctionProbe.asked(new PythonRegions(false)))
                .extracting(FunctionProbe::symbol).containsExactly("Py_IsTrue", "Py_IsFalse");
        assertThatThrownBy(() -> ProbeSpec.parse("py_region:data_wait"))
                .isInstanceOf(ProbeSyntaxException.class)
                .hasMessageContaining("py_region ends before ':'");
    }
}
