package io.dyber.zernel.record.elf;

/// A section header.
///
/// @param type an `SHT_` constant
/// @param link index of the section that belongs to it, such as a symbol table's strings
record Section(String name, int type, long address, long offset, long size, int link, int info) {
    static final int SYMTAB = 2;
    static final int NOTE = 7;
    static final int NOBITS = 8;
    static final int DYNSYM = 11;
    static final int VERDEF = 0x6ffffffd;
    static final int VERSYM = 0x6fffffff;
}
