package io.dyber.zernel.record.attach;

import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.bpf.ProbeLinks;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.Layer;
import io.dyber.zernel.record.option.Detail;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.rows.EventPump;
import io.dyber.zernel.record.rows.EventWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// The probes that [Detail] speaks of: attaches them for a window and takes them away after it, so that outside of windows
/// they cost nothing; and counts their calls that are not recorded one by one.
///
/// In a window every call is recorded that begins in it. It ends by recording no more that begin; the probes go when those
/// that had begun have ended too. Of functions that call one another, the outer ones are recorded from a moment later on and
/// to a moment earlier: one of them is a row only if no call inside it is. It belongs to the recording's thread.
public final class DetailProbes {
    /// So long it is waited for a call that began in a window to end.
    private static final long LONGEST_CALL_NANOS = TimeUnit.SECONDS.toNanos(1);

    /// So long it is waited for the calls of an outer function that have just begun to make the call inside them, which takes
    /// a few microseconds.
    private static final long INWARD_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /// Those inside first.
    private static final List<Predicate<FunctionProbe>> BY_LAYER = List.of(
            hook -> hook.layer() != Layer.RUNTIME,
            hook -> hook.layer() == Layer.RUNTIME && !Detail.isWrapper(hook),
            Detail::isWrapper);

    private final BpfPrograms kernel;
    private final EventPump pump;
    private final EventWriter writer;
    private final Detail detail;
    private final Map<Integer, Probed> probed = new LinkedHashMap<>();
    private final Map<Integer, Long> counted = new HashMap<>();
    private final List<Group> groups = new ArrayList<>();
    private State state = State.OPEN;
    private final Set<List<ProbeLinks>> companions = Collections.newSetFromMap(new IdentityHashMap<>());
    private Optional<CompletableFuture<Boolean>> unended = Optional.empty();
    private CompletableFuture<Void> detached = CompletableFuture.completedFuture(null);
    private long closedNanos;
    private long since = Clock.monotonicNanos();

    private enum State {
        /// No probe is there.
        CLOSED,
        /// They are being attached, and nothing is recorded yet.
        OPENING,
        OPEN,
        /// The last calls of a window end.
        ENDING,
        /// The probes are being taken away.
        DETACHING
    }

    private record Probed(int id, FunctionProbe hook, String symbol, FunctionDefinition definition) {}

    /// Probes of a file that are attached and taken away together.
    ///
    /// @param attaching attaches them and says what is to be detached
    private record Group(Attaching attaching, List<ProbeLinks> links) {}

    /// Attaches functions and says how many; the kernel may refuse some.
    interface Attaching {
        int attach(List<ProbeLinks> links);
    }

    public DetailProbes(BpfPrograms kernel, EventPump pump, EventWriter writer, Detail detail) {
        this.kernel = kernel;
        this.pump = pump;
        this.writer = writer;
        this.detail = detail;
    }

    /// What is done about their calls.
    Detail detail() {
        return detail;
    }

    /// Whether probes are to be there.
    boolean isOpen() {
        return state == State.OPEN || state == State.OPENING;
    }

    /// Whether no probes come and go so far.
    public boolean isEmpty() {
        return groups.isEmpty();
    }

    /// Takes in probes that come and go with the windows. They are attached at once, so that it is known which can be, and
    /// outside of a window taken away again.
    ///
    /// @return how many were attached
    int add(Attaching attaching) {
        Group group = new Group(attaching, new ArrayList<>());
        groups.add(group);
        int attached = attaching.attach(group.links());
        if (state == State.CLOSED || state == State.DETACHING) {
            group.links().forEach(ProbeLinks::detach);
            group.links().clear();
        }
        return attached;
    }

    /// Has probes that others attach in a window taken away with the rest: the list is empty then.
    void takeAlong(List<ProbeLinks> links) {
        companions.add(links);
    }

    /// A probe of them was attached, perhaps again.
    ///
    /// @param definition of its function, to be given again with another sample
    void attached(int id, FunctionProbe hook, String symbol, FunctionDefinition definition) {
        probed.put(id, new Probed(id, hook, symbol, definition));
    }

