package io.dyber.zernel.serve.metric;

import static io.dyber.zernel.serve.metric.GrafanaQueries.chosen;
import static io.dyber.zernel.serve.metric.GrafanaQueries.quantile;
import static io.dyber.zernel.serve.metric.GrafanaQueries.rate;

import java.util.List;

/// The top of the Grafana dashboard: what is wrong, how fast it goes, and which rank is the slow one.
final class GrafanaOverview {
    private static final String RANK = "{{instance}} rank {{rank}} pid {{pid}}";

    private GrafanaOverview() {}

    static List<GrafanaPanel> panels() {
        return List.of(verdict(), stepTime(), stepRate(), dataLoading(), gpus(), alerts(), lost(), stepTimes(), lateness(),
                phases());
    }

    private static GrafanaPanel verdict() {
        return GrafanaPanel.table("Verdict", "What costs a training step most, as zernel-analyze finds it.", 24, 7,
                        "lost per step")
                .unit("s")
                .asks("topk(5, " + chosen(Metrics.FINDING_LOST)
                        + ") * on (job, instance, finding, subject) group_left (title, severity) " + chosen(Metrics.FINDING_INFO), "");
    }

    private static GrafanaPanel stepTime() {
        return GrafanaPanel.number("Step time, slowest rank", "The largest p50 of a rank over the last minute.", 4, 4)
                .unit("s")
                .asks("topk(1, " + quantile(Metrics.STEP, "0.5") + ")", "rank {{rank}} pid {{pid}}");
    }

    private static GrafanaPanel stepRate() {
        return GrafanaPanel.number("Steps per second and rank", "Mean over the ranks.", 4, 4)
                .unit("ops")
                .asks("avg(" + rate(Metrics.STEPS) + ")", "");
    }

    private static GrafanaPanel dataLoading() {
        return GrafanaPanel.number("Waiting for data, worst rank", "Largest share of a rank's steps, of the last minute.", 4, 4)
                .unit("percentunit")
                .asks("topk(1, " + chosen(Metrics.PHASE_RATIO, "phase=\"data_loading\"") + ")", "rank {{rank}} pid {{pid}}");
    }

    private static GrafanaPanel gpus() {
        return GrafanaPanel.number("GPUs busy", "Mean over the devices.", 4, 4)
                .unit("percentunit")
                .asks("avg(" + chosen(Metrics.GPU_UTILIZATION) + ")", "");
    }

    private static GrafanaPanel alerts() {
        return GrafanaPanel.number("Alerts that fire", "Series that meet the condition of a rule.", 4, 4)
                .unit("short")
                .asks("sum(" + chosen(Metrics.ALERTS, "alertstate=\"firing\"") + ")", "");
    }

    private static GrafanaPanel lost() {
        return GrafanaPanel.number("Lost events", "That the recorder could not store.", 4, 4)
                .unit("short")
                .asks("sum(" + chosen(Metrics.LOST) + ") or vector(0)", "");
    }

    private static GrafanaPanel stepTimes() {
        return GrafanaPanel.heatMap("Step time by rank", "A rank's p50; red is slow.", 12, 9)
                .unit("s")
                .asks(quantile(Metrics.STEP, "0.5"), RANK);
    }

    private static GrafanaPanel lateness() {
        return GrafanaPanel.heatMap("Late at collectives by rank",
                        "A rank's p50 of how much later than the first it called; the red one is waited for.", 12, 9)
                .unit("s")
                .asks(quantile(Metrics.NCCL_LATE, "0.5"), RANK);
    }

    private static GrafanaPanel phases() {
        return GrafanaPanel.lines("What steps are spent on", "Share of each phase in the steps of all chosen ranks.", 24, 8)
                .stacked()
                .unit("percentunit")
                .asks(GrafanaQueries.phases(Metrics.PHASE_RATIO), "{{phase}}");
    }
}
