package io.dyber.zernel.record.python;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import java.util.Map;

/// The sizes (`tp_basicsize`) of the structures that are read, which an interpreter has in its types.
///
/// @param basicSize offset of `tp_basicsize` in `PyTypeObject`
/// @param sizes by the name of the type's variable
record TypeSizes(int basicSize, Map<String, Integer> sizes) {
    /// Of a version whose layout is a table.
    static TypeSizes of(PythonVersion version) {
        return switch (version.minor()) {
            case 0x030a -> new TypeSizes(32, sizes(176, 80, 360, 88));
            case 0x030b -> new TypeSizes(32, sizes(184, 80, 120, 152));
            default -> new TypeSizes(32, sizes(192, 64, 120, 144));
        };
    }

    private static Map<String, Integer> sizes(int code, int text, int frame, int generator) {
        return Map.of(
                "PyCode_Type", code, "PyUnicode_Type", text, "PyBytes_Type", 33, "PyFrame_Type", frame, "PyGen_Type",
                generator);
    }

    boolean areThoseOf(ElfFile elf) throws ElfException {
        for (Map.Entry<String, Integer> type : sizes.entrySet()) {
            if (ElfData.of(elf, type.getKey()).number(basicSize) != type.getValue()) {
                return false;
            }
        }
        return true;
    }
}
