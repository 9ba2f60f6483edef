package io.dyber.zernel.record.python;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.process.AddressSpace.Region;
import io.dyber.zernel.record.process.MappedFiles;
import io.dyber.zernel.record.process.ProcessMemory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/// A Python program of `src/test/workloads` that has said `ready` and waits, with the interpreter that runs it.
///
/// @param said what it printed before
/// @param bias how far from where it was linked the interpreter was loaded
record PythonProgram(Process process, List<String> said, InterpreterLayout layout, long bias, ProcessMemory memory)
        implements AutoCloseable {

    static PythonProgram start(Path python, String script) throws IOException {
        Path program = Path.of("src/test/workloads", script).toAbsolutePath();
        Process process = new ProcessBuilder(python.toString(), program.toString()).redirectErrorStream(true).start();
        try {
            List<String> said = said(process);
            int pid = (int) process.pid();
            Set<String> looked = new HashSet<>();
            for (Region region : new MappedFiles().addressSpace(pid).regions()) {
                if (region.code() && looked.add(region.file().identity())) {
                    Optional<PythonProgram> found = at(process, said, region);
                    if (found.isPresent()) {
                        return found.get();
                    }
                }
            }
        } catch (IOException | AssertionError e) {
            process.destroyForcibly();
            throw e;
        }
        process.destroyForcibly();
        throw new AssertionError("no interpreter in " + python);
    }

    private static Optional<PythonProgram> at(Process process, List<String> said, Region code) throws ElfException {
        try (ElfFile elf = ElfFile.open(code.file().opened())) {
            OptionalLong address = elf.codeAddress(code.offset());
            return switch (Interpreter.of(elf).orElse(null)) {
                case Interpreter.Known known -> Optional.of(new PythonProgram(
                        process, said, known.layout(), code.start() - address.orElseThrow(),
                        ProcessMemory.of((int) process.pid())));
                case Interpreter.Unknown unknown -> throw new AssertionError(code.file() + ": " + unknown.why());
                case null -> Optional.empty();
            };
        }
    }

    private static List<String> said(Process process) throws IOException {
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        List<String> said = new ArrayList<>();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.equals("ready")) {
                return said;
            }
            said.add(line);
        }
        throw new AssertionError("ended before it was ready: " + said.subList(Math.max(0, said.size() - 20), said.size()));
    }

    CodeReader codes() {
        return new CodeReader(layout, bias, memory);
    }

    @Override
    public void close() {
        memory.close();
        process.destroyForcibly();
    }
}
