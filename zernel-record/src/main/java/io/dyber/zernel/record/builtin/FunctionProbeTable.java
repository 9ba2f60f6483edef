package io.dyber.zernel.record.builtin;

import io.dyber.zernel.record.event.CallMeaning;
import io.dyber.zernel.record.event.CallShape.Role;
import io.dyber.zernel.record.event.Layer;
import io.dyber.zernel.record.probe.Function;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.probe.ProbeSpec;
import java.util.ArrayList;
import java.util.List;

/// The built-in functions of one kind and library, written as the user writes probes:
///
/// ```
/// cuMemFree_v2(addr=arg1, status=ret:s32)
/// cuMemFreeAsync[_ptsz](addr=arg1, stream=arg2, status=ret:s32)     both cuMemFreeAsync and cuMemFreeAsync_ptsz
/// cudaMalloc cudaMallocManaged(bytes=arg2, ...)                      several with the same arguments
/// ```
///
/// @param layer of CUDA
/// @param vital whether the events go through the ring that a flood of others cannot fill
record FunctionProbeTable(String kind, String library, Layer layer, boolean vital) {
    FunctionProbeTable(String kind, String library, boolean vital) {
        this(kind, library, Layer.NONE, vital);
    }

    /// Calls that are events.
    List<FunctionProbe> calls(CallMeaning meaning, String rows) {
        return hooks(Role.CALL, meaning, rows);
    }

    /// Calls that only tell something.
    List<FunctionProbe> facts(CallMeaning meaning, String rows) {
        return hooks(Role.FACT, meaning, rows);
    }

    /// The same, told by their arguments alone.
    List<FunctionProbe> instantFacts(CallMeaning meaning, String rows) {
        return hooks(Role.INSTANT_FACT, meaning, rows);
    }

    private List<FunctionProbe> hooks(Role role, CallMeaning meaning, String rows) {
        List<FunctionProbe> hooks = new ArrayList<>();
        for (String row : rows.strip().split("\\)\\s*\\n|\\)$")) {
            int open = row.indexOf('(');
            String arguments = row.substring(open).replaceAll("\\s+", " ") + ")";
            for (String name : row.substring(0, open).strip().split("\\s+")) {
                for (String symbol : variants(name)) {
                    if (ProbeSpec.parse(library + ":" + symbol + arguments) instanceof Function function) {
                        Layer made = role == Role.CALL ? layer : Layer.NONE;
                        hooks.add(new FunctionProbe(function.ofKind(kind), role, vital, meaning, made, true));
                    }
                }
            }
        }
        return List.copyOf(hooks);
    }

    private static List<String> variants(String name) {
        int open = name.indexOf('[');
        if (open < 0) {
            return List.of(name);
        }
        String stem = name.substring(0, open);
        return List.of(stem, stem + name.substring(open + 1, name.length() - 1));
    }
}
