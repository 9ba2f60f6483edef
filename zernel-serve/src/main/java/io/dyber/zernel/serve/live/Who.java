package io.dyber.zernel.serve.live;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.serve.source.Facts;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Who the processes and devices are that series are about, as the recording says, which is asked again while it grows.
///
/// Not thread-safe.
final class Who {
    private static final long ASKED_AGAIN_NANOS = 900_000_000L;
    /// In the order in which the analyzer's `_process_info` looks at them.
    private static final List<String> RANKS = List.of("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK");

    private Supplier<Facts> source = () -> Facts.NONE;
    private Facts facts = Facts.NONE;
    private final Map<Long, Footer.ProcessInfo> processes = new HashMap<>();
    private boolean asked;
    private long askedNanos;

    void source(Supplier<Facts> newSource) {
        source = newSource;
        asked = false;
    }

    /// Asks what is known now, but not more than once a second; whether that is something new.
    ///
    /// @param shown processes that keep what was known of them where nothing is said of them any more
    boolean refresh(Set<Long> shown) {
        long now = System.nanoTime();
        if (asked && now - askedNanos < ASKED_AGAIN_NANOS) {
            return false;
        }
        asked = true;
        askedNanos = now;
        Facts said = source.get();
        if (said.equals(facts)) {
            return false;
        }
        facts = said;
        processes.keySet().retainAll(shown);
        said.processes().forEach(process -> processes.put(process.pid(), process));
        return true;
    }

    Facts facts() {
        return facts;
    }

    Footer.@Nullable ProcessInfo process(long pid) {
        return processes.get(pid);
    }

    /// The rank of the process with this label; empty where it has none, or is not known.
    String rank(String pid) {
        return Optional.ofNullable(pid.equals(SeriesTable.OTHER) ? null : processes.get(Long.parseLong(pid)))
                .map(Who::rank)
                .orElse("");
    }

    /// As a process was started with; empty where that names none.
    static String rank(Footer.ProcessInfo process) {
        return RANKS.stream().flatMap(name -> number(process, name)).findFirst().orElse("");
    }

    /// A variable of the environment that is a number.
    static Stream<String> number(Footer.ProcessInfo process, String name) {
        String value = process.environment().get(name);
        return value != null && value.matches("\\d{1,9}") ? Stream.of(value) : Stream.empty();
    }
}
