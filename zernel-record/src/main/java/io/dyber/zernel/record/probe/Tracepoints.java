package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.elf.Glob;
import io.dyber.zernel.record.elf.UsdtArgument;
import io.dyber.zernel.record.elf.UsdtNote;
import java.util.ArrayList;
import java.util.List;

/// Finds the tracepoints to probe in one library file.
public record Tracepoints(List<Found> found, List<Missing> missing) {
    public Tracepoints {
        found = List.copyOf(found);
        missing = List.copyOf(missing);
    }

    /// One place of a tracepoint in the code.
    public record Found(UsdtProbe probe, UsdtNote note) {
        public String symbol() {
            return note.provider() + ":" + note.name();
        }
    }

    /// A tracepoint that cannot be probed in this file.
    public record Missing(UsdtProbe probe, String why) {}

    /// Looks up all at once; the file should be one that their libraries mean.
    public static Tracepoints resolve(ElfFile elf, List<UsdtProbe> probes) throws ElfException {
        List<Found> found = new ArrayList<>();
        List<Missing> missing = new ArrayList<>();
        List<UsdtNote> notes = probes.isEmpty() ? List.of() : elf.usdtNotes();
        for (UsdtProbe probe : probes) {
            List<UsdtNote> matching = notes.stream()
                    .filter(note -> Glob.matches(probe.provider(), note.provider())
                            && Glob.matches(probe.tracepoint(), note.name()))
                    .toList();
            for (UsdtNote note : matching) {
                String unreadable = unreadable(probe, note);
                if (unreadable.isEmpty()) {
                    found.add(new Found(probe, note));
                } else {
                    missing.add(new Missing(probe, unreadable));
                }
            }
            if (matching.isEmpty()) {
                missing.add(new Missing(probe, notes.isEmpty() ? "the file has no tracepoints" : "no such tracepoint"));
            }
        }
        return new Tracepoints(found, missing);
    }

    private static String unreadable(UsdtProbe probe, UsdtNote note) {
        for (Capture capture : probe.captures()) {
            if (capture.argument() > note.arguments().size()) {
                return "it has " + note.arguments().size() + " arguments, not " + capture.argument();
            }
            UsdtArgument argument = note.arguments().get(capture.argument() - 1);
            if (argument.location() instanceof UsdtArgument.Location.Unreadable
                    || pointers(argument) + capture.offsets().size() > Capture.MAX_OFFSETS) {
                return "argument " + capture.argument() + " is kept where a probe cannot read it: " + argument.text();
            }
        }
        return "";
    }

    private static int pointers(UsdtArgument argument) {
        return argument.location() instanceof UsdtArgument.Location.InMemory ? 1 : 0;
    }
}
