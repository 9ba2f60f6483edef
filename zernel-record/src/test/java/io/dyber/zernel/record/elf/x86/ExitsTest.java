package io.dyber.zernel.record.elf.x86;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ExitsTest {
    private static byte[] code(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    private static List<Integer> exits(String hex) {
        Exits exits = Exits.of(code(hex), Surroundings.UNKNOWN).orElseThrow();
        return Stream.concat(exits.returns().stream(), exits.jumps().stream()).sorted().toList();
    }

    @Test
    void aFunctionIsLeftAtItsReturnsAndAtJumpsOutOfIt() {
        // push; test; je; pop; ret; pop; jmp far away
        assertThat(exits("55 85ff 7402 5d c3 5d e900100000")).containsExactly(6, 8);
        // jmp to the function's own start, both forms; rep ret; ret 8
        assertThat(exits("ebfe e9f9ffffff f3c3 c20800")).containsExactly(7, 9);
    }

    @Test
    void returnsAreToldFromJumps() {
        Exits exits = Exits.of(code("85ff 7401 c3 e900100000"), Surroundings.UNKNOWN).orElseThrow();
        assertThat(exits.returns()).containsExactly(4);
        assertThat(exits.jumps()).containsExactly(5);
    }

    @Test
    void indirectJumpsLeaveUnlessMarkedAsThoseOfASwitch() {
        // jmp *%rax; jmp *8(%rax); jmp *table(%rip); notrack jmp *%rax; call *%rax
        assertThat(exits("ffe0 ff6008 ff2500000000 3effe0 ffd0")).containsExactly(0, 2, 5);
    }

    @Test
    void jumpsWithAFrameOnTheStackDoNotLeave() {
        // push; jmp *%rax: a switch; pop; ret of a case; pop; jmp *%rax: the call at the end of another
        assertThat(exits("53 ffe0 5b c3 5b ffe0")).containsExactly(4, 6);
        // sub $40,%rsp; test; je; add $40,%rsp; ret; jmp far away: to cold code
        assertThat(exits("4883ec28 85ff 7405 4883c428 c3 e900100000")).containsExactly(12);
        // push %rbp; mov %rsp,%rbp; sub $300,%rsp; leave; jmp *%rax; push; mov %rbp,%rsp; pop %rbp; jmp *%rcx
        assertThat(exits("55 4889e5 4881ec2c010000 c9 ffe0")).containsExactly(12);
        // push %rbp; push %rbx; jmp *%rax; lea -8(%rbp),%rsp; pop %rbx; pop %rbp; jmp *%rcx
        assertThat(exits("55 4889e5 53 7402 ffe0 488d65f8 5b 5d ffe1")).containsExactly(15);
    }

    @Test
    void aFunctionThatNeverReturnsHasNoExit() {
        // push; call; ud2
        assertThat(exits("50 e800000000 0f0b")).isEmpty();
    }

    @Test
    void aFunctionIsSimpleWhenNothingElseRunsInIt() {
        assertThat(Exits.of(code("55 85ff 7402 5d c3 5d c3"), Surroundings.UNKNOWN)).hasValueSatisfying(exits -> assertThat(exits.simple()).isTrue());
        // mov %rsp,%rbp; pop; ret and leave; ret
        assertThat(Exits.of(code("55 4889e5 c9 c3"), Surroundings.UNKNOWN)).hasValueSatisfying(exits -> assertThat(exits.simple()).isTrue());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "e800000000 c3", // call
                "ffd0 c3", // call *%rax
                "ff10 c3", // call *(%rax)
                "0f05 c3", // syscall
                "e900100000 c3", // jmp out
                "0f8400100000 c3", // je out
                "ffe0 c3", // jmp *%rax
                "4889fc c3", // mov %rdi,%rsp
                "488b27 c3", // mov (%rdi),%rsp
                "488763f8 c3", // xchg %rsp,-8(%rbx)
                "4894 c3", // xchg %rax,%rsp
                "5c c3", // pop %rsp
                "0f0b" // ud2
            })
    void aFunctionIsNotSimpleWhenOtherCodeRunsOrTheStackIsAnother(String hex) {
        assertThat(Exits.of(code(hex), Surroundings.UNKNOWN)).hasValueSatisfying(exits -> assertThat(exits.simple()).isFalse());
    }

    @Test
    void codeThatIsNotKnownToTheEndHasNone() {
        assertThat(Exits.of(code("c3 06"), Surroundings.UNKNOWN)).isEmpty();
        assertThat(Exits.of(code("c3 e90000"), Surroundings.UNKNOWN)).isEmpty();
        assertThat(exits("")).isEmpty();
    }

    @Test
    void codeWithJumpsBetweenItsInstructionsHoldsSomethingElseToo() {
        // je into the operand of mov
        assertThat(Exits.of(code("7402 b8c3c3c3c3 c3"), Surroundings.UNKNOWN)).isEmpty();
        // je past a lock prefix
        assertThat(exits("7401 f0830701 c3")).containsExactly(6);
    }

    /// Every operand byte is a `ret`, so that a wrong length is seen as an exit too many.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "b8c3c3c3c3", // mov imm32
                "48b8c3c3c3c3c3c3c3c3", // movabs imm64
                "66b8c3c3", // mov imm16
                "66c700c3c3", // movw imm16, (%rax)
                "48c7c0c3c3c3c3", // mov imm32, %rax
                "f70424c3c3c3c3", // testl imm32, (%rsp)
                "f605c3c3c3c3c3", // testb imm8, disp32(%rip)
                "f7d8", // neg
                "488b8424c3c3c3c3", // mov disp32(%rsp)
                "8b0425c3c3c3c3", // mov disp32
                "8b44c3c3", // mov disp8(%rbx,%rax,8)
                "4181fdc3c3c3c3", // cmp imm32, %r13d
                "0f84c3c3c3c3", // je
                "e8c3c3c3c3", // call
                "a8c3", // test imm8
                "0fbae0c3", // bt imm8
                "660f3a0fc1c3", // palignr imm8
                "0f38f000", // movbe
                "f20f70c0c3", // pshuflw imm8
                "c5f877", // vzeroupper
                "c5fd70c0c3", // vpshufd imm8
                "c4e3790fc1c3", // vpalignr imm8
                "c4e27918c0", // vbroadcastss
                "62f17c48104001", // vmovups zmm, disp8
                "62f3fd4825c0c3", // vpternlogq imm8
                "c8c3c3c3", // enter
                "a1c3c3c3c3c3c3c3c3", // movabs moffs
                "662e0f1f8400c3c3c3c3", // long nop
                "f30f1efa" // endbr64
            })
    void instructionsHaveTheirLength(String instruction) {
        byte[] code = code(instruction + "c3");
        assertThat(InstructionLength.of(code, 0)).isEqualTo(code.length - 1);
        assertThat(Exits.of(code, Surroundings.UNKNOWN)).hasValueSatisfying(exits -> assertThat(exits.returns()).containsExactly(code.length - 1));
    }

    private static List<Exit> earlier(String hex, Surroundings around) {
        return Exits.of(code(hex), around).orElseThrow().earlier();
    }

    /// What frees is 4,096 bytes behind the function, and the pointer to it 8,192.
    private static final Surroundings FREES = around(Map.of());

    /// What frees, what never returns, and other code, by its place.
    private static Surroundings around(Map<Integer, String> parts) {
        return new Surroundings() {
            @Override
            public boolean frees(int place) {
                return place == 0x1000;
            }

            @Override
            public boolean isPointerToFreeing(int place) {
                return place == 0x2000;
            }

            @Override
            public boolean neverReturns(int place) {
                return place == 0x3000;
            }

            @Override
            public byte[] code(int place) {
                return ExitsTest.code(parts.getOrDefault(place, ""));
            }
        };
    }

    @Test
    void aBranchBeforeTheEndIsPassedInsteadOfTheReturn() {
        // push %rbp; push %rbx; call; test; je; xor %eax,%eax; pop; pop; ret
        assertThat(earlier("55 53 e800010000 85c0 7402 31c0 5b 5d c3", Surroundings.UNKNOWN)).containsExactly(new Exit(9, 16));
        // call; nop; ret
        assertThat(earlier("e800010000 90 c3", Surroundings.UNKNOWN)).containsExactly(new Exit(5, 0));
    }

    @Test
    void callsThatFreeAreNoWork() {
        // push %rbp; mov %rsp,%rbp; sub $40,%rsp; call; test; je; call free; leave; ret
        String direct = "55 4889e5 4883ec28 e800010000 85c0 7405 e8ea0f0000 c9 c3";
        assertThat(earlier(direct, FREES)).containsExactly(new Exit(15, 48));
        assertThat(earlier(direct, Surroundings.UNKNOWN)).isEmpty();
        // the same through a pointer
        String behind = "55 4889e5 4883ec28 e800010000 85c0 7406 ff15e91f0000 c9 c3";
        assertThat(earlier(behind, FREES)).containsExactly(new Exit(15, 48));
        assertThat(earlier(behind, Surroundings.UNKNOWN)).isEmpty();
    }

    @Test
    void eachWayToEachReturnHasItsInstruction() {
        // push; call; test; je to the second; jmp; pop; ret; nop; pop; ret
        assertThat(earlier("53 e800010000 85c0 7404 eb00 5b c3 90 5b c3", Surroundings.UNKNOWN)).containsExactly(new Exit(8, 8));
        // push; test; je to the second; call; jmp; pop; ret; second: pop; ret
        assertThat(earlier("53 85ff 7409 e800010000 eb00 5b c3 5b c3", Surroundings.UNKNOWN)).isEmpty();
        // a landing pad that nothing leads to: call; nop; ret; pop; ret
        assertThat(earlier("e800010000 90 c3 58 c3", Surroundings.UNKNOWN)).isEmpty();
    }

    @Test
    void nopsOfSeveralBytesAreNotProbed() {
        // call; nop; ret, with nops of 2, 3 and 5 bytes
        assertThat(earlier("e800010000 6690 c3", Surroundings.UNKNOWN)).containsExactly(new Exit(5, 0));
        assertThat(earlier("e800010000 0f1f00 c3", Surroundings.UNKNOWN)).isEmpty();
        assertThat(earlier("e800010000 0f1f440000 c3", Surroundings.UNKNOWN)).isEmpty();
    }

    @Test
    void anInstructionThatMayRunMoreOftenIsNoEnd() {
        // dec %edi; jne back; ret
        assertThat(earlier("ffcf 75fc c3", Surroundings.UNKNOWN)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "4883e4e0", // and $-32,%rsp
                "4829c4", // sub %rax,%rsp
                "482bc4 482be0", // sub %rsp,%rax; sub %rax,%rsp
                "4889dc", // mov %rbx,%rsp
                "498d62f8", // lea -8(%r10),%rsp
                "4a8d2424", // lea (%rsp,%r12),%rsp
            })
    void withAStackThatIsNotFollowedTheReturnsThemselvesAreProbed(String instruction) {
        // push %rbp; mov %rsp,%rbp; ...; call; nop; leave; ret
        assertThat(earlier("55 4889e5" + instruction + "e800010000 90 c9 c3", Surroundings.UNKNOWN)).isEmpty();
        assertThat(earlier("55 4889e5 4883e810 e800010000 90 c9 c3", Surroundings.UNKNOWN)).hasSize(1);
    }

    @Test
    void whereTheStackDoesNotAddUpTheReturnsThemselvesAreProbed() {
        // push; call; nop; ret
        assertThat(earlier("53 e800010000 90 c3", Surroundings.UNKNOWN)).isEmpty();
        // test; je; push; nop; pop; ret: as high or not when the nop is reached
        assertThat(earlier("85ff 7401 53 90 5b c3", Surroundings.UNKNOWN)).isEmpty();
    }

    /// As GCC puts the handler of an exception: `f.cold` ends with a jump behind the branch.
    @Test
    void codeThatLiesElsewhereMayLeadBackBehindTheInstruction() {
        // push; call; test; je; xor; pop; ret; pad: mov; jmp cold
        String code = "53 e800010000 85c0 7402 31c0 5b c3 4889c3 e9ea0f0000";
        // cold: call; jmp to the pop; or to the test; or call what never returns, before something else
        assertThat(earlier(code, around(Map.of(0x1000, "e800010000 e902f0ffff")))).isEmpty();
        assertThat(earlier(code, around(Map.of(0x1000, "e800010000 e9fcefffff"))))
                .containsExactly(new Exit(8, 8));
        assertThat(earlier(code, around(Map.of(0x1000, "e8fb1f0000 e9f7efffff")))).containsExactly(new Exit(8, 8));
        // not readable, and no instruction
        assertThat(earlier(code, around(Map.of()))).isEmpty();
        assertThat(earlier(code, around(Map.of(0x1000, "06")))).isEmpty();
    }

    @Test
    void aTableOfJumpsMayLeadAnywhere() {
        // push; notrack jmp *%rax; call; nop; pop; ret
        assertThat(earlier("53 3effe0 e800010000 90 5b c3", Surroundings.UNKNOWN)).isEmpty();
    }

    @Test
    void copyingIsWork() {
        // push; call; jmp; rep movsb; pop; ret, and with movsb once
        assertThat(earlier("53 e800010000 eb00 f3a4 5b c3", Surroundings.UNKNOWN)).isEmpty();
        assertThat(earlier("53 e800010000 eb00 a4 5b c3", Surroundings.UNKNOWN)).containsExactly(new Exit(6, 8));
    }

    @Test
    void aFunctionThatOnlyFreesIsNotLeftWhereItBegins() {
        // push; test; je; call free; pop; ret
        assertThat(earlier("53 85ff 7405 e8f60f0000 5b c3", FREES)).isEmpty();
    }

    @Test
    void indirectJumpsAreToldFromOthers() {
        assertThat(Exits.of(code("85ff 7402 ffe0 c3"), Surroundings.UNKNOWN)).hasValueSatisfying(exits -> assertThat(exits.indirect()).isTrue());
        assertThat(Exits.of(code("85ff 7405 e900100000 c3"), Surroundings.UNKNOWN)).hasValueSatisfying(exits -> assertThat(exits.indirect()).isFalse());
    }
}
