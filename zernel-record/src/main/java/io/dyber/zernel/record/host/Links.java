package io.dyber.zernel.record.host;

import io.dyber.zernel.record.host.CgroupValues.Taker;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;

/// The network links that are up, without `lo`: interfaces of the recorder's network namespace, and ports of InfiniBand
/// and RoCE, whose traffic the interfaces do not count.
final class Links {
    /// A host of many containers has hundreds of virtual ones: those with hardware come first.
    static final int MOST = 32;

    private static final long BYTES_PER_MEGABIT = 125_000;
    private static final long BYTES_PER_GIGABIT = 125_000_000;
    private static final long BYTES_PER_WORD = 4;
    private static final String PER_SECOND = "bytes/s";

    private final Path interfaces;
    private final Path infiniband;
    private final KernelFiles files;
    private List<Link> links = List.of();
    private int leftOut;

    private record Link(String name, Path folder, boolean isPort) {
        boolean hasHardware() {
            return isPort || Files.exists(folder.resolve("device"));
        }
    }

    Links(Path root, KernelFiles files) {
        this.interfaces = root.resolve("sys/class/net");
        this.infiniband = root.resolve("sys/class/infiniband");
        this.files = files;
    }

    /// Looks for those that are there now.
    void look() {
        List<Link> found = new ArrayList<>();
        for (Path device : entries(infiniband)) {
            for (Path port : entries(device.resolve("ports"))) {
                found.add(new Link(device.getFileName() + "/" + port.getFileName(), port, true));
            }
        }
        for (Path folder : entries(interfaces)) {
            String name = String.valueOf(folder.getFileName());
            if (!name.equals("lo") && !files.text(folder.resolve("operstate")).orElse("").strip().equals("down")) {
                found.add(new Link(name, folder, false));
            }
        }
        found.sort(Comparator.comparing((Link link) -> !link.hasHardware()).thenComparing(Link::name));
        leftOut = Math.max(0, found.size() - MOST);
        links = List.copyOf(found.subList(0, found.size() - leftOut));
    }

    /// Links beyond [#MOST].
    int leftOut() {
        return leftOut;
    }

    /// What they have moved since they came up, and lost.
    void sample(Taker values) {
        for (Link link : links) {
            if (link.isPort()) {
                port(link, values);
            } else {
                network(link, values);
            }
        }
    }

    /// How fast they can be, where they say so.
    void speeds(Taker values) {
        for (Link link : links) {
            OptionalLong speed = link.isPort() ? portSpeed(link) : interfaceSpeed(link);
            speed.ifPresent(found -> values.take(link.name(), "net_speed", found, PER_SECOND));
        }
    }

    private void network(Link link, Taker values) {
        Path counts = link.folder().resolve("statistics");
        put(link, values, "net_rx", HostValue.BYTES, 1, counts, "rx_bytes");
        put(link, values, "net_tx", HostValue.BYTES, 1, counts, "tx_bytes");
        put(link, values, "net_rx_packets", HostValue.COUNT, 1, counts, "rx_packets");
        put(link, values, "net_tx_packets", HostValue.COUNT, 1, counts, "tx_packets");
        put(link, values, "net_drops", HostValue.COUNT, 1, counts, "rx_dropped", "tx_dropped");
        put(link, values, "net_errors", HostValue.COUNT, 1, counts, "rx_errors", "tx_errors");
    }

    private void port(Link link, Taker values) {
        Path counts = link.folder().resolve("counters");
        put(link, values, "net_rx", HostValue.BYTES, BYTES_PER_WORD, counts, "port_rcv_data");
        put(link, values, "net_tx", HostValue.BYTES, BYTES_PER_WORD, counts, "port_xmit_data");
        put(link, values, "net_rx_packets", HostValue.COUNT, 1, counts, "port_rcv_packets");
        put(link, values, "net_tx_packets", HostValue.COUNT, 1, counts, "port_xmit_packets");
        put(link, values, "net_drops", HostValue.COUNT, 1, counts, "port_xmit_discards");
        put(link, values, "net_errors", HostValue.COUNT, 1, counts, "port_rcv_errors");
        put(link, values, "net_retransmits", HostValue.COUNT, 1, link.folder().resolve("hw_counters"),
                "packet_seq_err", "local_ack_timeout_err", "implied_nak_seq_err");
    }

    /// The sum of those counters that are there.
    private void put(Link link, Taker values, String name, String unit, long scale, Path folder, String... counters) {
        boolean any = false;
        long sum = 0;
        for (String counter : counters) {
            OptionalLong value = files.number(folder.resolve(counter));
            any |= value.isPresent();
            sum += value.orElse(0);
        }
        if (any) {
            values.take(link.name(), name, sum * scale, unit);
        }
    }

    /// In Mbit/s; virtual interfaces say -1, or nothing.
    private OptionalLong interfaceSpeed(Link link) {
        OptionalLong megabits = files.number(link.folder().resolve("speed"));
        return megabits.isPresent() && megabits.getAsLong() > 0
                ? OptionalLong.of(megabits.getAsLong() * BYTES_PER_MEGABIT)
                : OptionalLong.empty();
    }

    /// As in `200 Gb/sec (4X HDR)`.
    private OptionalLong portSpeed(Link link) {
        String rate = files.text(link.folder().resolve("rate")).orElse("").toLowerCase(Locale.ROOT);
        int end = rate.indexOf(" gb/sec");
        try {
            return end < 0
                    ? OptionalLong.empty()
                    : OptionalLong.of((long) (Double.parseDouble(rate.substring(0, end)) * BYTES_PER_GIGABIT));
        } catch (NumberFormatException _) {
            return OptionalLong.empty();
        }
    }

    private static List<Path> entries(Path folder) {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            entries.forEach(found::add);
        } catch (IOException _) {
            return List.of();
        }
        found.sort(Comparator.naturalOrder());
        return found;
    }
}
