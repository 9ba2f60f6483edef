package io.dyber.zernel.record.bpf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// The session probe that does nothing, for measuring what the mechanism alone costs. Compiled with clang.
public final class EmptyProbe implements AutoCloseable {
    private final UprobeProbes probes;

    /// Probes the place in the file for every process.
    public EmptyProbe(Path source, Path folder, String path, long offset) throws IOException, InterruptedException {
        Path object = folder.resolve("empty.bpf.o");
        Process clang = new ProcessBuilder(
                        "sh",
                        "-c",
                        "$(command -v clang || command -v clang-14) -g -O2 -target bpf"
                                + " -idirafter /usr/include/x86_64-linux-gnu -c \"$0\" -o \"$1\"",
                        source.toString(),
                        object.toString())
                .inheritIO()
                .start();
        if (clang.waitFor() != 0) {
            throw new IOException("compiling " + source);
        }
        BpfObject program = BpfObject.open("empty", Files.readAllBytes(object))
                .expectedAttachType(Backend.SESSION.attachType())
                .load();
        this.probes = new UprobeProbes(Backend.SESSION, program);
        probes.attach(path, List.of(new Site(offset, 1, Site.End.RETURN, 0)));
    }

    @Override
    public void close() {
        probes.close();
    }
}
