package io.dyber.zernel.record.attach;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.bpf.ProbeLinks;
import io.dyber.zernel.record.option.LaunchDetail;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.rows.EventWriter;
import io.dyber.zernel.record.rows.MarkRows;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// The probes that [LaunchDetail] speaks of, while they are attached: can make them cheaper, and counts their calls that
/// are not recorded one by one.
public final class FrequentCalls {
    private final BpfPrograms kernel;
    private final EventWriter writer;
    private final Map<Integer, Probed> probed = new LinkedHashMap<>();
    private final Map<Integer, Long> counted = new HashMap<>();
    private final Budget budget;
    private LaunchDetail launches;
    private long since = Clock.monotonicNanos();

    private record Probed(int id, FunctionProbe hook, String symbol, FunctionDefinition definition, ProbeLinks links) {}

    public FrequentCalls(BpfPrograms kernel, EventWriter writer, RecordOptions options) {
        this.kernel = kernel;
        this.writer = writer;
        this.launches = options.launches();
        this.budget = new Budget(options.overheadBudget());
    }

    /// What is done now.
    LaunchDetail launches() {
        return launches;
    }

    /// A probe of them was attached, perhaps again.
    ///
    /// @param definition of its function, to be given again with another sample
    /// @param links of it and others like it
    void add(int id, FunctionProbe hook, String symbol, FunctionDefinition definition, ProbeLinks links) {
        probed.put(id, new Probed(id, hook, symbol, definition, links));
    }

    /// Makes do with less when the probes took too much of a CPU, and marks the moment.
    ///
    /// @param share of one CPU that they took in the last interval
    /// @return what was changed, for people
    public Optional<String> keepWithinBudget(double share) {
        Optional<Budget.Change> change = budget.check(share, launches);
        change.ifPresent(step -> {
            change(step.to());
            long now = writer.epochNanos(Clock.monotonicNanos());
            budget.note(step, now);
            writer.event(MarkRows.KIND, step.text(), now).write();
        });
        return change.map(Budget.Change::text);
    }

    /// The footer's `zernel.launches`.
    public Footer.Launches describe() {
        return budget.describe(launches);
    }

    /// Writes how many calls were only counted since the last call: a row per function.
    public void note() {
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

    private void change(LaunchDetail less) {
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
        writer.event(one.hook().probe().kind(), one.symbol(), writer.epochNanos(start))
                .with("dur_ns", end - start)
                .with("count", count)
                .write();
    }
}
