package io.dyber.zernel.record.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ElfFileTest {
    private static final String SOURCE = """
            #include <stdlib.h>
            int my_add(int a, int b) { return a + b; }
            int my_alias(int a, int b) __attribute__((alias("my_add")));
            void *my_alloc(unsigned long n) { return malloc(n); }
            static __attribute__((noinline, used)) int my_local(int a) { return a * 3; }
            static int one(void) { return 1; }
            static int (*choose(void))(void) { return one; }
            int my_chosen(void) __attribute__((ifunc("choose")));
            int my_data = 7;
            int old_impl(void) { return 1; }
            int new_impl(void) { return 2; }
            __asm__(".symver old_impl, twice@V1");
            __asm__(".symver new_impl, twice@@V2");
            """;
    private static final String VERSIONS = "V1 { global: my_*; old_impl; new_impl; }; V2 { } V1;";

    @TempDir
    private Path folder;

    private Path library(String... arguments) throws Exception {
        Path script = Files.writeString(folder.resolve("versions"), VERSIONS);
        String[] all = new String[arguments.length + 4];
        all[0] = "-shared";
        all[1] = "-fPIC";
        all[2] = "-Wl,--version-script=" + script;
        all[3] = "-Wl,--build-id=0x0123456789abcdef";
        System.arraycopy(arguments, 0, all, 4, arguments.length);
        return Gcc.compile(folder, "libmine.so", SOURCE, all);
    }

    private static List<Symbol> find(Path file, String pattern) throws ElfException {
        try (ElfFile elf = ElfFile.open(file)) {
            return elf.find(pattern).symbols();
        }
    }

    private static List<String> names(List<Symbol> symbols) {
        return symbols.stream().map(Symbol::versionedName).sorted().toList();
    }

    @Test
    void functionIsFoundWithItsCode() throws Exception {
        Path file = Gcc.compile(folder, "libcode.so", """
                __asm__(".globl fixed; .type fixed, @function; fixed: push %rbp; pop %rbp; ret; .size fixed, . - fixed");
                """, "-shared", "-fPIC");
        try (ElfFile elf = ElfFile.open(file)) {
            Symbol fixed = elf.find("fixed").symbols().getFirst();
            long offset = elf.fileOffset(fixed.address()).orElseThrow();

            assertThat(fixed.size()).isEqualTo(3);
            assertThat(fixed.type()).isEqualTo(Symbol.Type.FUNCTION);
            assertThat(elf.code(offset, 3)).containsExactly(0x55, 0x5d, 0xc3);
            assertThat(elf.machine()).isEqualTo(ElfFile.X86_64);
        }
    }

    @Test
    void aLibraryKnowsItsOwnNameWhateverItsFileIsCalled() throws Exception {
        Path library = library("-Wl,-soname,libmine.so.1");
        assertThat(ElfFile.soname(Files.move(library, folder.resolve("libmine.so.580.159.04")))).contains("libmine.so.1");
        assertThat(ElfFile.soname(library())).isEmpty();
        assertThatThrownBy(() -> ElfFile.soname(folder.resolve("libmine.so.c"))).isInstanceOf(ElfException.class);
    }

    @Test
    void globFindsFunctionsAndLocalOnesButNoDataAndNoImports() throws Exception {
        assertThat(names(find(library(), "my_*")))
                .containsExactly("my_add@@V1", "my_alias@@V1", "my_alloc@@V1", "my_chosen@@V1", "my_local");
    }

    @Test
    void strippedLibraryStillHasItsExports() throws Exception {
        Path file = library("-s");
        assertThat(names(find(file, "my_*")))
                .containsExactly("my_add@@V1", "my_alias@@V1", "my_alloc@@V1", "my_chosen@@V1");
        try (ElfFile elf = ElfFile.open(file)) {
            assertThat(elf.hasLocalSymbols()).isFalse();
        }
    }

    @Test
    void plainNameMeansTheDefaultVersion() throws Exception {
        assertThat(names(find(library(), "twice"))).containsExactly("twice@@V2");
    }

    @Test
    void anOldVersionIsFoundByItsName() throws Exception {
        Path file = library();
        long oldAddress = find(file, "old_impl").getFirst().address();
        assertThat(find(file, "twice@V1")).extracting(Symbol::address).containsExactly(oldAddress);
        assertThat(names(find(file, "twice@@V2"))).containsExactly("twice@@V2");
        assertThat(find(file, "twice@V3")).isEmpty();
    }

    @Test
    void ifuncIsSaidToBeOne() throws Exception {
        assertThat(find(library(), "my_chosen")).extracting(Symbol::type).containsExactly(Symbol.Type.CHOSEN_AT_LOAD);
    }

    @Test
    void importIsSaidToBeOne() throws Exception {
        assertThat(find(library(), "malloc")).extracting(Symbol::type).containsExactly(Symbol.Type.IMPORTED);
    }

    /// As `readelf` lists them: one for calls, by way of a stub, and one where the function's address is taken.
    @Test
    void pointersThatTheLoaderFillsAreFound() throws Exception {
        Path file = Gcc.compile(
                folder, "libpointers.so", """
                #include <stdlib.h>
                void *mine(unsigned long n) { return malloc(n); }
                void (*taken(void))(void *) { return free; }
                void both(void *p) { free(p); }
                """, "-shared", "-fPIC", "-O1");
        List<Long> listed = Gcc.run(List.of("readelf", "-rW", file.toString())).lines()
                .filter(line -> line.matches(".*R_X86_64_(JUMP_SLOT?|GLOB_DAT) .*\\b(malloc|free)@.*"))
                .map(line -> Long.parseLong(line.strip().split("\\s+")[0], 16))
                .toList();
        try (ElfFile elf = ElfFile.open(file)) {
            assertThat(elf.pointersTo(Set.of("malloc", "free"))).hasSizeBetween(2, 3).containsExactlyInAnyOrderElementsOf(listed);
            assertThat(elf.pointersTo(Set.of("frees"))).isEmpty();
        }
    }

    @Test
    void aliasesShareAnAddress() throws Exception {
        Path file = library();
        assertThat(find(file, "my_alias").getFirst().address()).isEqualTo(find(file, "my_add").getFirst().address());
    }

    @Test
    void buildIdIsRead() throws Exception {
        try (ElfFile elf = ElfFile.open(library())) {
            assertThat(elf.buildId()).contains("0123456789abcdef");
        }
    }

    @Test
    void fileWithoutSectionHeadersIsReadThroughTheDynamicSegment() throws Exception {
        for (String style : List.of("gnu", "sysv")) {
            Path file = library("-Wl,--hash-style=" + style);
            List<Symbol> before = find(file, "my_alloc");
            byte[] bytes = Files.readAllBytes(file);
            for (int at : new int[] {40, 41, 42, 43, 44, 45, 46, 47, 60, 61, 62, 63}) {
                bytes[at] = 0;
            }
            Path stripped = Files.write(folder.resolve("nosections.so"), bytes);

            assertThat(find(stripped, "my_alloc")).as(style).isEqualTo(before);
            assertThat(names(find(stripped, "twice"))).as(style).containsExactly("twice@@V2");
            assertThat(find(stripped, "my_local")).as(style).isEmpty();
            try (ElfFile elf = ElfFile.open(stripped)) {
                assertThat(elf.buildId()).contains("0123456789abcdef");
            }
        }
    }

    @Test
    void namesThatWereMeantAreSuggested() throws Exception {
        try (ElfFile elf = ElfFile.open(library())) {
            assertThat(elf.similar("my_aloc", 1)).containsExactly("my_alloc");
            assertThat(elf.similar("impl", 3)).containsExactly("new_impl", "old_impl");
            assertThat(elf.similar("completely_different", 3)).isEmpty();
        }
    }

    @Test
    void cppNamesAreFoundWithoutTheirParameters() throws Exception {
        Path file = Gcc.compile(folder, "libcpp.so", """
                __asm__(".macro f n\\n .globl \\\\n\\n .type \\\\n, @function\\n \\\\n: ret\\n .size \\\\n, 1\\n .endm\\n"
                        "f _ZN3foo3bar3runEi\\n f _ZN3foo3bar3runEPKc\\n f _ZNK3foo3bar3runEv\\n f _ZN3foo3barL3runEv\\n"
                        "f _ZN3foo3bar3runIiEEvT_\\n f _ZN3foo3bar6runnerEv\\n f _ZN3foo3bar3runEi.cold\\n f _Z3runv\\n");
                """, "-shared", "-fPIC");
        assertThat(names(find(file, "foo::bar::run"))).containsExactly(
                "_ZN3foo3bar3runEPKc", "_ZN3foo3bar3runEi", "_ZN3foo3bar3runIiEEvT_", "_ZN3foo3barL3runEv",
                "_ZNK3foo3bar3runEv");
        assertThat(names(find(file, "::run"))).containsExactly("_Z3runv");
    }

    @Test
    void tracepointsAreRead() throws Exception {
        assumeTrue(Files.exists(Path.of("/usr/include/x86_64-linux-gnu/sys/sdt.h")), "sys/sdt.h is not installed");
        Path file = Gcc.compile(folder, "libusdt.so", """
                #include <sys/sdt.h>
                void work(long n, char *text) { DTRACE_PROBE2(mine, started, n, 5); DTRACE_PROBE1(mine, done, text); }
                """, "-shared", "-fPIC", "-O1");
        try (ElfFile elf = ElfFile.open(file)) {
            List<UsdtNote> notes = elf.usdtNotes();
            assertThat(notes).extracting(UsdtNote::name).containsExactly("started", "done");
            assertThat(notes.getFirst().arguments()).extracting(UsdtArgument::text).containsExactly("-8@%rdi", "-4@$5");
            assertThat(elf.code(notes.getFirst().fileOffset(), 1)).containsExactly((byte) 0x90);
        }
    }

    @Test
    void tracepointWithASemaphoreIsReadWithoutTheHeader() throws Exception {
        Path file = Gcc.compile(folder, "libnote.so", """
                __attribute__((section(".probes"))) unsigned short counter = 0x1234;
                void work(void) {
                    __asm__ volatile("990: nop\\n"
                        ".pushsection .note.stapsdt, \\"\\", \\"note\\"\\n .balign 4\\n"
                        ".4byte 992f-991f, 994f-993f, 3\\n 991: .asciz \\"stapsdt\\"\\n 992: .balign 4\\n"
                        "993: .8byte 990b, 0, counter\\n .asciz \\"mine\\"\\n .asciz \\"tick\\"\\n .asciz \\"8@%rdi 4@$1\\"\\n"
                        "994: .balign 4\\n .popsection\\n");
                }
                """, "-static", "-nostdlib", "-Wl,-e,work");
        try (ElfFile elf = ElfFile.open(file)) {
            UsdtNote note = elf.usdtNotes().getFirst();
            assertThat(note.provider()).isEqualTo("mine");
            assertThat(note.name()).isEqualTo("tick");
            assertThat(note.arguments()).extracting(UsdtArgument::text).containsExactly("8@%rdi", "4@$1");
            assertThat(elf.code(note.fileOffset(), 1)).containsExactly((byte) 0x90);
            assertThat(elf.code(note.semaphoreOffset(), 2)).containsExactly(0x34, 0x12);
        }
    }

    @Test
    void offsetOfAnUnmappedAddressIsEmpty() throws Exception {
        try (ElfFile elf = ElfFile.open(library())) {
            assertThat(elf.fileOffset(1L << 40)).isEqualTo(OptionalLong.empty());
        }
    }

    @Test
    void whatIsNoLibraryIsRefused() throws Exception {
        Path text = Files.writeString(folder.resolve("text"), "x".repeat(100));
        Path empty = Files.createFile(folder.resolve("empty"));
        assertThatThrownBy(() -> ElfFile.open(text)).hasMessage("reading '" + text + "': it is not an ELF file");
        assertThatThrownBy(() -> ElfFile.open(empty)).hasMessage("reading '" + empty + "': it is empty");
        assertThatThrownBy(() -> ElfFile.open(folder)).hasMessage("reading '" + folder + "': it is not a regular file");
        assertThatThrownBy(() -> ElfFile.open(folder.resolve("gone")))
                .hasMessage("reading '" + folder.resolve("gone") + "': no such file");
    }

    @Test
    void itsFirstBytesSayWhetherAFileIsOne() throws Exception {
        assertThat(ElfFile.isOne(library())).isTrue();
        assertThat(ElfFile.isOne(Files.write(folder.resolve("cut"), new byte[] {0x7f, 'E', 'L', 'F'}))).isTrue();
        assertThat(ElfFile.isOne(Files.writeString(folder.resolve("script"), "#!/bin/sh\n"))).isFalse();
        assertThat(ElfFile.isOne(Files.createFile(folder.resolve("nothing")))).isFalse();
        assertThatThrownBy(() -> ElfFile.isOne(folder.resolve("gone")))
                .hasMessage("reading '" + folder.resolve("gone") + "': no such file");
    }

    @Test
    void objectFileIsRefused() throws Exception {
        Path object = Gcc.compile(folder, "f.o", "int f(void) { return 1; }", "-c");
        assertThatThrownBy(() -> ElfFile.open(object))
                .hasMessage("reading '" + object + "': it is an object file, not a library or program");
    }

    @Test
    void codeIsNamedByTheFunctionThatCoversIt(@TempDir Path folder) throws Exception {
        Path library = Gcc.compile(folder, "libnames.so", """
                static int hidden(int x) { for (int i = 0; i < 9; i++) x = x * 7 + i; return x; }
                int shown(int x) { return hidden(x) + hidden(x + 1); }
                """, "-shared", "-fPIC", "-O0");
        try (ElfFile elf = ElfFile.open(library)) {
            long shown = elf.fileOffset(elf.find("shown").symbols().getFirst().address()).orElseThrow();
            long hidden = elf.fileOffset(elf.find("hidden").symbols().getFirst().address()).orElseThrow();
            assertThat(elf.functionsAt(List.of(shown, hidden + 5, 0L)))
                    .isEqualTo(Map.of(shown, "shown", hidden + 5, "hidden"));
            assertThat(elf.codeAddress(shown).orElseThrow()).isEqualTo(elf.find("shown").symbols().getFirst().address());
        }
    }

    @Test
    void aFunctionOfAFileThatWasCutMeanwhileHasNoName() throws Exception {
        // Of 90 KB of names: more than are copied.
        Path library = Gcc.compile(folder, "libcut.so", """
                __asm__(".macro f\\n function_with_a_long_name_\\\\@: ret\\n .type function_with_a_long_name_\\\\@, @function\\n"
                        ".size function_with_a_long_name_\\\\@, 1\\n .endm\\n .rept 3000\\n f\\n .endr\\n");
                """, "-shared", "-fPIC");
        FunctionIndex index;
        long place;
        try (ElfFile elf = ElfFile.open(library)) {
            index = elf.functionIndex();
            Symbol function = elf.find("function_with_a_long_name_7").symbols().getFirst();
            place = elf.fileOffset(function.address()).orElseThrow();
        }
        assertThat(index.at(place)).contains("function_with_a_long_name_7");
        try (FileChannel file = FileChannel.open(library, StandardOpenOption.WRITE)) {
            file.truncate(4096);
        }
        assertThat(index.at(place)).isEmpty();
    }

    @Test
    void variablesAreFoundByTheEndOfTheirNames(@TempDir Path folder) throws Exception {
        Path library = Gcc.compile(folder, "libhandles.so", """
                static void *one asm("_ZZL1aE8__handle");
                static void *two asm("_ZZL1bE8__handle");
                static void *other;
                void *use(int n) { return n ? (n > 1 ? one : two) : other; }
                void set(void *v) { one = two = other = v; }
                """, "-shared", "-fPIC", "-O0");
        try (ElfFile elf = ElfFile.open(library)) {
            assertThat(elf.variables("E8__handle").values())
                    .containsExactlyInAnyOrder("_ZZL1aE8__handle", "_ZZL1bE8__handle");
        }
    }
}
