package io.dyber.zernel.record;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.bpf.ProbeLinks;
import io.dyber.zernel.record.event.Schema;
import io.dyber.zernel.record.event.Texts;
import io.dyber.zernel.record.probe.Hook;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// The probes that [Launches] speaks of, while they are attached: can make them cheaper, and counts their calls that
/// are not recorded one by one.
final class FrequentCalls {
    private final KernelSide kernel;
    private final EventPump pump;
    private final Schema schema;
    private final Clock clock;
    private final Texts texts;
    private final Map<Integer, Probed> probed = new LinkedHashMap<>();
    private final Map<Integer, Long> counted = new HashMap<>();
    private final Budget budget;
    private Launches launches;
    private long since = Clock.monotonicNanos();

    private record Probed(int id, Hook hook, String symbol, FunctionDefinition definition, ProbeLinks links) {}

    FrequentCalls(
            KernelSide kernel, EventPump pump, Schema schema, Clock clock, Texts texts, RecordOptions options) {
        this.kernel = kernel;
        this.pump = pump;
        this.schema = schema;
        this.clock = clock;
        this.texts = texts;
        this.launches = options.launches();
        this.budget = new Budget(options.overheadBudget());
    }

    /// What is done now.
    Launches launches() {
        return launches;
    }

    /// A probe of them was attached, perhaps again.
    ///
    /// @param definition of its function, to be given again with another sample
    /// @param links of it and others like it
    void add(int id, Hook hook, String symbol, FunctionDefinition definition, ProbeLinks links) {
        probed.put(id, new Probed(id, hook, symbol, definition, links));
    }

    /// Makes do with less when the probes took too much of a CPU, and marks the moment.
    ///
    /// @param share of one CPU that they took in the last interval
    /// @return what was changed, for people
    Optional<String> keepWithinBudget(double share) {
        Optional<Budget.Change> change = budget.check(share, launches);
        change.ifPresent(step -> {
            change(step.to());
            long now = Clock.monotonicNanos() + clock.offsetNanos();
            budget.note(step, now);
            long[] row = {schema.index("name"), texts.id(step.text()), schema.index("ts_ns"), now};
            pump.later(decoder -> decoder.add(MarkRows.KIND, row));
        });
        return change.map(Budget.Change::text);
    }

    /// The footer's `zernel.launches`.
    Footer.Launches describe() {
        return budget.describe(launches);
    }

    /// Writes how many calls were only counted since the last call: a row per function.
    void note() {
        long now = Clock.monotonicNanos();
        for (Probed one : probed.values()) {
            long total = kernel.counters(one.id())[FunctionCounts.SAMPLED_OUT];
            long before = counted.getOrDefault(one.id(), 0L);
            if (total > before) {
                counted.put(one.id(), total);
                write(one, total - before, since, now);
            }
        }
        since = now;
    }

    private void change(Launches less) {
        launches = less;
        for (Probed one : probed.values()) {
            if (less.attach(one.hook())) {
                kernel.defineFunction(one.id(), one.definition().sampled(less.sample(one.hook())));
            } else {
                one.links().detach();
            }
        }
    }

    private void write(Probed one, long count, long start, long end) {
        long[] row = {
            schema.index("name"), texts.id(one.symbol()),
            schema.index("ts_ns"), start + clock.offsetNanos(),
            schema.index("dur_ns"), end - start,
            schema.index("count"), count
        };
        pump.later(decoder -> decoder.add(one.hook().probe().kind(), row));
    }
}
