package io.dyber.zernel.record.attach;

import io.dyber.zernel.record.elf.Register;
import io.dyber.zernel.record.elf.UsdtArgument.Location.Constant;
import io.dyber.zernel.record.elf.UsdtArgument.Location.InMemory;
import io.dyber.zernel.record.elf.UsdtArgument.Location.InRegister;
import io.dyber.zernel.record.elf.UsdtArgument.Location.Unreadable;
import io.dyber.zernel.record.elf.UsdtArgument;
import io.dyber.zernel.record.elf.UsdtNote;
import io.dyber.zernel.record.event.CallMeaning;
import io.dyber.zernel.record.event.CallShape.Role;
import io.dyber.zernel.record.event.CallShape.Slot;
import io.dyber.zernel.record.event.CallShape;
import io.dyber.zernel.record.event.RowEnricher;
import io.dyber.zernel.record.probe.Capture;
import io.dyber.zernel.record.probe.Function;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.probe.ProbeSpec;
import io.dyber.zernel.record.probe.Source;
import io.dyber.zernel.record.probe.Width;
import io.dyber.zernel.record.schema.Btf;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Translates a probed function for both ends: the `struct function` that the BPF programs interpret, and the
/// [CallShape] by which its records become rows.
public final class FunctionTable {
    /// Return captures one function can have.
    static final int RETURN_SLOTS = 4;

    private static final int SOURCE_ARGUMENT = 1;
    private static final int SOURCE_RETURN = 2;
    private static final int SOURCE_OUT = 3;
    private static final int SOURCE_STACK = 4;
    private static final int SOURCE_REGISTER = 5;
    private static final int SOURCE_CONSTANT = 6;
    private static final int SOURCE_CALLERS = 7;
    private static final int TEXT_C = 0;
    private static final int TEXT_STD = 1;
    private static final int TEXT_BYTES = 2;
    private static final int SEND_ENTER = 1;
    private static final int SEND_RETURN = 2;
    private static final int HAS_TEXT = 4;
    private static final int VITAL = 8;
    private static final int KEEP_ARGUMENT = 16;
    private static final int PLAIN_ARGUMENTS = 64;
    private static final int TIMED = 128;
    /// Fewer are read one by one.
    private static final int FEWEST_PLAIN_ARGUMENTS = 7;

    private final Map<String, Integer> layout;
    private final int size;
    private final int captureSize;
    private final Set<String> kindsWithStack;

    /// @param btf of the functions object
    /// @param kindsWithStack whose calls have a stack when they take long
    public FunctionTable(Btf btf, Set<String> kindsWithStack) {
        this.kindsWithStack = Set.copyOf(kindsWithStack);
        Btf.Struct function = btf.struct("function").orElseThrow();
        this.layout = function.members().stream().collect(Collectors.toMap(Btf.Member::name, Btf.Member::offset));
        this.size = function.size();
        if (at("flags") != FunctionDefinition.FLAGS) {
            throw new IllegalArgumentException("reading struct 'function': 'flags' lies at " + at("flags"));
        }
        if (at("sample") != FunctionDefinition.SAMPLE) {
            throw new IllegalArgumentException("reading struct 'function': 'sample' lies at " + at("sample"));
        }
        this.captureSize = btf.struct("capture").orElseThrow().size();
    }

    /// Whether the programs send a record when the function is entered.
    public static boolean sendsEnter(FunctionProbe hook, boolean joinsByStackPointer) {
        return joinsByStackPointer
                || hook.role() != Role.CALL
                || hook.meaning() != CallMeaning.NOTHING
                || hook.probe().captures().stream()
                        .anyMatch(capture -> !capture.atReturn() || capture.source() == Source.ARGUMENT);
    }

    /// The value of the `functions` map, of a function whose arguments are read as they are.
    public FunctionDefinition encode(FunctionProbe hook, int kind, boolean joinsByStackPointer) {
        return encode(hook, kind, joinsByStackPointer, OptionalInt.empty());
    }

