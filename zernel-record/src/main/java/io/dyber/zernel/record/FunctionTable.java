package io.dyber.zernel.record;

import io.dyber.zernel.record.event.Btf;
import io.dyber.zernel.record.event.CallShape;
import io.dyber.zernel.record.event.CallShape.Role;
import io.dyber.zernel.record.event.CallShape.Slot;
import io.dyber.zernel.record.probe.Capture;
import io.dyber.zernel.record.probe.Function;
import io.dyber.zernel.record.probe.Hook;
import io.dyber.zernel.record.probe.Source;
import io.dyber.zernel.record.probe.Width;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// Translates a probed function for both ends: the `struct function` that the BPF programs interpret, and the
/// [CallShape] by which its records become rows.
final class FunctionTable {
    /// Return captures one function can have.
    static final int RETURN_SLOTS = 4;

    private static final int SOURCE_ARGUMENT = 1;
    private static final int SOURCE_RETURN = 2;
    private static final int SOURCE_OUT = 3;
    private static final int TEXT_C = 0;
    private static final int TEXT_STD = 1;
    private static final int SEND_ENTER = 1;
    private static final int SEND_RETURN = 2;
    private static final int HAS_TEXT = 4;
    private static final int VITAL = 8;
    private static final int KEEP_ARGUMENT = 16;

    private final Map<String, Integer> layout;
    private final int size;
    private final int captureSize;

    /// @param btf of the functions object
    FunctionTable(Btf btf) {
        Btf.Struct function = btf.struct("function").orElseThrow();
        this.layout = function.members().stream().collect(Collectors.toMap(Btf.Member::name, Btf.Member::offset));
        this.size = function.size();
        this.captureSize = btf.struct("capture").orElseThrow().size();
    }

    /// Whether the programs send a record when the function is entered.
    static boolean sendsEnter(Hook hook, boolean joinsByStackPointer) {
        return joinsByStackPointer
                || hook.role() != Role.CALL
                || hook.function().captures().stream()
                        .anyMatch(capture -> !capture.atReturn() || capture.source() == Source.ARGUMENT);
    }

    static boolean wantsReturn(Hook hook) {
        return hook.role() == Role.CALL || hook.role() == Role.OPEN;
    }

    /// The value of the `functions` map.
    byte[] encode(Hook hook, int kind, boolean joinsByStackPointer) {
        List<Capture> onEnter = onEnter(hook.function());
        List<Capture> onReturn = onReturn(hook.function());
        ByteBuffer value = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        value.putShort(at("kind"), (short) kind);
        value.put(at("captures"), (byte) onEnter.size());
        value.put(at("return_captures"), (byte) onReturn.size());
        int flags = (sendsEnter(hook, joinsByStackPointer) ? SEND_ENTER : 0)
                | (wantsReturn(hook) ? SEND_RETURN : 0)
                | (hook.vital() ? VITAL : 0);
        putCaptures(value, at("capture"), onEnter);
        putCaptures(value, at("on_return"), onReturn);
        for (Capture capture : hook.function().captures()) {
            if (capture.width().text()) {
                putText(value, at("text"), capture);
                flags |= HAS_TEXT;
            } else if (capture.atReturn() && capture.source() == Source.ARGUMENT) {
                value.put(at("keep_argument"), (byte) capture.argument());
                flags |= KEEP_ARGUMENT;
            }
        }
        value.put(at("flags"), (byte) flags);
        return value.array();
    }

    private int at(String member) {
        return layout.getOrDefault(member, -1);
    }

    private void putCaptures(ByteBuffer value, int at, List<Capture> captures) {
        for (int i = 0; i < captures.size(); i++) {
            Capture capture = captures.get(i);
            int source = capture.source() == Source.RETURN
                    ? SOURCE_RETURN
                    : capture.atReturn() ? SOURCE_OUT : SOURCE_ARGUMENT;
            put(value, at + i * captureSize, capture, source, capture.width().bytes(), capture.offsets().size());
        }
    }

    private void putText(ByteBuffer value, int at, Capture capture) {
        boolean std = capture.width() == Width.STDSTR;
        int pointers = std ? Math.max(capture.offsets().size() - 1, 0) : capture.offsets().size();
        put(value, at, capture, SOURCE_ARGUMENT, std ? TEXT_STD : TEXT_C, pointers);
    }

    /// Layout of `struct capture`.
    private static void put(ByteBuffer value, int at, Capture capture, int source, int width, int pointers) {
        value.put(at, (byte) source);
        value.put(at + 1, (byte) capture.argument());
        value.put(at + 2, (byte) width);
        value.put(at + 3, (byte) pointers);
        for (int i = 0; i < capture.offsets().size(); i++) {
            value.putInt(at + 4 + 4 * i, capture.offsets().get(i));
        }
    }

    /// How the records of a function that was found as `symbol` become rows.
    CallShape shape(Hook hook, String symbol, boolean joinsByStackPointer) {
        Function function = hook.function();
        return new CallShape(
                function.kind(),
                function.name().isEmpty() ? symbol : function.name(),
                hook.role(),
                onEnter(function).stream().map(FunctionTable::slot).toList(),
                onReturn(function).stream().map(FunctionTable::slot).toList(),
                function.captures().stream()
                        .filter(capture -> capture.width().text())
                        .map(Capture::column)
                        .findFirst()
                        .orElse(""),
                sendsEnter(hook, joinsByStackPointer));
    }

    private static Slot slot(Capture capture) {
        return new Slot(capture.column(), capture.width().bytes(), capture.width().signed());
    }

    private static List<Capture> onEnter(Function function) {
        return function.captures().stream()
                .filter(capture -> !capture.atReturn() && !capture.width().text())
                .toList();
    }

    private static List<Capture> onReturn(Function function) {
        return function.captures().stream()
                .filter(capture -> capture.atReturn() && !capture.width().text())
                .toList();
    }

    /// Says what of a function's captures the programs cannot do.
    ///
    /// @throws IllegalArgumentException with one line for the user
    static void check(Function function) {
        List<Capture> onReturn = onReturn(function);
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
