package io.dyber.zernel.serve.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

final class SeriesOptionsTest {
    private final StringWriter err = new StringWriter();

    @Test
    void aLabelThatIsNoneIsOneLineAndAMistakeOfUse() {
        assertThat(run("serve", "run.parquet", "--label", "my-team=vision")).isEqualTo(2);
        assertThat(err.toString()).isEqualTo("""
                zernel serve: reading label 'my-team=vision': a name has letters, digits and _, and no digit first
                hint: 'zernel serve --help' lists the options
                """);
    }

    @Test
    void aLabelThatSeriesHaveIsRefused() {
        assertThat(run("serve", "run.parquet", "--label", "cluster=a", "--label", "rank=3")).isEqualTo(2);
        assertThat(err.toString())
                .startsWith("zernel serve: reading label 'rank=3': series have a label 'rank' already; give another name\n");
    }

    @Test
    void seriesAreOfOneProcessAtLeast() {
        for (String number : new String[] {"0", "-1"}) {
            err.getBuffer().setLength(0);
            assertThat(run("serve", "run.parquet", "--max-pids", number)).isEqualTo(2);
            assertThat(err.toString()).isEqualTo("""
                    zernel serve: --max-pids is 1 or more
                    hint: 'zernel serve --help' lists the options
                    """);
        }
    }

    private int run(String... arguments) {
        return Zernel.run(new PrintWriter(new StringWriter()), new PrintWriter(err, true), arguments);
    }
}
