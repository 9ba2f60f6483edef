package io.dyber.zernel.serve.live;

import io.dyber.zernel.serve.metric.CommonLabels;

/// Which series there are, and how they are shown.
///
/// @param pidLimit processes with series of their own
/// @param workersApart whether DataLoader workers have series of their own, and do not count for whom they work
/// @param histograms whether durations are shown as histograms instead of as summaries
/// @param labels that all series have
public record SeriesPolicy(int pidLimit, boolean workersApart, boolean histograms, CommonLabels labels) {
    /// Processes with series of their own, where the user does not say otherwise.
    public static final int USUAL_PIDS = 100;

    /// As it is without options.
    public static SeriesPolicy usual() {
        return of(USUAL_PIDS);
    }

    /// With so many processes that have series of their own.
    public static SeriesPolicy of(int pidLimit) {
        return new SeriesPolicy(pidLimit, false, false, CommonLabels.NONE);
    }

    /// The same with these labels.
    public SeriesPolicy with(CommonLabels newLabels) {
        return new SeriesPolicy(pidLimit, workersApart, histograms, newLabels);
    }

    /// The same, but durations as histograms.
    public SeriesPolicy withHistograms() {
        return new SeriesPolicy(pidLimit, workersApart, true, labels);
    }

    /// The same, but workers have series of their own.
    public SeriesPolicy withWorkersApart() {
        return new SeriesPolicy(pidLimit, true, histograms, labels);
    }

    /// How many series of durations a metric has at most, besides the one that the others share: a histogram has many lines.
    int mostDurations() {
        return histograms ? 200 : SeriesTable.SERIES_PER_METRIC;
    }
}
