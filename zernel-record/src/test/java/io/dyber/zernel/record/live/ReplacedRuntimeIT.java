package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.attach.Attachments;
import io.dyber.zernel.record.attach.BpfPrograms;
import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.attach.DetailProbes;
import io.dyber.zernel.record.attach.ProbedLibraries.Found;
import io.dyber.zernel.record.attach.ProbedLibraries;
import io.dyber.zernel.record.attach.RingSizes;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.job.Job;
import io.dyber.zernel.record.option.Progress;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.process.MappedFiles;
import io.dyber.zernel.record.rows.EventPump;
import io.dyber.zernel.record.rows.EventWriter;
import io.dyber.zernel.record.schema.Schema;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A CUDA runtime that is replaced while its probes rest, as by `pip install -U`: they are of the file that was read, and in
/// another one they would stand in the middle of instructions.
class ReplacedRuntimeIT {
    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
    }

    @Test
    void probesThatRestedAreNotPutIntoTheFileThatHasTheNameNow() throws IOException {
        Path original = Programs.standIns().resolve("libcudart.so.13.0.88");
        Path runtime = Files.copy(original, directory.resolve("libcudart.so.13.0.88"));
        Path before = Files.createLink(directory.resolve("before.so"), runtime);
        Schema schema = CompiledPrograms.schema(List.of());
        StringDictionary texts = new StringDictionary();
        RecordOptions options = RecordOptions.to(directory.resolve("run.parquet"));
        Clock clock = Clock.read(Clock.Source.MACHINE);
        try (BpfPrograms kernel = new BpfPrograms(options, schema, new RingSizes(1 << 20, 1 << 20))) {
            EventPump pump = new EventPump(
                    kernel.vital(),
                    kernel.bulk(),
                    new Decoder(schema, CompiledPrograms.wire(), texts, clock.offsetNanos(), 4096, _ -> {}));
            DetailProbes detail = new DetailProbes(
                    kernel, pump, new EventWriter(pump, schema, texts, clock), options.detail());
            Attachments attachments = new Attachments(
                    kernel, pump, schema, new Job(schema, texts, name -> name), detail, options,
                    new ProbedLibraries(clock), new Progress() {});
            attachments.offer(MappedFiles.at(runtime, false).orElseThrow(), Found.FORESEEN);
            int without = changedBytes(before);

            Path after = Files.copy(original, directory.resolve("after.so"));
            Files.move(after, runtime, StandardCopyOption.ATOMIC_MOVE);
            assertThat(attachments.scan(Set.of(), Found.LATE)).isEmpty();

            assertThat(changedBytes(before)).isGreaterThan(without);
            assertThat(changedBytes(runtime)).isZero();
        }
    }

    /// How many bytes of a library's code are not those of the file, in a process that has loaded it.
    private static int changedBytes(Path library) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("cat");
        builder.environment().put("LD_PRELOAD", library.toString());
        builder.environment().put("LD_LIBRARY_PATH", Programs.standIns().toString());
        Process process = builder.start();
        try (BufferedReader out = process.inputReader()) {
            process.outputWriter().append("up\n").flush();
            assertThat(out.readLine()).isEqualTo("up");
            List<String> code = Files.readAllLines(Path.of("/proc/" + process.pid() + "/maps")).stream()
                    .filter(line -> line.endsWith(library.toString()) && line.contains(" r-xp "))
                    .toList();
            assertThat(code).hasSize(1);
            String[] words = code.getFirst().split("[- ]+"); // START-END r-xp OFFSET
            long start = Long.parseLong(words[0], 16);
            byte[] mapped = new byte[(int) (Long.parseLong(words[1], 16) - start)];
            try (RandomAccessFile memory = new RandomAccessFile("/proc/" + process.pid() + "/mem", "r")) {
                memory.seek(start);
                memory.readFully(mapped);
            }
            byte[] file = Files.readAllBytes(library);
            int offset = Integer.parseInt(words[4], 16);
            int changed = 0;
            for (int i = 0; i < mapped.length && offset + i < file.length; i++) {
                changed += mapped[i] == file[offset + i] ? 0 : 1;
            }
            return changed;
        } finally {
            process.destroyForcibly();
        }
    }
}
