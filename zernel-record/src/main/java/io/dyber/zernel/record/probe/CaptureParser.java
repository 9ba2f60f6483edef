package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.schema.Constant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/// Reads `COLUMN=VALUE` of a probe text.
final class CaptureParser {
    private static final Pattern COLUMN = Pattern.compile("[a-z][a-z0-9_]{0,62}");
    private static final int MAX_OFFSET = 1 << 20;
    private static final String WIDTHS = "u8 s8 u16 s16 u32 s32 u64 s64 str chars stdstr hash";
    private static final String NO_FLOATS =
            "uprobes see integer registers only; probe a function that gets the number by pointer or as an integer";

    /// What people write for a width, and what it is called here.
    private static final Map<String, String> C_TYPES = Map.ofEntries(
            Map.entry("char", "s8"), Map.entry("bool", "u8"), Map.entry("short", "s16"), Map.entry("int", "s32"),
            Map.entry("unsigned", "u32"), Map.entry("uint", "u32"), Map.entry("long", "s64"),
            Map.entry("size_t", "u64"), Map.entry("ssize_t", "s64"), Map.entry("ptr", "u64"),
            Map.entry("int8_t", "s8"), Map.entry("uint8_t", "u8"), Map.entry("int16_t", "s16"),
            Map.entry("uint16_t", "u16"), Map.entry("int32_t", "s32"), Map.entry("uint32_t", "u32"),
            Map.entry("int64_t", "s64"), Map.entry("uint64_t", "u64"), Map.entry("i8", "s8"), Map.entry("i16", "s16"),
            Map.entry("i32", "s32"), Map.entry("i64", "s64"), Map.entry("string", "str or stdstr"));

    private final Cursor in;
    private boolean tracepoint;

    CaptureParser(Cursor in) {
        this.in = in;
    }

    /// From here on values are those of a tracepoint: as wide as its note says, and without a return.
    void tracepoint() {
        tracepoint = true;
    }

    String hint() {
        return "a value is argN or ret, then ->OFFSET, @ret and :TYPE as needed, for example arg1->24:u32";
    }

    /// Reads `COLUMN=`.
    String column() {
        int start = in.position();
        String column = in.word();
        if (!COLUMN.matcher(column).matches()) {
            throw in.error(start, column.isEmpty() ? "expected a column but found " + in.here() : "'" + column + "' is not a column name",
                    "a column is snake_case: a-z, 0-9 and _, starting with a letter");
        }
        if (ProbeLimits.RESERVED.contains(column)) {
            throw in.error(start, "column '" + column + "' is filled by the recorder itself", "choose another name");
        }
        in.skipBlanks();
        if (!in.take("=")) {
            throw in.error(in.position(), "expected '=' after '" + column + "' but found " + in.here(),
                    "write " + column + "=arg1");
        }
        in.skipBlanks();
        return column;
    }

    /// Reads the value for `column`.
    Capture capture(String column) {
        int start = in.position();
        boolean address = in.take("&");
        int stars = 0;
        while (in.take("*")) {
            stars++;
        }
        int argument = base();
        int shift = shift();
        List<Integer> offsets = offsets(stars, start);
        boolean atReturn = argument == 0 || atReturn(offsets);
        int typeAt = in.position();
        Width width = width(offsets.isEmpty());
        if (width == Width.HASH && offsets.isEmpty()) {
            offsets = List.of(0);
        }
        List<String> labels = labels();
        if (column.equals("name") && !width.text()) {
            throw in.error(typeAt, "'name' must be a string", "write name=arg1:str, name=arg1:stdstr or name=\"text\"");
        }
        if (address && argument <= Capture.REGISTER_ARGUMENTS) {
            throw in.error(start, "only arguments on the stack have an address, and arg" + argument + " is in a register",
                    "leave out '&' when the argument is a pointer");
        }
        Source source = address ? Source.STACK : argument == 0 ? Source.RETURN : Source.ARGUMENT;
        return new Capture(column, source, argument, offsets, width, atReturn, shift, labels);
    }

