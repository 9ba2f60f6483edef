package io.dyber.zernel.analyze.report.text;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.FindingLine;
import io.dyber.zernel.analyze.report.table.Page;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class FindingsTextTest {
    @Test
    void aFindingSaysWhichOneAboveBeginsWithTheSameLine() {
        Diagnosis diagnosis = new Diagnosis(
                List.of(
                        finding("asleep", line(0.9, "train.py:8 poll"), line(0.1, "train.py:9 log")),
                        finding("slow_steps", line(0.6, "train.py:9 log"), line(0.4, "train.py:8 poll")),
                        finding("growing_steps", line(0.8, "train.py:8 poll"))),
                List.of());
        assertThat(lines(diagnosis)).containsExactly(
                "   line  90 % of the time: train.py:8 poll",
                "         10 % of the time: train.py:9 log",
                "   line  60 % of the time: train.py:9 log",
                "         40 % of the time: train.py:8 poll",
                "   line  80 % of the time: train.py:8 poll, as in 1");
    }

    private static Stream<String> lines(Diagnosis diagnosis) {
        StringWriter text = new StringWriter();
        new FindingsText(new Page(new PrintWriter(text), 100, false, true)).write(diagnosis);
        return text.toString().lines().filter(line -> line.contains(" of the time: "));
    }

    private static FindingLine line(double share, String place) {
        return new FindingLine("the time", share, place, null, null, null, 1e9 * share, 10);
    }

    private static Finding finding(String name, FindingLine... lines) {
        return new Finding(
                name, "X.", "pid 100", 30.0, "%", "high", 8.0, 2.0, "evidence", "advice", "next", Map.of(), List.of(lines));
    }
}
