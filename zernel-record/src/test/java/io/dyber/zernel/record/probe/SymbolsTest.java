package io.dyber.zernel.record.probe;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.elf.Gcc;
import io.dyber.zernel.record.elf.x86.Exit;
import io.dyber.zernel.record.elf.x86.Site;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SymbolsTest {
    /// Functions made of exact bytes, so that sites are known whatever the compiler.
    private static final String SOURCE = """
            #include <stdlib.h>
            #define FUNCTION(name, code) __asm__(".globl " #name "; .type " #name ", @function;" \\
                #name ": " code "; .size " #name ", . - " #name);
            FUNCTION(my_push, "push %rbp; pop %rbp; ret")
            FUNCTION(my_guarded, "endbr64; push %rbp; pop %rbp; ret")
            FUNCTION(my_slow, "xor %eax, %eax; ret")
            __asm__(".globl __my_push; .type __my_push, @function; __my_push = my_push");
            FUNCTION(caller, "push %rbx; call my_push; pop %rbx; jmp my_slow")
            FUNCTION(ends, "push %rbx; call abort@plt; ud2")
            __asm__(".globl unsized; .type unsized, @function; unsized: call my_push; ret");
            FUNCTION(_Z6thrownv, "call my_push; ret")
            __asm__(".globl _Z7unsizedv; .type _Z7unsizedv, @function; _Z7unsizedv: call my_push; ret");
            FUNCTION(frees, "push %rbp; push %rbx; call my_push; test %rax, %rax; je 1f; call free@plt; 1: pop %rbx; pop %rbp; ret")
            FUNCTION(frees_behind, "push %rbp; call my_push; test %rax, %rax; je 1f; call *free@GOTPCREL(%rip); 1: pop %rbp; ret")
            FUNCTION(works, "push %rbp; call my_push; test %rax, %rax; je 1f; call calloc@plt; 1: pop %rbp; ret")
            FUNCTION(_RNvC5crate4rust, "call my_push; ret")
            static int one(void) { return 1; }
            static int (*choose(void))(void) { return one; }
            int my_chosen(void) __attribute__((ifunc("choose")));
            void *use(void) { return malloc(1); }
            """;

    @TempDir
    private Path folder;

    private Symbols resolve(Function... functions) throws Exception {
        return resolve(true, functions);
    }

    private Symbols resolve(boolean byReturn, Function... functions) throws Exception {
        Path file = Gcc.compile(folder, "libmine.so", SOURCE, "-shared", "-fPIC");
        try (ElfFile elf = ElfFile.open(file)) {
            return Symbols.resolve(elf, List.of(functions), byReturn);
        }
    }

    private static Function call(String symbol) {
        return new Function("call", "", "libmine.so", symbol, List.of());
    }

    @Test
    void sitesAreChosen() throws Exception {
        Symbols symbols = resolve(call("my_push"), call("my_guarded"), call("my_slow"));
        assertThat(symbols.found()).extracting(Symbols.Found::symbol).containsExactly("my_push", "my_guarded", "my_slow");
        assertThat(symbols.found()).extracting(Symbols.Found::site).containsExactly(
                new Site(0, Site.Cost.EMULATED), new Site(4, Site.Cost.EMULATED), new Site(0, Site.Cost.SINGLE_STEPPED));
        Symbols.Found guarded = symbols.found().get(1);
        assertThat(guarded.probeOffset()).isEqualTo(guarded.offset() + 4);
        assertThat(symbols.missing()).isEmpty();
    }

    @Test
    void onlyTheReturnOfWhatRunsNothingElseIsProbed() throws Exception {
        Symbols symbols = resolve(call("my_push"), call("caller"), call("ends"), call("_Z6thrownv"), call("_RNvC5crate4rust"));
        assertThat(symbols.found()).extracting(Symbols.Found::end).containsExactly(
                Symbols.End.RETURN, Symbols.End.EXITS, Symbols.End.EXITS, Symbols.End.EXITS, Symbols.End.EXITS);
        Symbols.Found caller = symbols.found().get(1);
        assertThat(caller.jumps()).containsExactly(caller.offset() + 7);
        assertThat(symbols.found().get(2).returns()).isEmpty();
    }

    @Test
    void theEndIsSeenBeforeTheReturnWhereNothingIsReadThere() throws Exception {
        Function read = new Function("call", "", "libmine.so", "frees", List.of(Capture.returned("result", Width.U64)));
        List<Symbols.Found> early = resolve(call("frees"), call("frees_behind")).found();
        assertThat(early).noneMatch(Symbols.Found::trapped);
        assertThat(early).extracting(found -> found.returns().getFirst()).containsExactly(new Exit(10, 16), new Exit(9, 8));
        List<Symbols.Found> late = List.of(resolve(read).found().getFirst(), resolve(call("works")).found().getFirst());
        assertThat(late).allMatch(Symbols.Found::trapped);
        assertThat(late).allMatch(found -> found.returns().getFirst().height() == 0);
    }

    @Test
    void theEndOfAFunctionWithoutSizeIsUnknown() throws Exception {
        Symbols symbols = resolve(call("unsized"), call("_Z7unsizedv"));
        assertThat(symbols.found()).extracting(Symbols.Found::end)
                .containsExactly(Symbols.End.UNKNOWN, Symbols.End.UNKNOWN);
    }

    @Test
    void theReturnOfAFunctionInCOfAnotherKindIsProbed() throws Exception {
        Function nccl = new Function("nccl", "", "libmine.so", "caller", List.of());
        Function operator = new Function("torch_op", "", "libmine.so", "_Z6thrownv", List.of());
        assertThat(resolve(nccl, operator).found()).extracting(Symbols.Found::end)
                .containsExactly(Symbols.End.RETURN, Symbols.End.EXITS);
    }

    @Test
    void noReturnIsProbedWhereTheKernelEndsProcessesThere() throws Exception {
        Function returning = new Function("nccl", "", "libmine.so", "my_push", List.of());
        Function jumping = new Function("nccl", "", "libmine.so", "caller", List.of());
        Function unsized = new Function("nccl", "", "libmine.so", "unsized", List.of());
        assertThat(resolve(false, call("my_guarded"), returning, jumping, unsized).found()).extracting(Symbols.Found::end)
                .containsExactly(Symbols.End.EXITS, Symbols.End.EXITS, Symbols.End.UNKNOWN, Symbols.End.UNKNOWN);
    }

    @Test
    void aliasesAreOneFunctionUnderItsKnownName() throws Exception {
        Symbols symbols = resolve(call("*my_push"));
        assertThat(symbols.found()).hasSize(1);
        assertThat(symbols.found().getFirst().symbol()).isEqualTo("my_push");
        assertThat(symbols.found().getFirst().aliases()).containsExactly("__my_push");
    }

    @Test
    void globFindsAllButTheIfunc() throws Exception {
        Symbols symbols = resolve(call("my_*"));
        assertThat(symbols.found()).extracting(Symbols.Found::symbol)
                .containsExactlyInAnyOrder("my_push", "my_guarded", "my_slow");
        assertThat(symbols.missing()).isEmpty();
    }

    @Test
    void unknownFunctionComesWithSuggestions() throws Exception {
        Symbols.Missing missing = resolve(call("my_gaurded")).missing().getFirst();
        assertThat(missing.explanation()).isEqualTo("no such function in the file; did you mean my_guarded?");
    }

    @Test
    void importIsExplained() throws Exception {
        assertThat(resolve(call("malloc")).missing()).extracting(Symbols.Missing::why)
                .containsExactly("only imported here, not defined");
    }

    @Test
    void ifuncIsExplained() throws Exception {
        assertThat(resolve(call("my_chosen")).missing()).extracting(Symbols.Missing::why)
                .containsExactly("chosen at load time among several (IFUNC), so there is no one place to probe");
    }

    @Test
    void sameCodeIsProbedOnce() throws Exception {
        Symbols symbols = resolve(call("my_push"), call("__my_push"));
        assertThat(symbols.found()).hasSize(1);
        assertThat(symbols.missing()).extracting(Symbols.Missing::why)
                .containsExactly("the same code as my_push, which is already probed");
    }
}