    /// A number or a quoted text instead of a value.
    Optional<Constant> constant(String column) {
        int start = in.position();
        if (in.take("\"")) {
            String text = in.until("\"");
            if (!in.take("\"") || text.isBlank()) {
                throw in.error(start, "the text is empty or has no closing '\"'", "write " + column + "=\"text\"");
            }
            return Optional.of(Constant.of(column, text));
        }
        if (!Character.isDigit(in.peek())) {
            return Optional.empty();
        }
        String digits = in.word();
        if (!digits.matches("[0-9]{1,18}")) {
            throw in.error(start, "'" + digits + "' is not a number", "");
        }
        return Optional.of(Constant.of(column, Long.parseLong(digits)));
    }

    private int shift() {
        if (!in.take(">>")) {
            return 0;
        }
        int start = in.position();
        String bits = in.word();
        if (!bits.matches("[0-9]{1,2}") || Integer.parseInt(bits) > 63) {
            throw in.error(start, "expected 0 to 63 bits after '>>'", "write arg2>>32:u32");
        }
        return Integer.parseInt(bits);
    }

    private List<String> labels() {
        if (!in.take("{")) {
            return List.of();
        }
        int start = in.position();
        String labels = in.until("}");
        if (!in.take("}") || labels.isBlank()) {
            throw in.error(start, "the labels are missing or have no closing '}'", "write arg3:u32{off,on}");
        }
        return Arrays.stream(labels.split(",")).map(String::strip).toList();
    }

    private int base() {
        int start = in.position();
        String base = in.word();
        if (base.equals("ret")) {
            if (tracepoint) {
                throw in.error(start, "a tracepoint does not return", "use arg1, arg2, ...");
            }
            return 0;
        }
        if (base.matches("(fp|farg|xmm|st|d|f)[0-9]+")) {
            throw in.error(start, "floating-point arguments cannot be read", NO_FLOATS);
        }
        if (!base.matches("arg[0-9]{1,9}")) {
            throw in.error(start, base.isEmpty() ? "expected a value but found " + in.here() : "'" + base + "' is not a value",
                    hint());
        }
        int argument = Integer.parseInt(base.substring(3));
        if (argument < 1 || argument > Capture.MAX_ARGUMENT) {
            throw in.error(start, "there is no " + base, "the first argument is arg1, the last that can be read arg"
                    + Capture.MAX_ARGUMENT);
        }
        return argument;
    }

    private List<Integer> offsets(int stars, int start) {
        List<Integer> offsets = new ArrayList<>();
        in.skipBlanks();
        while (in.take("->")) {
            offsets.add(offset());
            in.skipBlanks();
        }
        for (int i = 0; i < stars; i++) {
            offsets.add(0);
        }
        if (offsets.size() > Capture.MAX_OFFSETS) {
            throw in.error(start, offsets.size() + " pointers to follow, and " + Capture.MAX_OFFSETS + " is the most", "");
        }
        return offsets;
    }

    private int offset() {
        in.skipBlanks();
        int start = in.position();
        boolean negative = in.take("-");
        String digits = in.word().toLowerCase(Locale.ROOT);
        if (!digits.matches("[0-9]{1,8}|0x[0-9a-f]{1,6}")) {
            throw in.error(start, "expected an offset in bytes after '->'", "write arg1->24 or arg1->0x18");
        }
        int offset = Integer.decode(digits.startsWith("0x") ? digits : digits.replaceFirst("^0+(?=.)", ""));
        if (offset > MAX_OFFSET) {
            throw in.error(start, "offset " + offset + " is beyond the first MiB", "");
        }
        return negative ? -offset : offset;
    }

    private boolean atReturn(List<Integer> offsets) {
        int start = in.position();
        if (!in.take("@ret")) {
            return false;
        }
        if (tracepoint) {
            throw in.error(start, "a tracepoint does not return", "leave out '@ret'");
        }
        if (offsets.isEmpty()) {
            throw in.error(start, "the argument itself is the same at return as at entry",
                    "to read what it points to at return, write *arg1@ret");
        }
        return true;
    }

    private Width width(boolean plain) {
        in.skipBlanks();
        if (!in.take(":")) {
            return tracepoint && plain ? Width.NATURAL : Width.U64;
        }
        in.skipBlanks();
        int start = in.position();
        String type = in.word();
        if (type.matches("f32|f64|float|double|fp")) {
            throw in.error(start, "floating-point values cannot be read", NO_FLOATS);
        }
        return Width.named(type).orElseThrow(() -> in.error(start, "'" + type + "' is not a type",
                C_TYPES.containsKey(type) ? "write " + C_TYPES.get(type) : "one of " + WIDTHS));
    }
}