    /// The value of the `functions` map.
    ///
    /// @param replaced of the site where it is probed
    public FunctionDefinition encode(FunctionProbe hook, int kind, boolean joinsByStackPointer, OptionalInt replaced) {
        List<Capture> captures = captures(hook);
        ByteBuffer value = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        putHead(value, hook, kind, sendsEnter(hook, joinsByStackPointer));
        if (arePlainArguments(onEnter(captures)) && text(captures).isEmpty()) {
            setFlag(value, PLAIN_ARGUMENTS);
        }
        putCaptures(value, at("capture"), onEnter(captures).stream().map(FunctionTable::place).toList());
        putCaptures(value, at("on_return"), onReturn(captures).stream().map(FunctionTable::place).toList());
        replaced.ifPresent(added -> putReplaced(value, at("capture"), added));
        value.put(at("return_captures"), (byte) onReturn(captures).size());
        text(captures).ifPresent(text -> put(value, at("text"), place(text)));
        captures.stream()
                .filter(capture -> capture.atReturn() && capture.source() == Source.ARGUMENT)
                .findFirst()
                .ifPresent(capture -> {
                    value.put(at("keep_argument"), (byte) capture.argument());
                    setFlag(value, KEEP_ARGUMENT);
                });
        boolean keeps = (value.get(at("flags")) & KEEP_ARGUMENT) != 0;
        if (!keeps && captures.stream().anyMatch(capture -> capture.source() == Source.CALLERS)) {
            setFlag(value, TIMED);
        }
        return new FunctionDefinition(value.array());
    }

    /// What is read of a call: what its probe says, and its stack.
    private List<Capture> captures(FunctionProbe hook) {
        List<Capture> asked = hook.probe().captures();
        boolean fits = hook.role() == Role.CALL && onReturn(asked).size() < RETURN_SLOTS;
        if (!fits || !kindsWithStack.contains(hook.probe().kind())) {
            return asked;
        }
        List<Capture> all = new ArrayList<>(asked);
        all.add(Capture.callers());
        return all;
    }

    private void setFlag(ByteBuffer value, int flag) {
        value.put(at("flags"), (byte) (value.get(at("flags")) | flag));
    }

    /// Whether these are the first arguments, one after the other, as they are.
    private static boolean arePlainArguments(List<Capture> captures) {
        return captures.size() >= FEWEST_PLAIN_ARGUMENTS
                && IntStream.range(0, captures.size()).allMatch(i -> {
                    Capture capture = captures.get(i);
                    return capture.source() == Source.ARGUMENT
                            && capture.offsets().isEmpty()
                            && capture.argument() == i + 1;
                });
    }

    /// The same for a tracepoint at one of its places.
    public FunctionDefinition encode(FunctionProbe hook, int kind, UsdtNote note) {
        List<Capture> captures = hook.probe().captures();
        ByteBuffer value = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        putHead(value, hook, kind, true);
        putCaptures(value, at("capture"), onEnter(captures).stream().map(c -> place(c, note)).toList());
        text(captures).ifPresent(text -> put(value, at("text"), place(text, note)));
        return new FunctionDefinition(value.array());
    }

    private void putHead(ByteBuffer value, FunctionProbe hook, int kind, boolean sendsEnter) {
        List<Capture> captures = hook.probe().captures();
        value.putShort(at("kind"), (short) kind);
        value.put(at("captures"), (byte) onEnter(captures).size());
        value.putInt(at("sample"), 1);
        value.putShort(at("ends"), (short) hook.endsEvery());
        int flags = (sendsEnter ? SEND_ENTER : 0)
                | (hook.role().returns() ? SEND_RETURN : 0)
                | (hook.vital() ? VITAL : 0)
                | (text(captures).isPresent() ? HAS_TEXT : 0);
        value.put(at("flags"), (byte) flags);
    }

    private int at(String member) {
        return layout.getOrDefault(member, -1);
    }

    /// A `struct capture`.
    private record Place(
            int source, int argument, int width, int index, int scale, int tags, List<Integer> offsets) {}

    private static Place place(Capture capture) {
        int source =
                switch (capture.source()) {
                    case RETURN -> SOURCE_RETURN;
                    case STACK -> SOURCE_STACK;
                    case CALLERS -> SOURCE_CALLERS;
                    case ARGUMENT -> capture.atReturn() ? SOURCE_OUT : SOURCE_ARGUMENT;
                };
        return new Place(source, capture.argument(), width(capture), 0, 0, capture.tags(), capture.offsets());
    }

    private static Place place(Capture capture, UsdtNote note) {
        UsdtArgument argument = note.arguments().get(capture.argument() - 1);
        int width = capture.width() == Width.NATURAL ? argument.bytes() : width(capture);
        return switch (argument.location()) {
            case Constant(long constant) -> new Place(SOURCE_CONSTANT, 0, width, 0, 0, 0, List.of((int) constant));
            case InRegister(Register register) ->
                new Place(SOURCE_REGISTER, register.place(), width, 0, 0, 0, capture.offsets());
            case InMemory(Register base, Optional<Register> index, int scale, long displacement) -> {
                List<Integer> offsets = new ArrayList<>(List.of((int) displacement));
                offsets.addAll(capture.offsets());
                int indexPlace = index.map(Register::place).orElse(0);
                yield new Place(
                        SOURCE_REGISTER, base.place(), width, indexPlace, index.isPresent() ? scale : 0, 0, offsets);
            }
            case Unreadable() -> throw new IllegalArgumentException("reading '" + argument.text() + "': no place");
        };
    }

