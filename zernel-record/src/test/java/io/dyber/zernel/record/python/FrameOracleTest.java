package io.dyber.zernel.record.python;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.python.FrameWalker.Frame;
import io.dyber.zernel.record.python.InterpreterLayout.Frames.Entry;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// The frames of threads that wait, found from outside, against what the interpreter itself says of them.
final class FrameOracleTest {
    @ParameterizedTest
    @MethodSource("io.dyber.zernel.record.python.Pythons#all")
    void theFramesOfEveryThreadAreFound(Path python) throws Exception {
        try (PythonProgram program = PythonProgram.start(python, "frames.py")) {
            FrameWalker walker = new FrameWalker(program.layout(), program.bias(), program.memory());
            assertThat(program.said()).hasSize(15);
            for (String said : program.said()) {
                String[] parts = said.split(" ");
                List<Frame> frames = walker.frames(Long.parseLong(parts[0]));
                assertThat(frames.stream().map(frame -> text(program.codes(), frame)))
                        .containsExactlyElementsOf(Arrays.stream(parts).skip(1).map(FrameOracleTest::text).toList());
                frames.forEach(frame -> assertIsEntered(program, frame));
            }
            assertThat(walker.frames(1)).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("io.dyber.zernel.record.python.Pythons#all")
    void framesAreThoseOfTheSubinterpreterThatRuns(Path python) throws Exception {
        try (PythonProgram program = PythonProgram.start(python, "subinterpreters.py")) {
            FrameWalker walker = new FrameWalker(program.layout(), program.bias(), program.memory());
            assertThat(program.said()).hasSize(2);
            List<Frame> inside = walker.frames(Long.parseLong(program.said().getFirst()));
            assertThat(inside.stream().map(frame -> text(program.codes(), frame)))
                    .singleElement()
                    .asString()
                    .matches("<module>:3:<(string|script)>");
            List<Frame> beside = walker.frames(Long.parseLong(program.said().getLast()));
            assertThat(text(program.codes(), beside.getFirst())).matches("beside:27:.*/subinterpreters\\.py");
        }
    }

    /// Functions are named for who calls them; in 3.10 C calls all.
    private static void assertIsEntered(PythonProgram program, Frame frame) {
        String function = program.codes().read(frame.code()).orElseThrow().function();
        if (function.endsWith("_by_c")) {
            assertThat(frame.entered()).as(function).isTrue();
        }
        if (function.endsWith("_by_python")) {
            assertThat(frame.entered()).as(function).isEqualTo(program.layout().frames().entry() == Entry.EVERY);
        }
    }

    private static String text(CodeReader reader, Frame frame) {
        CodeObject code = reader.read(frame.code()).orElseThrow();
        return code.function() + ":" + code.line(frame.offset()).orElse(-1) + ":" + code.file();
    }

    private static String text(String hexadecimal) {
        return new String(HexFormat.of().parseHex(hexadecimal), StandardCharsets.UTF_8);
    }
}
