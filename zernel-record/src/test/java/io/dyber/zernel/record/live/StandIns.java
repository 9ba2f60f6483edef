package io.dyber.zernel.record.live;

import io.dyber.zernel.record.builtin.Probe;
import io.dyber.zernel.record.builtin.Probes;
import io.dyber.zernel.record.event.Layer;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.process.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// Libraries that have the names, functions and nesting of CUDA, NCCL and PyTorch's allocator, but no GPU, and programs
/// that call them at random. What they do they write down themselves: the table `truth` beside `events`.
///
/// @param recording what the recorder says, with `truth`
/// @param truth what the programs said: one line per process
record StandIns(Recording recording, Truth truth) {
    private static final List<String> LIBRARIES =
            List.of("libcuda.so.1", "libcudart.so.12", "libcudart.so.13", "libnccl.so.2", "libc10_cuda.so", "exe");
    private static final List<String> TEXTS = List.of("copy_kind", "dtype", "host_memory", "kernel", "op");

    /// The symbols of the recorder's tables for these kinds that the stand-ins must have, without those of CUDA's other layer,
    /// and without functions that only call another one of theirs.
    static List<String> probedSymbols(List<String> kinds, Layer layer) {
        return probedSymbols(Probes.all(), kinds, layer);
    }

    /// Those of these probes.
    static List<String> probedSymbols(List<Probe> probes, List<String> kinds, Layer layer) {
        return probes.stream()
                .filter(probe -> kinds.contains(probe.kind()))
                .flatMap(probe -> probe.hooks().stream())
                .filter(hook -> LIBRARIES.stream().anyMatch(file -> file.startsWith(hook.probe().library())))
                .filter(hook -> hook.layer() == layer
                        || (hook.layer() == Layer.NONE
                                && (layer == Layer.DRIVER || !hook.probe().library().startsWith("libcuda.so"))))
                .map(FunctionProbe::symbol)
                .filter(symbol -> !symbol.startsWith("__cudaLaunch"))
                .distinct()
                .sorted()
                .toList();
    }

    /// Records a program, of which `arguments` may name more to run beside it. They begin when the files are probed.
    ///
    /// @param symbols which calls count for the truth's depth
    static StandIns record(
            Path directory,
            Recorder recorder,
            List<String> symbols,
            List<String> files,
            String program,
            List<String> arguments) {
        Path folder = Programs.standIns();
        Path truth = directory.resolve("truth");
        write(truth, directory.resolve("probed"), symbols);
        Recorder complete = recorder.property(Machine.BARE_METAL, "true")
                .environment("STANDIN_TRUTH", truth.toString())
                .environment("STANDIN_PROBED", directory.resolve("probed").toString())
                .with("--", folder.resolve(program).toString())
                .with(arguments.toArray(String[]::new));
        int programs = 1 + (int) arguments.stream().filter(argument -> argument.startsWith("job-")).count();
        try (Running running = complete.start()) {
            running.awaitLine("waiting ", programs);
            files.forEach(file -> running.awaitLine(" of " + target(folder.resolve(file))));
            for (int i = 0; i < programs; i++) {
                running.say("go");
            }
            Running.Outcome outcome = running.await();
            if (outcome.status() != 0) {
                throw new AssertionError(outcome.toString());
            }
            return new StandIns(recording(directory.resolve("run.parquet"), truth), Truth.of(outcome.out()));
        }
    }

    /// The file that is mapped: what programs ask for is a link to it.
    private static Path target(Path link) {
        try {
            return link.toRealPath();
        } catch (IOException e) {
            throw new AssertionError("looking for " + link + ": " + e.getMessage(), e);
        }
    }

    private static void write(Path truth, Path probed, List<String> symbols) {
        try {
            Files.createDirectories(truth);
            Files.write(probed, symbols);
        } catch (IOException e) {
            throw new AssertionError("writing " + probed + ": " + e.getMessage(), e);
        }
    }

    private static Recording recording(Path file, Path truth) {
        Recording recording = Recording.open(file);
        String texts = String.join(", ", TEXTS.stream().map(name -> "'" + name + "': 'VARCHAR'").toList());
        recording.define("CREATE TABLE truth AS FROM read_csv('" + truth + "/*.csv', types = {" + texts
                + "}, sample_size = -1)");
        return recording;
    }
}
