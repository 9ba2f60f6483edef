package io.dyber.zernel.record.python;

import java.util.OptionalInt;

/// Which line each instruction of a code object is of (`co_linetable`). Made of what another process has in its memory, so
/// any bytes are a table, perhaps one without lines.
///
/// See `Objects/lnotab_notes.txt` (3.10) and `InternalDocs/code_objects.md` (since 3.11) of CPython.
public final class LineTable {
    private static final LineTable NONE = new LineTable(new byte[0], Form.LOCATIONS, 0, 0);

    private static final int UNIT = 2;
    private static final int NO_LINE = -128;

    private static final int ENTRY = 0x80;
    private static final int ONE_LINE = 10;
    private static final int NO_COLUMNS = 13;
    private static final int LONG = 14;
    private static final int NO_LOCATION = 15;
    private static final int MOST_SHIFT = 30;

    private enum Form {
        DELTAS,
        LOCATIONS
    }

    private final byte[] table;
    private final Form form;
    private final int firstLine;
    private final long length;

    private LineTable(byte[] table, Form form, int firstLine, long length) {
        this.table = table;
        this.form = form;
        this.firstLine = firstLine;
        this.length = length;
    }

    /// One that knows no line.
    public static LineTable none() {
        return NONE;
    }

    /// That of 3.10: two bytes an entry, how many bytes of code and how many lines further.
    static LineTable ofDeltas(byte[] table, int firstLine) {
        return new LineTable(table, Form.DELTAS, firstLine, Long.MAX_VALUE);
    }

    /// That of 3.11 and later: entries that begin with a byte of the form `1KKKKLLL`, kind and number of code units.
    ///
    /// @param length of the code in bytes
    static LineTable ofLocations(byte[] table, int firstLine, long length) {
        return new LineTable(table, Form.LOCATIONS, firstLine, length);
    }

    /// The line of the instruction at an offset in bytes.
    OptionalInt line(long offset) {
        if (offset < 0 || offset >= length) {
            return OptionalInt.empty();
        }
        return form == Form.DELTAS ? lineByDeltas(offset) : lineByLocations(offset);
    }

    private OptionalInt lineByDeltas(long offset) {
        long line = firstLine;
        long end = 0;
        for (int at = 0; at + 1 < table.length; at += 2) {
            end += table[at] & 0xff;
            int delta = table[at + 1];
            line += delta == NO_LINE ? 0 : delta;
            if (offset < end) {
                return delta == NO_LINE ? OptionalInt.empty() : number(line);
            }
        }
        return OptionalInt.empty();
    }

    private OptionalInt lineByLocations(long offset) {
        long line = firstLine;
        long end = 0;
        for (int at = 0; at < table.length; at = next(at)) {
            int kind = table[at] >> 3 & 15;
            line += lines(kind, at + 1);
            end += UNIT * ((table[at] & 7) + 1L);
            if (offset < end) {
                return kind == NO_LOCATION ? OptionalInt.empty() : number(line);
            }
        }
        return OptionalInt.empty();
    }

    /// The entry behind one: only first bytes have the high bit.
    private int next(int entry) {
        int at = entry + 1;
        while (at < table.length && (table[at] & ENTRY) == 0) {
            at++;
        }
        return at;
    }

    /// How many lines further an entry is.
    private long lines(int kind, int operand) {
        return switch (kind) {
            case NO_LOCATION -> 0;
            case NO_COLUMNS, LONG -> signed(operand);
            default -> kind >= ONE_LINE ? kind - ONE_LINE : 0;
        };
    }

    /// Six bits a byte, the lowest first, the seventh says that there are more; the lowest of all is the sign.
    private long signed(int operand) {
        long value = 0;
        int at = operand;
        for (int shift = 0; at < table.length && shift <= MOST_SHIFT; shift += 6) {
            int part = table[at++];
            value |= (part & 0x3fL) << shift;
            if ((part & 0x40) == 0) {
                break;
            }
        }
        return (value & 1) == 0 ? value >> 1 : -(value >> 1);
    }

    private static OptionalInt number(long line) {
        return line >= 0 && line <= Integer.MAX_VALUE ? OptionalInt.of((int) line) : OptionalInt.empty();
    }
}
