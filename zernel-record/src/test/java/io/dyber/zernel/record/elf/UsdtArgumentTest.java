package io.dyber.zernel.record.elf;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.elf.UsdtArgument.Location.Constant;
import io.dyber.zernel.record.elf.UsdtArgument.Location.InMemory;
import io.dyber.zernel.record.elf.UsdtArgument.Location.InRegister;
import io.dyber.zernel.record.elf.UsdtArgument.Location.Unreadable;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class UsdtArgumentTest {
    private static UsdtArgument only(String text) {
        assertThat(UsdtArgument.parseAll(text)).hasSize(1);
        return UsdtArgument.parseAll(text).getFirst();
    }

    @Test
    void readsARegister() {
        assertThat(only("8@%rdi")).isEqualTo(new UsdtArgument("8@%rdi", 8, false, new InRegister(Register.RDI)));
    }

    @Test
    void readsPartOfARegister() {
        assertThat(only("-1@%r9b")).isEqualTo(new UsdtArgument("-1@%r9b", 1, true, new InRegister(Register.R9)));
    }

    @Test
    void readsMemory() {
        assertThat(only("-4@-20(%rbp)"))
                .isEqualTo(new UsdtArgument(
                        "-4@-20(%rbp)", 4, true, new InMemory(Register.RBP, Optional.empty(), 1, -20)));
    }

    @Test
    void readsScaledMemory() {
        assertThat(only("2@0x10(%rax,%r12,4)").location())
                .isEqualTo(new InMemory(Register.RAX, Optional.of(Register.R12), 4, 16));
    }

    @Test
    void readsAConstant() {
        assertThat(only("-4@$-1")).isEqualTo(new UsdtArgument("-4@$-1", 4, true, new Constant(-1)));
    }

    @Test
    void readsSeveral() {
        assertThat(UsdtArgument.parseAll("-8@%rbp -1@%al 4@$1 -8@56(%rsp)"))
                .extracting(UsdtArgument::location)
                .containsExactly(
                        new InRegister(Register.RBP),
                        new InRegister(Register.RAX),
                        new Constant(1),
                        new InMemory(Register.RSP, Optional.empty(), 1, 56));
    }

    @Test
    void noArgumentsAreNone() {
        assertThat(UsdtArgument.parseAll("")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "8@x0", "8@[sp, 16]", "4f@%xmm0", "8@counter(%rip)", "1@%ah", "16@%rax", "8@", "8@$99999999999999999999",
        "8@(%rax,%nope)", "nonsense"
    })
    void whatCannotBeReadIsSaidToBeUnreadable(String text) {
        assertThat(only(text).location()).isEqualTo(new Unreadable());
    }
}
