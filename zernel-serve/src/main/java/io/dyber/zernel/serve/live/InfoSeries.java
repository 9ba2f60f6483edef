package io.dyber.zernel.serve.live;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.Version;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import io.dyber.zernel.serve.source.Facts;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// The series that say who the processes, devices and the machine are. What is not known is an empty value, which is not
/// shown.
final class InfoSeries {
    private InfoSeries() {}

    /// Writes them anew.
    ///
    /// @param pids the processes that have series of their own
    /// @param comm the last name of a process; empty where no event said it
    static void derive(SeriesTable series, Who who, Set<Long> pids, LongFunction<String> comm) {
        for (Metric metric : List.of(Metrics.PROCESS_INFO, Metrics.GPU_INFO, Metrics.HOST_INFO, Metrics.BUILD_INFO)) {
            series.numbers(metric).clear();
        }
        pids.forEach(pid -> put(series, Metrics.PROCESS_INFO, process(pid, who.process(pid), comm.apply(pid))));
        Facts facts = who.facts();
        facts.gpus().forEach(gpu -> put(series, Metrics.GPU_INFO, List.of(
                Integer.toString(gpu.index()), text(gpu.uuid()), text(gpu.name()), text(gpu.pci()))));
        Footer.Machine machine = facts.recording().machine();
        List<String> host =
                List.of(text(machine.host()), text(machine.kernel()), text(machine.arch()), text(facts.driver()));
        if (host.stream().anyMatch(value -> !value.isEmpty())) {
            put(series, Metrics.HOST_INFO, host);
        }
        put(series, Metrics.BUILD_INFO, List.of(Version.current(), text(machine.version())));
    }

    private static List<String> process(long pid, Footer.@Nullable ProcessInfo process, String comm) {
        if (process == null) {
            return List.of(Long.toString(pid), comm, "", "", "", "", "", "");
        }
        String cgroup = text(process.cgroup());
        return List.of(
                Long.toString(pid),
                comm.isEmpty() ? text(process.comm()) : comm,
                Who.rank(process),
                Who.number(process, "LOCAL_RANK").findFirst().orElse(""),
                Who.number(process, "WORLD_SIZE").findFirst().orElse(""),
                cgroup,
                Containers.container(cgroup),
                Containers.pod(cgroup));
    }

    private static void put(SeriesTable series, Metric metric, List<String> values) {
        series.number(metric, values).value = 1;
    }

    private static String text(@Nullable String known) {
        return Objects.requireNonNullElse(known, "");
    }
}
