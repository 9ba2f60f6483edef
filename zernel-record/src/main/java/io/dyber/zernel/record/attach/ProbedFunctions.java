package io.dyber.zernel.record.attach;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.bpf.Site;
import io.dyber.zernel.record.event.CallCounts;
import io.dyber.zernel.record.event.Layer;
import io.dyber.zernel.record.probe.CollectorProbe;
import io.dyber.zernel.record.probe.Function;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.probe.OperatorProbe;
import io.dyber.zernel.record.probe.PythonProbe;
import io.dyber.zernel.record.probe.PythonRegions;
import io.dyber.zernel.record.probe.UsdtProbe;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// The account of all functions that were to be probed: where, whether it went well, and how often they were called.
public final class ProbedFunctions {
    private final BpfPrograms kernel;
    private final Predicate<String> idle;
    private final List<FunctionProbe> named;
    private final List<ProbedFunction> probed = new ArrayList<>();
    private final Map<Integer, Integer> places = new HashMap<>();

    /// @param idle whether a library, by its path, was probed for the case that a process loads it, and none has
    /// @param named what the user wants to have probed
    ProbedFunctions(BpfPrograms kernel, Predicate<String> idle, List<FunctionProbe> named) {
        this.kernel = kernel;
        this.idle = idle;
        this.named = List.copyOf(named);
    }

    /// Takes in a function; one with the number of another is what has become of that one.
    void add(ProbedFunction row) {
        Integer before = row.isNumbered() ? places.put(row.id(), probed.size()) : null;
        if (before == null) {
            probed.add(row);
        } else {
            places.put(row.id(), before);
            probed.set(before, row);
        }
    }

    /// Whether the function of this number is attached now.
    public boolean isAttached(int id) {
        Integer place = places.get(id);
        return place != null && probed.get(place).isAttached();
    }

    /// Whether any function of the driver of a kind is attached.
    boolean hasDriver(String kind) {
        return probed.stream()
                .anyMatch(row -> row.isAttached()
                        && row.hook().layer() == Layer.DRIVER
                        && row.hook().probe().kind().equals(kind));
    }

    /// Whether all functions of a kind that a file of the driver has are attached.
    boolean isWhole(String library, String kind) {
        return probed.stream()
                .filter(row -> row.library().equals(library)
                        && row.hook().layer() == Layer.DRIVER
                        && row.hook().probe().kind().equals(kind))
                .allMatch(row -> row.isAttached() || row.state().equals("missing"));
    }

    /// Functions attached so far, in libraries that are not only foreseen.
    public int attached() {
        return (int) inUse().filter(ProbedFunction::isAttached).count();
    }

    private Stream<ProbedFunction> inUse() {
        Map<String, Boolean> known = new HashMap<>();
        return probed.stream().filter(row -> !known.computeIfAbsent(row.library(), idle::test));
    }

    public boolean isAttached(String kind) {
        return inUse().anyMatch(row -> row.isAttached() && row.hook().probe().kind().equals(kind));
    }

    /// The sums of all functions that are or were attached, by number.
    ///
    /// @param ended whether nothing is recorded any more
    public Map<Integer, FunctionCounts> counts(CallCounts counts, boolean ended) {
        Map<Integer, FunctionCounts> sums = new HashMap<>();
        for (ProbedFunction row : probed) {
            if (row.isNumbered()) {
                FunctionCounts counted =
                        FunctionCounts.of(kernel.counters(row.id()), counts, row.id(), sendsEnter(row));
                sums.put(row.id(), ended ? counted : counted.goingOn(sendsEnter(row)));
            }
        }
        return sums;
    }

    private boolean sendsEnter(ProbedFunction row) {
        boolean joins = row.left() || kernel.functions().map(probes -> probes.backend().joinsByStackPointer()).orElse(false);
        return FunctionTable.sendsEnter(row.hook(), joins);
    }

    /// The footer's `zernel.probes`, of what was between two moments.
    public List<Footer.ProbeState> describe(Map<Integer, FunctionCounts> from, Map<Integer, FunctionCounts> to) {
        List<Footer.ProbeState> rows = new ArrayList<>();
        for (ProbedFunction row : inUse().toList()) {
            FunctionCounts before = from.getOrDefault(row.id(), FunctionCounts.NONE);
            FunctionCounts after = to.getOrDefault(row.id(), FunctionCounts.NONE);
            // Of thousands of operators, a program calls some dozens.
            boolean idleOperator = row.hook().probe().kind().equals(OperatorProbe.KIND) && row.isAttached();
            if (!idleOperator || after.entries() > 0) {
                boolean sendsEnter = sendsEnter(row);
                rows.add(row.describe(after.since(before), before.open(sendsEnter), after.open(sendsEnter)));
            }
        }
        unseen().forEach(hook -> rows.add(ProbedFunction.failed(hook, hook.symbol(), hook.probe().library(), "", "waiting", notLoaded(hook))
                .describe(FunctionCounts.NONE, 0, 0)));
        return rows;
    }

