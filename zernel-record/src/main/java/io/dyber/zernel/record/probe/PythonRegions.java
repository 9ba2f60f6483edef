package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.event.CallShape.Role;
import io.dyber.zernel.record.event.Meaning;
import java.util.List;

/// Regions that a Python program marks by itself, without any package: it calls two functions of its interpreter that
/// do nothing, and that nothing else calls, with more arguments than they look at.
///
/// `Py_Is(name, &key)` begins the region and `Py_IsNone(key)` ends it; both compare an address and read nothing. C code
/// that means them uses macros of the same names. CPython has them since 3.10. The key is any number that no other open
/// region of the process has, so regions may overlap, and end in another thread.
public record PythonRegions() implements ProbeSpec {
    public static final String TEXT = "py_region";
    private static final String REGION = "region";

    @Override
    public String kind() {
        return REGION;
    }

    @Override
    public String library() {
        return PythonProbe.LIBRARY;
    }

    List<Hook> hooks() {
        Function begin = new Function(REGION, "", library(), "Py_Is", List.of(
                new Capture("name", Source.ARGUMENT, 1, List.of(), Width.STR, false),
                new Capture("", Source.ARGUMENT, 2, List.of(0), Width.U64, true)));
        Function end = new Function(REGION, "", library(), "Py_IsNone", List.of(Capture.argument("", 1, Width.U64)));
        return List.of(
                new Hook(begin, Role.OPEN, true, Meaning.NOTHING, true),
                new Hook(end, Role.CLOSE, true, Meaning.NOTHING, true));
    }
}
