package io.dyber.zernel.record.elf;

/// Turns what reading a damaged table throws into the one exception of this package.
final class Damage {
    private Damage() {}

    /// Reads something out of a file.
    interface Reading<T> {
        T read() throws ElfException;
    }

    static <T> T check(ElfBytes bytes, Reading<T> reading) throws ElfException {
        try {
            return reading.read();
        } catch (IndexOutOfBoundsException _) {
            throw bytes.error("one of its tables points outside itself");
        } catch (InternalError e) {
            // A page of a mapped file cannot be read any more: it was cut while being read, or the disk is bad.
            throw bytes.error("it changed while being read (" + e.getMessage() + ")");
        }
    }
}
