package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.python.Interpreter;
import io.dyber.zernel.record.schema.Constant;
import java.util.List;
import java.util.Optional;

/// Calls into the Python interpreter (CPython 3.11 to 3.14).
///
/// A Python function is seen when C calls it: by `sorted(key=f)`, `map`, a callback, an import, a new thread, a method
/// that a C type calls, the first function of a program. Since 3.11 a Python function that a Python function calls runs
/// in the same evaluation loop, so it is part of its caller's call. Each resumption of a generator from C is a call.
///
/// @param glob of qualified names of Python functions (`Trainer.step`, `main.<locals>.*`); or, when it begins with
///     `Py` or `_Py`, of functions of the C interface (`PyObject_Call*`)
/// @param constants of its rows: its role in a step, or nothing
public record PythonProbe(String glob, List<Constant> constants) implements ProbeSpec {
    public static final String KIND = "py_call";

    /// The interpreter is a library or in the program: `libpython3.12.so.1.0`, `python3.12`.
    static final String LIBRARY = "*python3*";

    private static final String EVALUATOR = "_PyEval_EvalFrameDefault";
    private static final int FRAME = 2;

    public PythonProbe {
        constants = List.copyOf(constants);
    }

    public PythonProbe(String glob) {
        this(glob, List.of());
    }

    /// What its calls are to a step; empty when nobody said.
    public String role() {
        return constants.stream().findFirst().map(Constant::text).orElse("");
    }

    @Override
    public String kind() {
        return KIND;
    }

    @Override
    public String library() {
        return LIBRARY;
    }

    /// Whether it names functions of Python code.
    public boolean isOfPython() {
        return !glob.startsWith("Py") && !glob.startsWith("_Py");
    }

    /// The functions that it means in a file; none in one that is no interpreter, or is one of another version.
    List<Function> functions(ElfFile elf) throws ElfException {
        if (!Interpreter.isIn(elf)) {
            return List.of();
        }
        if (!isOfPython()) {
            return List.of(new Function(KIND, "", LIBRARY, glob, List.of(), constants));
        }
        Optional<PythonLayout> layout = PythonLayout.of(elf);
        return layout.map(PythonProbe::evaluator).stream().toList();
    }

    /// `_PyEval_EvalFrameDefault(PyThreadState *, _PyInterpreterFrame *frame, int)`: the frame has the code object, which
    /// has the qualified name. First the state of that text, which says whether it is ASCII.
    static Function evaluator(PythonLayout layout) {
        return new Function(
                KIND,
                EVALUATOR,
                LIBRARY,
                EVALUATOR,
                List.of(read("", layout, PythonLayout.TEXT_STATE, Width.U32), read("name", layout, layout.text(), Width.CHARS)));
    }

    private static Capture read(String column, PythonLayout layout, int offset, Width width) {
        List<Integer> offsets = List.of(layout.code(), PythonLayout.QUALIFIED_NAME, offset);
        return new Capture(column, Source.ARGUMENT, FRAME, offsets, width, false, 0, List.of(), layout.tags());
    }
}
