package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.event.CallMeaning;
import io.dyber.zernel.record.event.CallShape.Role;
import io.dyber.zernel.record.event.Layer;
import io.dyber.zernel.record.python.Interpreter;
import java.util.List;

/// A function to probe and what its calls mean.
///
/// @param probe its symbols and what to read of them
/// @param layer of CUDA that its events are calls of
/// @param optional whether libraries without it are no reason to worry: versions differ
/// @param vital whether its events go through the ring that a flood of others cannot fill
public record FunctionProbe(ProbeSpec probe, Role role, boolean vital, CallMeaning meaning, Layer layer, boolean optional) {
    private static final int LAUNCHES_WITH_ENDS = 16;

    /// A function of none of CUDA's layers.
    public FunctionProbe(ProbeSpec probe, Role role, boolean vital, CallMeaning meaning, boolean optional) {
        this(probe, role, vital, meaning, Layer.NONE, optional);
    }

    /// A function that any version of the library has.
    public FunctionProbe(Function function, Role role, boolean vital) {
        this(function, role, vital, CallMeaning.NOTHING, false);
    }

    /// Of one in so many calls the end is recorded too. That of a launch costs the job as much as its beginning, and it says
    /// how long it took to enqueue, which a sample does as well. The runtime's tell what is inside them.
    public int endsEvery() {
        return meaning == CallMeaning.LAUNCH && layer == Layer.DRIVER ? LAUNCHES_WITH_ENDS : 1;
    }

    /// What the user asked for with one probe.
    public static List<FunctionProbe> asked(ProbeSpec probe) {
        return probe instanceof PythonRegions ? PythonRegions.hooks() : List.of(named(probe));
    }

    /// A function whose calls the user asked for.
    public static FunctionProbe named(ProbeSpec probe) {
        boolean ofPython = probe instanceof PythonProbe python && python.isOfPython();
        return new FunctionProbe(
                probe,
                probe instanceof UsdtProbe ? Role.INSTANT : Role.CALL,
                false,
                ofPython ? CallMeaning.PYTHON_CALL : CallMeaning.NOTHING,
                false);
    }

    /// What it means in a library: itself, unless the library has to be asked which functions those are.
    public List<FunctionProbe> in(ElfFile elf) throws ElfException {
        return switch (probe) {
            case Function _, UsdtProbe _ -> List.of(this);
            case PythonRegions regions -> regions.functions(elf).stream().map(this::of).toList();
            case PythonProbe python -> python.functions(elf).stream().map(this::of).toList();
            case OperatorProbe operators -> operators.functions(elf).stream().map(this::of).toList();
            case CollectorProbe collector -> collector.hooks(elf);
        };
    }

    /// Why it means nothing in a library; empty when there was nothing to be expected in this one.
    public String nothingBecause(ElfFile elf) throws ElfException {
        return switch (probe) {
            case Function _, UsdtProbe _, PythonRegions _ -> "";
            case OperatorProbe _ -> "no such operator in the file";
            case PythonProbe _ -> Interpreter.isIn(elf) ? "not CPython 3.11 to 3.14, or free-threaded" : "";
            case CollectorProbe _ -> Interpreter.isIn(elf) ? CollectorProbe.HIDDEN : "";
        };
    }

    /// Whether it is looked for in every program, where it hardly ever is: most have no CUDA runtime inside, and lack nothing.
    public boolean isGuess() {
        return optional && probe.library().equals(LibrarySelector.PROGRAM);
    }

    private FunctionProbe of(Function function) {
        return new FunctionProbe(function, role, vital, meaning, layer, optional);
    }

    /// What it probes, as a footer names it.
    public String symbol() {
        return switch (probe) {
            case Function function -> function.symbol();
            case UsdtProbe usdt -> usdt.provider() + ":" + usdt.tracepoint();
            case OperatorProbe operators -> operators.glob();
            case PythonProbe python -> python.glob();
            case PythonRegions regions -> regions.ends() ? "Py_IsFalse" : "Py_IsTrue";
            case CollectorProbe _ -> CollectorProbe.FUNCTION;
        };
    }

    /// Whether a process is worth recording because it has loaded the library, where none is chosen. Python runs more than
    /// jobs.
    public boolean isReasonToRecord() {
        return !(probe instanceof CollectorProbe);
    }
}
