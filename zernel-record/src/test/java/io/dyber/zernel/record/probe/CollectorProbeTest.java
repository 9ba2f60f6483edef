package io.dyber.zernel.record.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.elf.Gcc;
import io.dyber.zernel.record.event.CallShape.Role;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CollectorProbeTest {
    private static final String EVALUATOR =
            "void *_PyEval_EvalFrameDefault(void *state, void *frame, int thrown) { return frame; }\n"
                    + function("_PyContext_ClearFreeList");

    @TempDir
    private Path folder;

    private static String version(int minor) {
        return "const unsigned long Py_Version = 0x03000000 | %d << 16;\n".formatted(minor);
    }

    private static String function(String name) {
        return "__attribute__((noinline, noclone, used)) static long %s(void *a, int b, void *c) { return b; }\n"
                .formatted(name);
    }

    private Path library(String source, String... options) throws Exception {
        String[] arguments = {"-shared", "-fPIC", "-O0", options.length > 0 ? options[0] : "-g0"};
        return Gcc.compile(folder, "libpython3.so", source, arguments);
    }

    private List<FunctionProbe> hooks(String source, String... options) throws Exception {
        try (ElfFile elf = ElfFile.open(library(source, options))) {
            return new CollectorProbe("libpython3*.so*").hooks(elf);
        }
    }

    private static List<String> columns(FunctionProbe hook) {
        return hook.probe().captures().stream().map(Capture::column).toList();
    }

    @Test
    void thatOfPython311IsToldWhoAsked() throws Exception {
        List<FunctionProbe> hooks = hooks(EVALUATOR + version(11) + function("gc_collect_main") + function("gc_collect"));
        assertThat(hooks).extracting(FunctionProbe::symbol, FunctionProbe::role, hook -> hook.probe().name(), CollectorProbeTest::columns)
                .containsExactly(
                        tuple("gc_collect", Role.INSTANT_FACT, "", List.of()),
                        tuple("gc_collect_main", Role.INSTANT_FACT, "automatic", List.of("generation")),
                        tuple("_PyContext_ClearFreeList", Role.INSTANT, "automatic", List.of()));
    }

    @Test
    void thatOfPython313SaysItself() throws Exception {
        List<FunctionProbe> hooks = hooks(EVALUATOR + version(13) + function("gc_collect_main") + function("gc_collect"));
        assertThat(hooks).extracting(FunctionProbe::symbol, CollectorProbeTest::columns)
                .startsWith(tuple("gc_collect_main", List.of("name", "generation")));
    }

    @Test
    void thatOfPython314HasAnotherName() throws Exception {
        assertThat(hooks(EVALUATOR + version(14) + function("_PyGC_Collect"))).extracting(FunctionProbe::symbol)
                .startsWith("_PyGC_Collect");
        assertThat(hooks(EVALUATOR + version(13) + function("_PyGC_Collect"))).isEmpty();
    }

    @Test
    void thatOfPython39IsCalledCollect() throws Exception {
        String before = EVALUATOR + function("collect");
        assertThat(hooks(before + function("PyObject_GC_IsTracked"))).extracting(FunctionProbe::symbol, CollectorProbeTest::columns)
                .startsWith(tuple("collect", List.of("generation")));
        assertThat(hooks(before)).extracting(FunctionProbe::symbol, hook -> hook.probe().name(), CollectorProbeTest::columns)
                .startsWith(tuple("collect", "collection", List.of()));
    }

    @Test
    void ofAFunctionThatACompilerHasChangedNoArgumentIsRead() throws Exception {
        String source = EVALUATOR + version(11) + function("changed").replace("static long changed(", """
                static long changed(void *, int, void *) __asm__("gc_collect_main.constprop.0");
                __attribute__((noinline, noclone, used)) static long changed(""");
        assertThat(hooks(source)).extracting(FunctionProbe::symbol, CollectorProbeTest::columns)
                .startsWith(tuple("gc_collect_main.constprop.0", List.of()));
    }

    @Test
    void thatOfAnInterpreterThatDoesNotShowItsEndIsNotProbed() throws Exception {
        String source = EVALUATOR.replace("_PyContext_ClearFreeList", "unrelated") + version(11);
        assertThat(hooks(source + function("gc_collect_main"))).isEmpty();
    }

    @Test
    void aStrippedInterpreterSaysWhyItHasNothing() throws Exception {
        String source = EVALUATOR + version(11) + function("gc_collect_main");
        FunctionProbe hook = CollectorProbe.hooks().getFirst();
        try (ElfFile stripped = ElfFile.open(library(source, "-s"))) {
            assertThat(hook.in(stripped)).isEmpty();
            assertThat(hook.nothingBecause(stripped))
                    .isEqualTo("this Python is stripped of its local symbols, and built without --with-dtrace");
        }
    }

    @Test
    void whatIsNoInterpreterHasNothing() throws Exception {
        FunctionProbe hook = CollectorProbe.hooks().getFirst();
        try (ElfFile other = ElfFile.open(library(function("gc_collect_main")))) {
            assertThat(hook.in(other)).isEmpty();
            assertThat(hook.nothingBecause(other)).isEmpty();
        }
    }
}
