package io.dyber.zernel.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.schema.EventType;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The recipe of CONTRIBUTING.md for a new kind, as far as it is documents and tests; `NewKindIT` follows the rest.
class NewKindTest {
    private static final EventType SCHED = kinds().stream()
            .filter(kind -> kind.kind().equals("sched"))
            .findFirst()
            .orElseThrow();
    private static final String IT = "WHERE kind = 'sched'";

    private static List<EventType> kinds() {
        return CompiledPrograms.schema(List.of()).kinds();
    }

    @Test
    void nothingIsLeftOutOfTheKindsThatShip() throws IOException {
        KindRules rules = KindRules.shipped();
        assertThat(kinds().stream().flatMap(kind -> rules.breaches(kind).stream())).isEmpty();
    }

    @Test
    void aKindWithoutItsRowIsNamed() throws IOException {
        String page = KindRules.shipped().page().replace("| `sched` |", "| `scheduler` |");
        assertThat(new KindRules(page, IT).breaches(SCHED)).containsExactly("bpf/README.md has no row of 'sched'");
    }

    @Test
    void aColumnThatItsRowDoesNotHaveIsNamed() {
        String page = "| `sched` | a thread was off its CPU | `off-cpu` | `runq_ns`, `state`, `waker_*`, `other_pid` |\n";
        assertThat(new KindRules(page, IT).breaches(SCHED))
                .containsExactly("the row of 'sched' in bpf/README.md does not name the column 'other_comm'");
    }

    @Test
    void aKindThatNoTestRecordsIsNamed() throws IOException {
        assertThat(new KindRules(KindRules.shipped().page(), "WHERE kind = 'sched_other'").breaches(SCHED))
                .containsExactly("no IT reads rows of 'sched'");
    }
}
