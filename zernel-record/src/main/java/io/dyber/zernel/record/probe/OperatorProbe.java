package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.elf.Glob;
import io.dyber.zernel.record.elf.Symbol;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// The calls of PyTorch's dispatcher for operators, as `torch.profiler` counts them.
///
/// The dispatcher's entrance for an operator is the function `at::_ops::NAME::call`. Kernels that pass a call on to the
/// next one use `redispatch`, which is not probed, as the profiler does not count it either. Operators called through
/// `torch.ops` and by TorchScript, and those that other libraries define, do not come this way.
///
/// @param glob of operators, with `aten::` or without: `add`, `aten::conv*`, `*`
public record OperatorProbe(String glob) implements ProbeSpec {
    public static final String KIND = "torch_op";
    public static final String LIBRARY = "libtorch_cpu.so";
    private static final String START = "_ZN2at4_ops";
    private static final String CALL = "4callE";

    /// What the profiler does not count either: PyTorch calls them too often for too little. They are probed when they
    /// are asked for by name.
    private static final Set<String> UNOBSERVED =
            Set.of("aten::size", "aten::is_leaf", "aten::output_nr", "aten::_version", "aten::is_complex");

    @Override
    public String kind() {
        return KIND;
    }

    @Override
    public String library() {
        return LIBRARY;
    }

    /// The functions that it means in a library.
    List<Function> functions(ElfFile elf) throws ElfException {
        List<Symbol> symbols = elf.find(START + "*" + CALL + "*").symbols();
        if (symbols.isEmpty()) {
            return List.of();
        }
        OperatorNames names = new OperatorNames(elf.readOnlyData());
        List<Function> functions = new ArrayList<>();
        for (Symbol symbol : symbols) {
            String function = nested(symbol.name());
            if (!function.isEmpty() && wants(names.of(function))) {
                functions.add(new Function(KIND, names.of(function), LIBRARY, symbol.name(), List.of()));
            }
        }
        return functions;
    }

    /// `add_Tensor` of `_ZN2at4_ops10add_Tensor4callERKNS_6TensorE...`; empty for what is not such a function.
    private static String nested(String mangled) {
        int at = START.length();
        int length = 0;
        while (at < mangled.length() && Character.isDigit(mangled.charAt(at)) && length < 1000) {
            length = 10 * length + mangled.charAt(at++) - '0';
        }
        boolean named = length > 0 && mangled.startsWith(CALL, at + length);
        return named ? mangled.substring(at, at + length) : "";
    }

    private boolean wants(String operator) {
        boolean named = glob.equals(operator) || ("aten::" + glob).equals(operator);
        boolean matches = Glob.matches(glob, operator) || Glob.matches("aten::" + glob, operator);
        return named || (matches && !UNOBSERVED.contains(operator));
    }
}
