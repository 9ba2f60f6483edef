package io.dyber.zernel.record.python;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.python.InterpreterLayout.Threads;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// What is read of code objects from outside against what the interpreter itself says of them.
final class CodeReaderOracleTest {
    private static final int NONE = -1;

    /// Behind this many bytes of code only the first instruction of each line is looked at, as each costs a walk of the table.
    private static final int LONG = 4000;

    @ParameterizedTest
    @MethodSource("io.dyber.zernel.record.python.Pythons#all")
    void everyCodeObjectHasItsNamesAndLines(Path python) throws Exception {
        try (PythonProgram program = PythonProgram.start(python, "codes.py")) {
            CodeReader reader = program.codes();
            assertThat(program.said()).hasSizeGreaterThan(1500);
            long lines = 0;
            for (String said : program.said()) {
                lines += assertIsRead(reader, said.split(" "));
            }
            assertThat(lines).isGreaterThan(200_000);
        }
    }

    @ParameterizedTest
    @MethodSource("io.dyber.zernel.record.python.Pythons#all")
    void otherObjectsAreNoCode(Path python) throws Exception {
        try (PythonProgram program = PythonProgram.start(python, "codes.py")) {
            CodeReader reader = program.codes();
            long code = Long.parseLong(program.said().getFirst().split(" ")[0]);
            assertThat(reader.read(code)).isPresent();
            assertThat(reader.read(code + 1)).isEmpty();
            assertThat(reader.read(code + 16)).isEmpty();
            assertThat(reader.read(program.layout().codeType() + program.bias())).isEmpty();
            assertThat(reader.read(0)).isEmpty();
            assertThat(reader.read(-8)).isEmpty();
            program.process().destroyForcibly().waitFor();
            assertThat(reader.read(code)).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("io.dyber.zernel.record.python.Pythons#all")
    void theInterpreterIsLaidOutAsItsLayoutSays(Path python) throws Exception {
        try (PythonProgram program = PythonProgram.start(python, "codes.py")) {
            InterpreterLayout layout = program.layout();
            assertThat(problem(program, layout)).isEmpty();
            assertThat(new LayoutCheck(layout, program.bias() + 16, program.memory()).problem())
                    .get().asString().startsWith("its code objects have 'co_");
            Threads right = layout.threads();
            for (int wrong : new int[] {-16, -8, 8, 16}) {
                assertThreadsAreElsewhere(program, right.interpreters() + wrong, right.threads(), right.threadInterpreter());
                assertThreadsAreElsewhere(program, right.interpreters(), right.threads(), right.threadInterpreter() + wrong);
            }
            // Behind the first thread is, in later versions, the main one, which often is the same.
            assertThreadsAreElsewhere(program, right.interpreters(), right.threads() - 8, right.threadInterpreter());
        }
    }

    private static void assertThreadsAreElsewhere(
            PythonProgram program, int interpreters, int threads, int threadInterpreter) {
        assertThat(problem(program, changed(program.layout(), interpreters, threads, threadInterpreter)))
                .contains("its threads are not where they are expected");
    }

    private static Optional<String> problem(PythonProgram program, InterpreterLayout layout) {
        return new LayoutCheck(layout, program.bias(), program.memory()).problem();
    }

    private static InterpreterLayout changed(InterpreterLayout layout, int interpreters, int threads, int threadInterpreter) {
        Threads right = layout.threads();
        Threads wrong = new Threads(
                interpreters, right.nextInterpreter(), threads, right.nextThread(), threadInterpreter, right.threadId(),
                right.frame(), right.currentFrame());
        return new InterpreterLayout(
                layout.version(), layout.freeThreaded(), layout.runtime(), layout.runtimeBytes(), layout.codeType(), wrong,
                layout.frames(), layout.code(), layout.texts());
    }

    /// How many bytes of code were looked at.
    private static int assertIsRead(CodeReader reader, String[] said) {
        Optional<CodeObject> found = reader.read(Long.parseLong(said[0]));
        CodeObject code = found.orElseThrow(() -> new AssertionError("not read: " + String.join(" ", said)));
        assertThat(code.file()).isEqualTo(text(said[1]));
        assertThat(code.function()).isEqualTo(text(said[2]));
        assertThat(code.firstLine()).isEqualTo(Integer.parseInt(said[3]));
        if (Integer.parseInt(said[4]) > 256 << 10) {
            assertThat(code.line(0)).isEmpty();
            return 0;
        }
        int[] lines = lines(said[5]);
        int end = lines.length;
        for (int offset = 0; offset < end + 4; offset++) {
            int expected = offset < end ? lines[offset] : NONE;
            if (offset < LONG || offset >= end || expected != lines[offset - 1]) {
                assertThat(code.line(offset).orElse(NONE)).as("%s at %d", code.function(), offset).isEqualTo(expected);
            }
        }
        assertThat(code.line(-2)).hasValue(code.firstLine());
        assertThat(code.line(-1)).isEmpty();
        assertThat(code.line(Long.MAX_VALUE)).isEmpty();
        return end;
    }

    /// The line of each byte of code.
    private static int[] lines(String said) {
        String[] ranges = said.split(",");
        int[] lines = new int[Integer.parseInt(ranges[ranges.length - 1].split(":")[1])];
        Arrays.fill(lines, NONE);
        for (String range : ranges) {
            String[] parts = range.split(":");
            int line = parts[2].equals("-") ? NONE : Integer.parseInt(parts[2]);
            Arrays.fill(lines, Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), line);
        }
        return lines;
    }

    private static String text(String hexadecimal) {
        if (hexadecimal.equals("-")) {
            return "";
        }
        ByteBuffer characters =
                ByteBuffer.wrap(HexFormat.of().parseHex(hexadecimal)).order(ByteOrder.LITTLE_ENDIAN);
        StringBuilder text = new StringBuilder();
        while (characters.hasRemaining() && text.codePointCount(0, text.length()) < 512) {
            int character = characters.getInt();
            text.appendCodePoint(character >= 0xd800 && character <= 0xdfff ? 0xfffd : character);
        }
        return text.toString();
    }
}
