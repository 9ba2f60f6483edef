package io.dyber.zernel.serve;

import io.dyber.zernel.serve.analysis.Findings;
import io.dyber.zernel.serve.fleet.FleetAnalysis;
import io.dyber.zernel.serve.fleet.FleetState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// What `/api/fleet` answers, and the web page shows.
///
/// @param version 1; changes when a field changes its meaning, not when fields are added
/// @param ranks how many there are; all of them are in `machines`
/// @param latest the ten ranks that come latest to collectives
record FleetPage(
        int version,
        long nowMs,
        String folder,
        long evaluatedMs,
        double tookSeconds,
        String trouble,
        FleetState.Words verdict,
        List<Found> findings,
        List<FleetState.Count> findingCounts,
        int ranks,
        long missingRanks,
        double meanStepSeconds,
        double longestStepSeconds,
        Map<String, Double> phases,
        List<FleetState.Rank> latest,
        List<Machine> machines,
        Map<String, Long> digests,
        List<FleetAnalysis.Left> leftOut,
        List<Snapshot.Raised> alerts) {
    private static final int VERSION = 1;
    private static final int LATEST = 10;

    /// A finding, and in how many rounds of digests one after the other it was.
    record Found(int rounds, Findings.Found found) {}

    /// A machine's recorder, and its ranks by their place.
    record Machine(
            String host, String recorder, String state, String digest, double ageSeconds, long fromMs, long toMs, List<Cell> ranks) {}

    /// A rank, for the map.
    record Cell(String name, double stepMs, double lateMs, String level, boolean named) {}

    static FleetPage of(
            FleetState state, FleetAnalysis.Arrivals arrivals, List<Snapshot.Raised> alerts, long refused, long nowMs) {
        List<Found> found = new ArrayList<>();
        for (int i = 0; i < state.rounds().size(); i++) {
            found.add(new Found(state.rounds().get(i), state.findings().findings().get(i)));
        }
        Map<String, Long> digests = new LinkedHashMap<>(arrivals.fates());
        digests.merge("refused", refused, Long::sum);
        return new FleetPage(
                VERSION,
                nowMs,
                arrivals.folder(),
                state.evaluatedMs(),
                state.tookSeconds(),
                state.trouble(),
                state.verdict(),
                found,
                state.counts(),
                state.ranks().size(),
                state.missingRanks(),
                state.meanStepSeconds(),
                state.longestStepSeconds(),
                state.phases(),
                state.latest(LATEST),
                machines(state, arrivals, nowMs),
                digests,
                arrivals.troubles(),
                alerts);
    }

    private static List<Machine> machines(FleetState state, FleetAnalysis.Arrivals arrivals, long nowMs) {
        Map<String, List<Cell>> cells = new LinkedHashMap<>();
        for (FleetState.Rank rank : state.ranks()) {
            Double late = rank.lateSeconds();
            cells.computeIfAbsent(rank.host(), _ -> new ArrayList<>())
                    .add(new Cell(rank.name(), rank.stepSeconds() * 1e3, late == null ? 0 : late * 1e3, rank.level(), rank.named()));
        }
        List<Machine> machines = new ArrayList<>();
        for (FleetAnalysis.Machine machine : arrivals.machines()) {
            boolean sends = machine.state().equals("sending");
            List<Cell> ranks = sends ? cells.remove(machine.host()) : null;
            machines.add(new Machine(
                    machine.host(), machine.recorder(), machine.state(), machine.digest(), (nowMs - machine.arrivedMs()) / 1e3,
                    machine.fromMs(), machine.toMs(), ranks == null ? List.of() : ranks));
        }
        return machines;
    }
}
