package io.dyber.zernel.analyze.trace;

import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A SQLite database, read by the system's libsqlite3. Not thread-safe.
///
/// Functions and result codes are those of sqlite3.h, which has been stable since version 3.0.
final class SqliteFile implements ProfileTables {
    private static final int OK = 0;
    private static final int ROW = 100;
    private static final int DONE = 101;
    private static final int NULL = 5;
    private static final int READ_ONLY = 1;
    private static final int HEADER_BYTES = 100;
    private static final AddressLayout POINTER = ValueLayout.ADDRESS.withTargetLayout(
            MemoryLayout.sequenceLayout(Long.MAX_VALUE, ValueLayout.JAVA_BYTE));

    private final Path path;
    private final Arena arena = Arena.ofConfined();
    private final Library library;
    private final MemorySegment database;

    private SqliteFile(Path path) {
        this.path = path;
        this.library = Library.load(path);
        MemorySegment place = arena.allocate(ValueLayout.ADDRESS);
        int code = library.call(library.open, arena.allocateFrom(path.toString()), place, READ_ONLY, MemorySegment.NULL);
        this.database = place.get(ValueLayout.ADDRESS, 0);
        if (code != OK) {
            String why = message();
            close();
            throw new RecordingException("opening '" + path + "': " + why, null);
        }
        // Of a file that was cut off SQLite reads nothing otherwise, instead of the tables that are there.
        String _ = read("PRAGMA writable_schema = ON", _ -> {});
    }

    static SqliteFile open(Path path) {
        return new SqliteFile(path);
    }

    @Override
    public Set<String> columns(String table) {
        Set<String> columns = new LinkedHashSet<>();
        String failure = read(
                "SELECT name FROM pragma_table_info('" + table + "')", row -> columns.add(String.valueOf(row.text(0))));
        if (failure != null) {
            throw new RecordingException("opening '" + path + "': damaged: " + failure, "export the profile again");
        }
        return columns;
    }

    /// The header says how many pages there should be.
    @Override
    public @Nullable String damage() {
        try (FileChannel file = FileChannel.open(path)) {
            ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
            if (file.read(header, 0) < HEADER_BYTES) {
                return "cut off";
            }
            int said = Short.toUnsignedInt(header.getShort(16));
            long whole = Integer.toUnsignedLong(header.getInt(28)) * (said == 1 ? 65536 : said);
            // Only what wrote the header's version last has kept the number of pages.
            boolean kept = header.getInt(24) == header.getInt(92);
            return kept && whole > file.size() ? "cut off, " + file.size() + " of " + whole + " bytes are there" : null;
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    @Override
    public @Nullable String read(String sql, RowReader reader) {
        try (Arena query = Arena.ofConfined()) {
            MemorySegment place = query.allocate(ValueLayout.ADDRESS);
            int code = library.call(library.prepare, database, query.allocateFrom(sql), -1, place, MemorySegment.NULL);
            if (code != OK) {
                return message();
            }
            MemorySegment statement = place.get(ValueLayout.ADDRESS, 0);
            try {
                SqliteRow row = new SqliteRow(library, statement);
                code = row.next();
                while (code == ROW) {
                    reader.read(row);
                    code = row.next();
                }
                return code == DONE ? null : message();
            } finally {
                int _ = library.call(library.finish, statement);
            }
        }
    }

    private String message() {
        MemorySegment text = (MemorySegment) library.invoke(library.message, database);
        return text.equals(MemorySegment.NULL) ? "no reason given" : text.getString(0);
    }

    @Override
    public void close() {
        int _ = library.call(library.close, database);
        arena.close();
    }

    @Override
    public String toString() {
        return path.toString();
    }

    /// Its calls are exact, because a profile has millions of values.
    private record SqliteRow(Library library, MemorySegment statement) implements Row {
        private int next() {
            try {
                return (int) library.step.invokeExact(statement);
            } catch (Throwable e) {
                throw failed(e);
            }
        }

        @Override
        public @Nullable Long integer(int column) {
            try {
                return isNull(column) ? null : (Long) (long) library.integer.invokeExact(statement, column);
            } catch (Throwable e) {
                throw failed(e);
            }
        }

        @Override
        public @Nullable String text(int column) {
            try {
                if (isNull(column)) {
                    return null;
                }
                MemorySegment text = (MemorySegment) library.text.invokeExact(statement, column);
                return text.equals(MemorySegment.NULL) ? null : text.getString(0);
            } catch (Throwable e) {
                throw failed(e);
            }
        }

        private boolean isNull(int column) throws Throwable {
            return (int) library.type.invokeExact(statement, column) == NULL;
        }
    }

    private static IllegalStateException failed(Throwable why) {
        return new IllegalStateException("calling libsqlite3", why);
    }

    /// The functions of libsqlite3 that are used.
    private static final class Library {
        private final MethodHandle open = function("sqlite3_open_v2", ValueLayout.JAVA_INT, POINTER, POINTER, ValueLayout.JAVA_INT, POINTER);
        private final MethodHandle prepare = function(
                "sqlite3_prepare_v2", ValueLayout.JAVA_INT, POINTER, POINTER, ValueLayout.JAVA_INT, POINTER, POINTER);
        private final MethodHandle step = function("sqlite3_step", ValueLayout.JAVA_INT, POINTER);
        private final MethodHandle finish = function("sqlite3_finalize", ValueLayout.JAVA_INT, POINTER);
        private final MethodHandle close = function("sqlite3_close", ValueLayout.JAVA_INT, POINTER);
        private final MethodHandle message = function("sqlite3_errmsg", POINTER, POINTER);
        private final MethodHandle type = function("sqlite3_column_type", ValueLayout.JAVA_INT, POINTER, ValueLayout.JAVA_INT);
        private final MethodHandle integer = function("sqlite3_column_int64", ValueLayout.JAVA_LONG, POINTER, ValueLayout.JAVA_INT);
        private final MethodHandle text = function("sqlite3_column_text", POINTER, POINTER, ValueLayout.JAVA_INT);

        private static Library load(Path path) {
            try {
                return new Library();
            } catch (IllegalArgumentException e) {
                throw new RecordingException(
                        "opening '" + path + "': libsqlite3.so.0 is not on this machine, which reads SQLite",
                        "install it: sudo apt install libsqlite3-0, or sudo dnf install sqlite-libs",
                        e);
            }
        }

        private static MethodHandle function(String name, MemoryLayout result, MemoryLayout... parameters) {
            SymbolLookup symbols = SymbolLookup.libraryLookup("libsqlite3.so.0", Arena.global());
            return Linker.nativeLinker()
                    .downcallHandle(symbols.findOrThrow(name), FunctionDescriptor.of(result, parameters));
        }

        private int call(MethodHandle function, Object... arguments) {
            return (Integer) invoke(function, arguments);
        }

        private Object invoke(MethodHandle function, Object... arguments) {
            try {
                return function.invokeWithArguments(arguments);
            } catch (Throwable e) {
                throw failed(e);
            }
        }
    }
}
