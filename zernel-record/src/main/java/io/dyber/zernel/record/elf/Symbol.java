package io.dyber.zernel.record.elf;

/// A function in a symbol table.
///
/// @param name without its version
/// @param version the symbol version, or empty
/// @param defaultVersion whether a program that asks for the plain name gets this one; true without a version
/// @param address where it is, as linked; 0 if it is not defined here
/// @param size in bytes; 0 if the table does not say
public record Symbol(String name, String version, boolean defaultVersion, long address, long size, Type type) {
    /// What calling the symbol does.
    public enum Type {
        /// Runs the code at its address.
        FUNCTION,
        /// Runs one of several functions that the code at its address chooses at load time (IFUNC).
        CHOSEN_AT_LOAD,
        /// Code without a declared type, as hand-written assembly has it.
        UNTYPED,
        /// Runs another library's function: this one is only an import.
        IMPORTED
    }

    /// The name as linkers write it: `realpath@@GLIBC_2.3`.
    public String versionedName() {
        return version.isEmpty() ? name : name + (defaultVersion ? "@@" : "@") + version;
    }
}