    private static int width(Capture capture) {
        return switch (capture.width()) {
            case STR -> TEXT_C;
            case STDSTR -> TEXT_STD;
            case CHARS -> TEXT_BYTES;
            default -> capture.width().bytes();
        };
    }

    private void putCaptures(ByteBuffer value, int at, List<Place> captures) {
        for (int i = 0; i < captures.size(); i++) {
            put(value, at + i * captureSize, captures.get(i));
        }
    }

    /// Layout of `struct capture`.
    private static void put(ByteBuffer value, int at, Place place) {
        value.put(at, (byte) place.source());
        value.put(at + 1, (byte) place.argument());
        value.put(at + 2, (byte) place.width());
        value.put(at + 3, (byte) place.offsets().size());
        value.put(at + 4, (byte) place.index());
        value.put(at + 5, (byte) place.scale());
        value.putShort(at + 6, (short) place.tags());
        for (int i = 0; i < place.offsets().size(); i++) {
            value.putInt(at + 8 + 4 * i, place.offsets().get(i));
        }
    }

    /// The register holds what the capture reads, plus `added`.
    private static void putReplaced(ByteBuffer value, int at, int added) {
        value.put(at + 3, (byte) 0);
        value.putInt(at + 8, -added);
    }

    /// How the records of a function that was found as `symbol` become rows.
    public CallShape shape(FunctionProbe hook, String symbol, boolean joinsByStackPointer, RowEnricher interpretation) {
        List<Capture> captures = captures(hook);
        return shape(
                hook,
                symbol,
                onEnter(captures).stream().map(FunctionTable::slot).toList(),
                sendsEnter(hook, joinsByStackPointer),
                interpretation);
    }

    /// The same for a tracepoint at one of its places.
    public CallShape shape(FunctionProbe hook, UsdtNote note, RowEnricher interpretation) {
        List<Slot> slots = onEnter(hook.probe().captures()).stream()
                .map(capture -> {
                    UsdtArgument argument = note.arguments().get(capture.argument() - 1);
                    return capture.width() == Width.NATURAL
                            ? new Slot(capture.column(), argument.bytes(), argument.signed())
                            : slot(capture);
                })
                .toList();
        return shape(hook, note.provider() + ":" + note.name(), slots, true, interpretation);
    }

    private CallShape shape(
            FunctionProbe hook, String symbol, List<Slot> onEnter, boolean sendsEnter, RowEnricher interpretation) {
        ProbeSpec probe = hook.probe();
        return new CallShape(
                probe.kind(),
                probe.name().isEmpty() ? symbol : probe.name(),
                hook.role(),
                onEnter,
                onReturn(captures(hook)).stream().map(FunctionTable::slot).toList(),
                text(probe.captures()).map(Capture::column).orElse(""),
                sendsEnter,
                hook.vital(),
                hook.layer(),
                probe.constants(),
                interpretation);
    }

    private static Slot slot(Capture capture) {
        int bytes = capture.width() == Width.HASH ? 8 : capture.width().bytes();
        return new Slot(capture.column(), bytes, capture.width().signed(), capture.shift(), capture.labels());
    }

    private static List<Capture> onEnter(List<Capture> captures) {
        return captures.stream()
                .filter(capture -> !capture.atReturn() && !capture.width().text())
                .toList();
    }

    private static List<Capture> onReturn(List<Capture> captures) {
        return captures.stream()
                .filter(capture -> capture.atReturn() && !capture.width().text())
                .toList();
    }

    private static Optional<Capture> text(List<Capture> captures) {
        return captures.stream().filter(capture -> capture.width().text()).findFirst();
    }

    /// Says what of a function's captures the programs cannot do.
    ///
    /// @throws IllegalArgumentException with one line for the user
    static void check(Function function) {
        List<Capture> onReturn = onReturn(function.captures());
        long outArguments = onReturn.stream()
                .filter(capture -> capture.source() == Source.ARGUMENT)
                .map(Capture::argument)
                .distinct()
                .count();
        if (onReturn.size() > RETURN_SLOTS || outArguments > 1) {
            throw new IllegalArgumentException("probing '" + function.symbol() + "': at most " + RETURN_SLOTS
                    + " values can be read on return, through one out-pointer argument");
        }
        if (function.captures().stream()
                .anyMatch(capture -> capture.width().text()
                        && (capture.atReturn() || capture.source() == Source.RETURN))) {
            throw new IllegalArgumentException(
                    "probing '" + function.symbol() + "': texts can be read on entry only");
        }
    }
}
