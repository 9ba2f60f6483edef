package io.dyber.zernel.record.host;

import io.dyber.zernel.record.process.CgroupPath;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/// The cgroups that limit processes, of version 2 or 1.
///
/// The limit of a process is the tightest of its cgroup and of those around it. Where the folder of its cgroup is not
/// there, as in a container that sees the paths of its host, it is the one at the mount.
final class Cgroups {
    /// Version 1 says "no limit" as a number of pages near 2^63.
    private static final long NO_LIMIT = 1L << 60;

    private static final long MILLI_CPUS = 1000;

    private final Path proc;
    private final Path mount;

    Cgroups(Path root) {
        this.proc = root.resolve("proc");
        this.mount = root.resolve("sys/fs/cgroup");
    }

    /// A limit and the cgroup that has it.
    ///
    /// @param group its path below the mount
    /// @param value thousandths of a CPU, or bytes
    record Limit(Path folder, String group, long value) {}

    /// @param cpu none where CPUs are not limited
    /// @param memory none where memory is not limited
    record Limits(Optional<Limit> cpu, Optional<Limit> memory) {
        static final Limits NONE = new Limits(Optional.empty(), Optional.empty());
    }

    /// What a process may use.
    Limits of(int pid) {
        try {
            List<String> lines = Files.readAllLines(
                    proc.resolve(Integer.toString(pid)).resolve("cgroup"), StandardCharsets.ISO_8859_1);
            return new Limits(tightest(lines, "cpu"), tightest(lines, "memory"));
        } catch (IOException _) {
            return Limits.NONE;
        }
    }

    private Optional<Limit> tightest(List<String> lines, String controller) {
        Optional<Limit> tightest = Optional.empty();
        Optional<String> own = CgroupPath.ofController(lines, controller);
        Path top = own.isPresent() ? mount.resolve(controller) : mount;
        String path = own.orElseGet(() -> CgroupPath.unified(lines));
        Path folder = top.resolve(path.replaceFirst("^/+", "")).normalize();
        if (!folder.startsWith(top) || !Files.isDirectory(folder)) {
            folder = top;
        }
        for (Path at = folder; at != null && at.startsWith(top); at = at.getParent()) {
            OptionalLong value = controller.equals("cpu") ? milliCpus(at) : bytes(at);
            if (value.isPresent() && (tightest.isEmpty() || value.getAsLong() < tightest.get().value())) {
                tightest = Optional.of(new Limit(at, "/" + top.relativize(at), value.getAsLong()));
            }
        }
        return tightest;
    }

    /// `cpu.max` is `QUOTA PERIOD` or `max PERIOD`, in microseconds.
    private static OptionalLong milliCpus(Path folder) {
        Optional<String> max = text(folder.resolve("cpu.max"));
        String[] words = max.orElseGet(() -> text(folder.resolve("cpu.cfs_quota_us")).orElse("").strip() + " "
                        + text(folder.resolve("cpu.cfs_period_us")).orElse("").strip())
                .strip()
                .split(" ");
        if (words.length < 2) {
            return OptionalLong.empty();
        }
        OptionalLong quota = KernelFile.number(words[0]);
        OptionalLong period = KernelFile.number(words[1]);
        return quota.isPresent() && quota.getAsLong() > 0 && period.isPresent() && period.getAsLong() > 0
                ? OptionalLong.of(quota.getAsLong() * MILLI_CPUS / period.getAsLong())
                : OptionalLong.empty();
    }

    private static OptionalLong bytes(Path folder) {
        OptionalLong limit = text(folder.resolve("memory.max"))
                .or(() -> text(folder.resolve("memory.limit_in_bytes")))
                .map(KernelFile::number)
                .orElseGet(OptionalLong::empty);
        return limit.isPresent() && limit.getAsLong() < NO_LIMIT ? limit : OptionalLong.empty();
    }

    private static Optional<String> text(Path file) {
        try {
            return Optional.of(Files.readString(file, StandardCharsets.ISO_8859_1));
        } catch (IOException _) {
            return Optional.empty();
        }
    }
}
