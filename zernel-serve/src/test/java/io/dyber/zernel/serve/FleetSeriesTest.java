package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.analysis.Findings;
import io.dyber.zernel.serve.fleet.FleetAnalysis;
import io.dyber.zernel.serve.fleet.FleetState;
import io.dyber.zernel.serve.metric.CommonLabels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// How many series a fleet has.
class FleetSeriesTest {
    private static final List<String> FATES = List.of(
            "read", "damaged", "foreign", "newer", "duplicate", "late", "too_large", "dropped", "refused");

    private static FleetState state(int ranks) {
        List<FleetState.Rank> all = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            all.add(new FleetState.Rank("node" + rank / 8, "rank " + rank, rank % 8, 40, 0.2, rank * 1e-6, "in_time", false, null,
                    Map.of("gpu_compute", 1.0)));
        }
        List<Findings.Found> found = new ArrayList<>();
        List<Integer> rounds = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            found.add(new Findings.Found("data_bound", "Waits.", "rank " + i, "high", 10.0, 1.1, "", "", "", List.of()));
            rounds.add(2);
        }
        return new FleetState(1, 1, "", new FleetState.Words("bottleneck", "", ""), new Findings(1, "", "", found, List.of()), rounds,
                List.of(new FleetState.Count("data_bound", "Waits.", "high", ranks, ranks / 8)), all, 0);
    }

    private static FleetAnalysis.Arrivals arrivals(int machines) {
        List<FleetAnalysis.Machine> all = new ArrayList<>();
        for (int machine = 0; machine < machines; machine++) {
            all.add(new FleetAnalysis.Machine("node" + machine, "pid 1", "d", "sending", 1000, 0, 1));
        }
        Map<String, Long> fates = new java.util.TreeMap<>();
        FATES.forEach(fate -> fates.put(fate, 1L));
        return new FleetAnalysis.Arrivals("digests", all, 4000, 1000, fates, List.of(), 1, 0);
    }

    private static List<String> lines(int ranks) {
        FleetSeries series = FleetSeries.of(state(ranks), arrivals(ranks / 8), 3, 5000);
        return Exposition.of(series.families(), CommonLabels.NONE, Exposition.Format.TEXT).lines().filter(line -> !line.startsWith("#")).toList();
    }

    @Test
    void aFleetOfTenThousandRanksHasAsManySeriesAsOneOfThirtyTwo() {
        assertThat(lines(10_000)).hasSameSizeAs(lines(32)).hasSizeLessThan(150);
    }

    @Test
    void theTenLatestRanksAreShown() {
        assertThat(lines(10_000))
                .filteredOn(line -> line.startsWith("zernel_fleet_late_seconds"))
                .hasSize(10)
                .first()
                .asString()
                .startsWith("zernel_fleet_late_seconds{host=\"node1249\",rank=\"9999\"} 0.009999");
    }

    @Test
    void agesAndPushesThatWereNotTakenAreCounted() {
        assertThat(lines(32)).contains(
                "zernel_fleet_ranks 32.0",
                "zernel_fleet_machines{state=\"sending\"} 4.0",
                "zernel_fleet_digest_age_seconds{which=\"newest\"} 1.0",
                "zernel_fleet_digest_age_seconds{which=\"oldest\"} 4.0",
                "zernel_fleet_digests_total{fate=\"refused\"} 4.0",
                "zernel_fleet_finding_rounds{finding=\"data_bound\",subject=\"rank 3\",severity=\"high\"} 2.0");
    }
}
