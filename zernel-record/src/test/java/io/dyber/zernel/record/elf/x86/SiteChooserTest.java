package io.dyber.zernel.record.elf.x86;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SiteChooserTest {
    private static Site choose(String hex) {
        return SiteChooser.choose(HexFormat.of().parseHex(hex.replace(" ", "")));
    }

    @ParameterizedTest(name = "{1}")
    @CsvSource({
        "55, push %rbp",
        "57, push %rdi",
        "41 57, push %r15",
        "41 50, push %r8",
        "90, nop",
        "66 90, 2-byte nop",
        "0f 1f 00, 3-byte nop",
        "0f 1f 40 00, 4-byte nop",
        "0f 1f 44 00 00, 5-byte nop",
        "eb 10, jmp rel8",
        "e9 00 01 00 00, jmp rel32",
        "74 10, je rel8",
        "0f 84 00 01 00 00, je rel32",
        "e8 00 01 00 00, call rel32"
    })
    void emulatedInstructionIsTakenAtTheStart(String code, String instruction) {
        assertThat(choose(code)).isEqualTo(new Site(0, Site.Cost.EMULATED));
    }

    @ParameterizedTest(name = "{1}")
    @CsvSource({
        "66 0f 1f 84 00 00 00 00 00, 9-byte nop",
        "31 c0, xor",
        "48 89 e5, mov %rsp into %rbp",
        "48 83 ec 08, sub $8 from %rsp",
        "48 8d 05 00 00 00 00, lea",
        "c3, ret",
        "ff 25 00 00 00 00, jmp through memory",
        "81 fe 00 01 00 00, cmp $imm32 with a register",
        "83 3e 00, cmp $imm8 with memory at a register",
        "85 3e, test with memory",
        "f3 0f 1e fb, endbr32",
        "41, half an instruction",
        "e8 00 01, half a call",
        "cc, int3"
    })
    void anythingElseIsSingleSteppedAtTheStart(String code, String instruction) {
        assertThat(choose(code)).isEqualTo(new Site(0, Site.Cost.SINGLE_STEPPED));
    }

    @ParameterizedTest(name = "{2}")
    @CsvSource({
        "f3 0f 1e fa 55, 4, endbr64",
        "81 3d 11 22 33 44 01 00 00 00 55, 10, cmpl $imm32 with a global (libcuda)",
        "48 81 3d 11 22 33 44 01 00 00 00 55, 11, cmpq $imm32 with a global",
        "83 3d 11 22 33 44 00 55, 7, cmpl $imm8 with a global",
        "80 3d 11 22 33 44 00 55, 7, cmpb $imm8 with a global",
        "85 ff 74 10, 2, test %edi",
        "48 85 ff 74 10, 3, test %rdi",
        "40 84 ff 55, 3, test %dil",
        "83 ff 05 77 10, 3, cmp $5 with %edi",
        "f3 0f 1e fa 48 85 ff 0f 84 00 10 00 00, 7, endbr64 then test",
        "f3 0f 1e fa 41 57 41 56, 4, push %r15 after endbr64",
        "f3 0f 1e fa 80 3d 11 22 33 44 00 85 ff 85 f6 55, 15, four of them"
    })
    void harmlessInstructionsAreSkipped(String code, int shift, String instruction) {
        assertThat(choose(code)).isEqualTo(new Site(shift, Site.Cost.EMULATED));
    }

    @Test
    void fiveStepsAreTooMany() {
        assertThat(choose("f3 0f 1e fa 85 ff 85 f6 85 d2 85 c9 55")).isEqualTo(new Site(0, Site.Cost.SINGLE_STEPPED));
    }

    @Test
    void instructionThatMovesArgumentsEndsTheWalk() {
        assertThat(choose("f3 0f 1e fa 48 89 fe 55")).isEqualTo(new Site(0, Site.Cost.SINGLE_STEPPED));
    }

    @Test
    void siteThatALoopJumpsBackToIsNotTaken() {
        // endbr64; 1: test %edi,%edi; je 2f; dec %edi; jmp 1b; 2: ret
        assertThat(choose("f3 0f 1e fa 85 ff 74 04 ff cf eb f8 c3")).isEqualTo(new Site(0, Site.Cost.SINGLE_STEPPED));
    }

    @Test
    void farJumpBackIsSeenToo() {
        // endbr64; 1: test %edi,%edi; je 2f; dec %edi; jmp 1b (rel32); 2: ret
        assertThat(choose("f3 0f 1e fa 85 ff 74 07 ff cf e9 f5 ff ff ff c3"))
                .isEqualTo(new Site(0, Site.Cost.SINGLE_STEPPED));
    }

    @Test
    void jumpBackToTheVeryStartIsANewCall() {
        // test %edi,%edi; je 2f; dec %edi; jmp to the start; 2: ret
        assertThat(choose("85 ff 74 04 ff cf eb f8 c3")).isEqualTo(new Site(2, Site.Cost.EMULATED));
    }

    @Test
    void emptyCodeIsSingleStepped() {
        assertThat(choose("")).isEqualTo(new Site(0, Site.Cost.SINGLE_STEPPED));
    }

    private static Site chooseBehind(String hex, int offset) {
        return SiteChooser.chooseBehind(HexFormat.of().parseHex(hex.replace(" ", "")), offset);
    }

    @Test
    void whereAFunctionReadsBehindItsFirstArgumentFirstTheRegisterHoldsWhatItRead() {
        // mov (%rdi),%rdi; add $16,%rdi; jmp
        assertThat(chooseBehind("48 8b 3f 48 83 c7 10 e9 00 01 00 00", 0))
                .isEqualTo(new Site(7, Site.Cost.EMULATED, OptionalInt.of(16)));
        // endbr64; mov 8(%rdi),%rdi; push
        assertThat(chooseBehind("f3 0f 1e fa 48 8b 7f 08 55", 8))
                .isEqualTo(new Site(8, Site.Cost.EMULATED, OptionalInt.of(0)));
    }

    @ParameterizedTest(name = "{1}")
    @CsvSource({
        "48 8b 7f 08 55, it reads elsewhere",
        "48 8b 37 55, another register is loaded",
        "48 8b 3f 48 83 c6 10 55, something else is added to",
        "48 8b 3f 89 e5, nothing is emulated behind it",
        "48 8b 3f 90 ff cf eb fb, it would be hit in each round",
        "48 8b 3f, it ends"
    })
    void otherwiseItIsProbedAtItsStart(String code, String why) {
        assertThat(chooseBehind(code, 0)).isEqualTo(new Site(0, Site.Cost.SINGLE_STEPPED));
    }
}