    /// Probes of the user that no file had a function for, one line each.
    public List<String> unmatched() {
        List<String> lines = new ArrayList<>();
        unseen().forEach(hook -> lines.add(text(hook) + " matched nothing: " + notLoaded(hook)));
        for (FunctionProbe hook : named) {
            List<ProbedFunction> rows = inUse().filter(row -> isOf(row, hook)).toList();
            if (!rows.isEmpty() && rows.stream().allMatch(row -> row.state().equals("missing"))) {
                lines.add(text(hook) + " matched nothing: " + rows.getFirst().library() + ": " + rows.getFirst().why());
            }
        }
        return lines;
    }

    /// Probes of the user whose library was nowhere.
    private Stream<FunctionProbe> unseen() {
        return named.stream().filter(hook -> inUse().noneMatch(row -> isOf(row, hook)));
    }

    /// Whether a function was probed for what the user asked: of operators and of Python it is one of many.
    private static boolean isOf(ProbedFunction row, FunctionProbe hook) {
        return switch (hook.probe()) {
            case Function _, UsdtProbe _, PythonRegions _, CollectorProbe _ -> row.hook().probe().equals(hook.probe());
            case OperatorProbe _, PythonProbe _ -> row.hook().probe().kind().equals(hook.probe().kind());
        };
    }

    private static String notLoaded(FunctionProbe hook) {
        return switch (hook.probe()) {
            case PythonProbe _, PythonRegions _, CollectorProbe _ -> "no recorded process is one of Python";
            case Function _, UsdtProbe _, OperatorProbe _ -> "no recorded process has loaded " + hook.probe().library();
        };
    }

    private static String text(FunctionProbe hook) {
        String library = hook.probe().library();
        return "--probe '"
                + switch (hook.probe()) {
                    case Function _ -> library + ":" + hook.symbol();
                    case UsdtProbe _ -> "usdt:" + library + ":" + hook.symbol();
                    case OperatorProbe _ -> "torch_op:" + hook.symbol();
                    case PythonProbe _ -> "py_call:" + hook.symbol();
                    case PythonRegions _, CollectorProbe _ -> hook.symbol();
                }
                + "'";
    }

    /// How many rows of a kind each of CUDA's layers gave between two moments, and how many calls had theirs in the other;
    /// empty for kinds that are of none.
    public Map<String, Long> layers(String kind, Map<Integer, FunctionCounts> from, Map<Integer, FunctionCounts> to) {
        Map<String, Long> layers = new TreeMap<>();
        for (ProbedFunction row : probed) {
            if (row.hook().layer() != Layer.NONE && row.hook().probe().kind().equals(kind)) {
                FunctionCounts counts = to.getOrDefault(row.id(), FunctionCounts.NONE)
                        .since(from.getOrDefault(row.id(), FunctionCounts.NONE));
                layers.merge(row.hook().layer().title(), counts.events(), Long::sum);
                layers.merge("covered", counts.covered(), Long::sum);
            }
        }
        return layers;
    }

    /// Whether calls of a function take a debug trap.
    public boolean anyTrapped() {
        return probed.stream().anyMatch(row -> row.isAttached() && row.traps() > 0);
    }

    /// How often the probes were hit so far.
    public Overhead.Hits hits(CallCost cost) {
        Overhead.Hits hits = Overhead.Hits.NO;
        for (ProbedFunction row : probed) {
            if (row.isNumbered()) {
                Site.End end = Attachments.end(row.hook(), row.left());
                hits = hits.plus(kernel.counters(row.id()), end, row.hook().endsEvery(), row.traps(), cost);
            }
        }
        return hits;
    }

    /// Why a kind whose library is there could not be attached, if so.
    public Optional<String> problem(String kind) {
        return inUse()
                .filter(row -> !row.isAttached() && row.hook().probe().kind().equals(kind))
                .map(row -> row.symbol() + " in " + row.library() + ": " + row.why())
                .findFirst();
    }

    /// What keeps the recording from holding all that was asked for. Functions are attached together, so thousands may lack
    /// for one reason.
    public List<String> problems() {
        Map<String, List<String>> symbols = new LinkedHashMap<>();
        for (ProbedFunction row : inUse().toList()) {
            if (row.state().equals("failed")) {
                symbols.computeIfAbsent(row.library() + ": " + row.why(), _ -> new ArrayList<>()).add(row.symbol());
            }
        }
        return symbols.entrySet().stream()
                .map(failed -> "probe on " + quoted(failed.getValue()) + " in " + failed.getKey())
                .toList();
    }

    private static String quoted(List<String> symbols) {
        String first = "'" + symbols.getFirst() + "'";
        return symbols.size() == 1 ? first : first + " and " + (symbols.size() - 1) + " more";
    }
}
