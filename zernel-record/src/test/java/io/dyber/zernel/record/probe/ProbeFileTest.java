package io.dyber.zernel.record.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ProbeFileTest {
    private static final List<ProbeSpec> EXPECTED = List.of(
            ProbeSpec.parse("libfoo.so:my_call(bytes=arg2, stream=arg4)"),
            ProbeSpec.parse("libfoo.so:my_other_*(bytes=arg2, stream=arg4)"),
            ProbeSpec.parse("usdt:libc10_cuda.so:pytorch:malloc(addr=arg1)"),
            ProbeSpec.parse("libbar.so:f(name=arg1:str)"));

    @TempDir
    private Path folder;

    private Path file(String name, String content) throws IOException {
        return Files.writeString(folder.resolve(name), content);
    }

    @Test
    void readsYaml() throws Exception {
        Path file = file("probes.yaml", """
                - library: libfoo.so
                  symbols: [my_call, "my_other_*"]
                  args: {bytes: arg2, stream: arg4}
                - library: libc10_cuda.so
                  usdt: pytorch:malloc
                  args:
                    addr: arg1
                - libbar.so:f(name=arg1:str)
                """);
        assertThat(ProbeFile.read(file)).isEqualTo(EXPECTED);
    }

    @Test
    void readsJson() throws Exception {
        Path file = file("probes.json", """
                [{"library": "libfoo.so", "symbols": ["my_call", "my_other_*"],
                  "args": {"bytes": "arg2", "stream": "arg4"}},
                 {"library": "libc10_cuda.so", "usdt": "pytorch:malloc", "args": {"addr": "arg1"}},
                 "libbar.so:f(name=arg1:str)"]
                """);
        assertThat(ProbeFile.read(file)).isEqualTo(EXPECTED);
    }

    @Test
    void kindsThatNeedNoLibraryAreNamedByThemselves() throws Exception {
        Path file = file("probes.yaml", """
                - torch_op: [aten::conv*, add]
                - py_call: Trainer.*
                - py_call:PyObject_Call*
                """);
        assertThat(ProbeFile.read(file)).containsExactly(
                new OperatorProbe("aten::conv*"),
                new OperatorProbe("add"),
                new PythonProbe("Trainer.*"),
                new PythonProbe("PyObject_Call*"));
        assertWrong("- torch_op: add\n  args: {}", "entry 1 has other keys besides torch_op");
        assertWrong("- torch_op: []", "entry 1 has no torch_op");
    }

    @Test
    void aRoleStandsBesideTheArguments() throws Exception {
        Path file = file("roles.yaml", """
                - library: libfoo.so
                  symbols: [next_batch, prefetch]
                  args: {bytes: arg2}
                  role: data_wait
                - py_call: Trainer.step
                  role: step
                """);
        assertThat(ProbeFile.read(file)).containsExactly(
                ProbeSpec.parse("libfoo.so:next_batch(bytes=arg2, role=data_wait)"),
                ProbeSpec.parse("libfoo.so:prefetch(bytes=arg2, role=data_wait)"),
                ProbeSpec.parse("py_call:Trainer.step(role=step)"));
    }

    @Test
    void saysWhatIsWrongWhere() throws Exception {
        assertWrong("- library: l.so\n  symbol: f\n  arg: {}", "entry 1 has an unknown key 'arg', known are library, "
                + "symbol, symbols, usdt, args, role, torch_op, py_call");
        assertWrong("- library: l.so", "entry 1 has no symbols");
        assertWrong("- l.so:f\n- symbol: f", "entry 2 has no library");
        assertWrong("- library: l.so\n  symbol: f\n  args: {a: 5}", "entry 1 has no text for 'a', such as arg1");
        assertWrong("- library: l.so\n  symbol: f\n  args: [a]", "entry 1 has args that are not COLUMN: VALUE");
        assertWrong("- 7", "entry 1 is neither a probe text nor an object with library, symbols and args");
        assertWrong("library: l.so", "it must hold a list of probes");
        assertWrong("", "it must hold a list of probes");
    }

    private void assertWrong(String content, String why) throws IOException {
        Path file = file("wrong.yaml", content);
        assertThatThrownBy(() -> ProbeFile.read(file)).hasMessage("reading probes from '" + file + "': " + why);
    }

    @Test
    void brokenJsonNamesTheLine() throws Exception {
        Path file = file("broken.json", "[\n{\n");
        assertThatThrownBy(() -> ProbeFile.read(file))
                .hasMessageStartingWith("reading probes from '" + file + "': line 3: ");
    }

    @Test
    void brokenYamlNamesTheLine() throws Exception {
        assertWrong("- library: l.so\n  symbol: [f\n- l.so:g\n", "line 4: expected ',' or ']', but got <stream end>");
        assertWrong("- library: l.so\n  symbol: f\n  symbol: g\n", "line 3: found duplicate key symbol");
    }

    @Test
    void wrongProbeIsShownWithACaret() throws Exception {
        Path file = file("probe.yaml", "- library: l.so\n  symbol: f\n  args: {a: arg99}");
        assertThatThrownBy(() -> ProbeFile.read(file))
                .isInstanceOf(ProbeSyntaxException.class)
                .hasMessageContaining("l.so:f(a=arg99)\n           ^");
    }

    @Test
    void missingFileIsSaid() {
        Path file = folder.resolve("gone.yaml");
        assertThatThrownBy(() -> ProbeFile.read(file)).hasMessage("reading probes from '" + file + "': no such file");
    }
}
