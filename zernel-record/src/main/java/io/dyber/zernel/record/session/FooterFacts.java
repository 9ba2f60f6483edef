package io.dyber.zernel.record.session;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.Version;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.process.Machine;
import io.dyber.zernel.record.schema.Schema;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;

/// What the footer of every recording says of this machine and of the columns.
public final class FooterFacts {
    private FooterFacts() {}

    static Footer.Machine machine() {
        return new Footer.Machine(
                Version.current(),
                host(),
                Machine.kernel(),
                System.getProperty("os.arch"),
                Runtime.getRuntime().availableProcessors());
    }

    private static String host() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException _) {
            try {
                return InetAddress.getLocalHost().getHostName();
            } catch (UnknownHostException _) {
                return "";
            }
        }
    }

    static Footer.Clock clock(Clock clock, Clock.Drift drift) {
        return new Footer.Clock(
                "CLOCK_MONOTONIC",
                clock.offsetNanos(),
                clock.errorNanos(),
                bootId(),
                drift.wallNanos(),
                drift.asleepNanos());
    }

    private static String bootId() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
        } catch (IOException _) {
            return "";
        }
    }

    /// What the columns and kinds are.
    public static Footer.Schema schema(Schema schema) {
        return new Footer.Schema(
                schema.columns().stream()
                        .map(column -> new Footer.ColumnInfo(
                                column.name(), column.type().name(), column.unit(), column.comment()))
                        .toList(),
                schema.kinds().stream()
                        .map(kind -> new Footer.KindInfo(kind.kind(), kind.comment(), Schema.columnsOf(kind)))
                        .toList());
    }
}
