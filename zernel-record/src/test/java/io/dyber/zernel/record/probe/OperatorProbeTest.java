package io.dyber.zernel.record.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.elf.Gcc;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class OperatorProbeTest {
    private static final String LIBRARY = """
            #define CALL(name) void name(void) {}
            CALL(_ZN2at4_ops10add_Tensor4callERKNS_6TensorES4_)
            CALL(_ZN2at4_ops10add_Tensor10redispatchEN3c1014DispatchKeySetERKNS_6TensorES4_)
            CALL(_ZN2at4_ops11add__Tensor4callERNS_6TensorERKS2_)
            CALL(_ZN2at4_ops6conv2d4callERKNS_6TensorE)
            CALL(_ZN2at4_ops8size_int4callERKNS_6TensorEl)
            const char *const schemas[] = {"add.Tensor(Tensor self, Tensor other) -> Tensor",
                "add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "conv2d(Tensor input) -> Tensor",
                "size.int(Tensor self, int dim) -> int"};
            """;

    @TempDir
    private Path folder;

    private List<String> names(String glob) throws Exception {
        Path file = Gcc.compile(folder, "libtorch_cpu.so", LIBRARY, "-shared", "-fPIC");
        try (ElfFile elf = ElfFile.open(file)) {
            return new OperatorProbe(glob).functions(elf).stream().map(Function::name).toList();
        }
    }

    @Test
    void theEntrancesOfTheDispatcherAreProbed() throws Exception {
        assertThat(names("*")).containsExactlyInAnyOrder("aten::add", "aten::add_", "aten::conv2d");
        assertThat(names("aten::conv*")).containsExactly("aten::conv2d");
        assertThat(names("add")).containsExactly("aten::add");
        assertThat(names("nothing")).isEmpty();
    }

    @Test
    void whatTheProfilerLeavesOutIsProbedByNameOnly() throws Exception {
        assertThat(names("size")).containsExactly("aten::size");
        assertThat(names("siz*")).isEmpty();
    }

    @Test
    void namesComeFromSchemasAndElseFromTheLongestName() {
        OperatorNames names = new OperatorNames("""
                \0scatter.reduce_out(Tensor self) -> Tensor(a!)\0aten::scatter\0aten::scatter_reduce
                \0special_expm1.out(Tensor self) -> Tensor\0aten::expm1\0aten::add\0aten::add_\0see add.Tensor(x)
                \0""".replace("\n", "").getBytes(StandardCharsets.US_ASCII));

        assertThat(names.of("scatter_reduce_out")).isEqualTo("aten::scatter");
        assertThat(names.of("expm1_out")).isEqualTo("aten::expm1");
        assertThat(names.of("special_expm1_out")).isEqualTo("aten::special_expm1");
        assertThat(names.of("add_Tensor")).isEqualTo("aten::add");
        assertThat(names.of("add__Tensor")).isEqualTo("aten::add_");
        assertThat(names.of("new_one_Tensor")).isEqualTo("aten::new_one_Tensor");
    }

    @Test
    void aProbeTextNamesOperators() {
        assertThat(ProbeSpec.parse("torch_op:aten::conv*")).isEqualTo(new OperatorProbe("aten::conv*"));
        assertThatThrownBy(() -> ProbeSpec.parse("torch_op:add(bytes=arg1)"))
                .isInstanceOf(ProbeSyntaxException.class)
                .hasMessageContaining("the operator ends before '('");
        assertThatThrownBy(() -> ProbeSpec.parse("torch_op:"))
                .isInstanceOf(ProbeSyntaxException.class)
                .hasMessageContaining("the operator is missing");
    }
}
