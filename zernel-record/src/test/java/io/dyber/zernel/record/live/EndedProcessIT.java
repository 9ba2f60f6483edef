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
import io.dyber.zernel.record.elf.Gcc;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.job.Job;
import io.dyber.zernel.record.option.Progress;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.probe.ProbeSpec;
import io.dyber.zernel.record.process.MappedFile;
import io.dyber.zernel.record.process.MappedFiles;
import io.dyber.zernel.record.rows.EventPump;
import io.dyber.zernel.record.rows.EventWriter;
import io.dyber.zernel.record.schema.Schema;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A library of a container, which can be opened only through a process, whose first user ends while it is looked into.
class EndedProcessIT {
    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
    }

    @Test
    void aLibraryIsProbedAlsoWhenTheProcessEndsThroughWhichItWasFound() throws Exception {
        // That a pattern means too many functions is said after the file was read and before any is probed.
        Path library = Gcc.compile(directory, "libmany.so", """
                __asm__(".macro f\\n many_\\\\@: ret\\n .type many_\\\\@, @function\\n .size many_\\\\@, 1\\n .endm\\n"
                        ".rept 5000\\n f\\n .endr\\n");
                int wanted(int x) { return x + 1; }
                """, "-shared", "-fPIC");
        Process process = new ProcessBuilder("sleep", "600").start();
        Path opened = Path.of("/proc/" + process.pid() + "/root" + library);
        MappedFile file = MappedFiles.at(opened, library.toString(), false).orElseThrow();
        RecordOptions options = probing(ProbeSpec.parse("libmany.so:many_*"), ProbeSpec.parse("libmany.so:wanted"));
        Schema schema = CompiledPrograms.schema(List.of());
        StringDictionary texts = new StringDictionary();
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
                    new ProbedLibraries(clock), new Progress() {
                        @Override
                        public void notice(String line) {
                            end(process);
                        }
                    });
            attachments.offer(file, Found.LATE);

            assertThat(opened).doesNotExist();
            assertThat(attachments.functions().attached()).isEqualTo(1);
        } finally {
            end(process);
        }
    }

    private RecordOptions probing(ProbeSpec... probes) {
        RecordOptions plain = RecordOptions.to(directory.resolve("run.parquet"));
        return new RecordOptions(
                plain.output(), plain.command(), plain.pids(), plain.duration(), plain.kinds(), List.of(probes),
                plain.waitMin(), plain.gpuInterval(), plain.hostInterval(), plain.gpuActivity(), plain.detail(),
                plain.overheadBudget(), plain.stacks(), plain.backend(), plain.owner(), plain.words(), plain.redact(),
                plain.outputPolicy(), plain.hold());
    }

    private static void end(Process process) {
        try {
            process.destroyForcibly().waitFor();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