    /// Of the calls of a hook one in so many is recorded now, 0 for none.
    int sample(FunctionProbe hook) {
        return state == State.OPEN ? detail.sample(hook) : 0;
    }

    /// Attaches them, to [#open] soon.
    void attach() {
        state = State.OPENING;
        groups.forEach(group -> {
            if (group.links().isEmpty()) {
                int _ = group.attaching().attach(group.links());
            }
        });
    }

    /// From now on their calls are recorded, when all probes are there.
    ///
    /// @return since when, on CLOCK_MONOTONIC
    long open() {
        state = State.OPEN;
        BY_LAYER.forEach(this::define);
        return Clock.monotonicNanos();
    }

    /// From now on no call is recorded that begins.
    ///
    /// @return since when, on CLOCK_MONOTONIC
    long close() {
        state = State.ENDING;
        boolean nested = probed.values().stream().anyMatch(one -> one.hook().layer() == Layer.DRIVER);
        for (Predicate<FunctionProbe> outer : BY_LAYER.reversed().subList(0, BY_LAYER.size() - 1)) {
            if (define(outer) > 0 && nested) {
                LockSupport.parkNanos(INWARD_NANOS);
            }
        }
        closedNanos = Clock.monotonicNanos();
        define(BY_LAYER.getFirst());
        unended = Optional.empty();
        return closedNanos;
    }

    /// Takes the probes away as soon as all calls have ended that were to be recorded.
    ///
    /// @return whether that is done
    boolean settle() {
        if (state == State.DETACHING && detached.isDone()) {
            state = State.CLOSED;
        }
        if (state != State.ENDING) {
            return state == State.CLOSED;
        }
        Set<Integer> functions = Set.copyOf(probed.keySet());
        if (unended.isEmpty()) {
            CompletableFuture<Boolean> asked = new CompletableFuture<>();
            unended = Optional.of(asked);
            pump.onceDecoded(decoder -> asked.complete(decoder.isOpen(functions, Long.MAX_VALUE)));
            return false;
        }
        boolean patient = Clock.monotonicNanos() - closedNanos < LONGEST_CALL_NANOS;
        if (patient && unended.get().getNow(true)) {
            unended = unended.filter(answer -> !answer.isDone());
            return false;
        }
        detach(functions);
        return false;
    }

    /// The calls that are still open when all that was sent is decoded are those whose ends nobody will see.
    private void detach(Set<Integer> functions) {
        List<ProbeLinks> links = new ArrayList<>();
        Stream.concat(groups.stream().map(Group::links), companions.stream()).forEach(some -> {
            links.addAll(some);
            some.clear();
        });
        state = State.DETACHING;
        detached = ProbeLinks.detachAll(links);
        pump.onceDecoded((Decoder decoder) -> decoder.giveUpOpen(functions));
    }

    /// Has calls of such functions recorded or not, as the state is, and says how many functions there are.
    private int define(Predicate<FunctionProbe> such) {
        List<Probed> those = probed.values().stream().filter(one -> such.test(one.hook())).toList();
        those.forEach(one -> kernel.defineFunction(one.id(), one.definition().sampled(sample(one.hook()))));
        return those.size();
    }

    /// Calls of theirs that were lost so far.
    public long lost() {
        return kernel.names().entrySet().stream()
                .filter(function -> probed.containsKey(function.getKey()))
                .mapToLong(function -> {
                    long[] counters = kernel.countersNow(function.getKey());
                    boolean sendsEnter = function.getValue().sendsEnter();
                    return FunctionCounts.lost(counters, sendsEnter) + FunctionCounts.endsLost(counters, sendsEnter);
                })
                .sum();
    }

    /// Calls of theirs so far, recorded or not.
    public long hits() {
        return probed.keySet().stream().mapToLong(id -> kernel.countersNow(id)[FunctionCounts.HITS]).sum();
    }

    /// Writes how many calls were only counted since the last call: a row per function. Of those that are recorded in windows
    /// there are none: what is counted at the edges of a window is in none.
    public void note() {
        if (detail.isEach()) {
            return;
        }
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

    private void write(Probed one, long count, long start, long end) {
        writer.event(one.hook().probe().kind(), one.symbol(), writer.epochNanos(start))
                .with("dur_ns", end - start)
                .with("count", count)
                .write();
    }
}
