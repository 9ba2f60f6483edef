package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.event.CallMeaning;
import io.dyber.zernel.record.event.CallShape.Role;
import io.dyber.zernel.record.python.Interpreter;
import java.util.List;

/// Regions that a Python program marks by itself, without any package: it calls two functions of its interpreter that
/// compare an address with a constant, and that nothing else calls, with arguments that they do not look at.
///
/// `Py_IsTrue(name, &key)` begins the region and `Py_IsFalse(key)` ends it. C code that means them uses macros of the same
/// names. CPython has them since 3.10. The key is any number that no other open region of the process has, so regions may
/// overlap, and end in another thread.
///
/// @param ends whether it is the function that ends them
public record PythonRegions(boolean ends) implements ProbeSpec {
    public static final String TEXT = "py_region";
    private static final String REGION = "region";
    private static final Function BEGIN = new Function(REGION, "", PythonProbe.LIBRARY, "Py_IsTrue", List.of(
            new Capture("name", Source.ARGUMENT, 1, List.of(), Width.STR, false),
            new Capture("", Source.ARGUMENT, 2, List.of(0), Width.U64, true)));
    private static final Function END = new Function(
            REGION, "", PythonProbe.LIBRARY, "Py_IsFalse", List.of(Capture.argument("", 1, Width.U64)));

    @Override
    public String kind() {
        return REGION;
    }

    @Override
    public String library() {
        return PythonProbe.LIBRARY;
    }

    /// What is probed for them.
    static List<FunctionProbe> hooks() {
        return List.of(
                new FunctionProbe(new PythonRegions(false), Role.OPEN, true, CallMeaning.NOTHING, false),
                new FunctionProbe(new PythonRegions(true), Role.CLOSE, true, CallMeaning.NOTHING, false));
    }

    /// The function that it means in a file; none in one that is no interpreter.
    List<Function> functions(ElfFile elf) throws ElfException {
        return Interpreter.isIn(elf) ? List.of(ends ? END : BEGIN) : List.of();
    }
}
