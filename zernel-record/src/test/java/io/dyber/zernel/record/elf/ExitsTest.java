package io.dyber.zernel.record.elf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ExitsTest {
    private static byte[] code(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    @Test
    void aFunctionIsLeftAtItsReturnsAndAtJumpsOutOfIt() {
        // push; test; je; pop; ret; pop; jmp far away
        assertThat(Exits.of(code("55 85ff 7402 5d c3 5d e900100000"))).hasValueSatisfying(
                exits -> assertThat(exits).containsExactly(6, 8));
        // jmp to the function's own start, both forms; rep ret; ret 8
        assertThat(Exits.of(code("ebfe e9f9ffffff f3c3 c20800"))).hasValueSatisfying(
                exits -> assertThat(exits).containsExactly(7, 9));
    }

    @Test
    void indirectJumpsLeaveUnlessMarkedAsThoseOfASwitch() {
        // jmp *%rax; jmp *8(%rax); jmp *table(%rip); notrack jmp *%rax; call *%rax
        assertThat(Exits.of(code("ffe0 ff6008 ff2500000000 3effe0 ffd0"))).hasValueSatisfying(
                exits -> assertThat(exits).containsExactly(0, 2, 5));
    }

    @Test
    void codeThatIsNotKnownToTheEndHasNone() {
        assertThat(Exits.of(code("c3 06"))).isEmpty();
        assertThat(Exits.of(code("c3 e90000"))).isEmpty();
        assertThat(Exits.of(code(""))).hasValueSatisfying(exits -> assertThat(exits).isEmpty());
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
        assertThat(Exits.of(code)).hasValueSatisfying(exits -> assertThat(exits).containsExactly(code.length - 1));
    }
}
