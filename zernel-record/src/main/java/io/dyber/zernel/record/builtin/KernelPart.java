package io.dyber.zernel.record.builtin;

import java.util.Arrays;
import java.util.List;

/// What a BPF object sees of a kind, and what it is told when it is loaded.
///
/// @param object its name: `bpf/NAME.bpf.c`
/// @param part of the kind that is not there without it; empty when that is the whole kind
/// @param seen the constant that tells the objects loaded after it that this part is there; empty when none asks
/// @param events the names of its events
public record KernelPart(String object, String part, String seen, List<EventName> events) {
    public KernelPart {
        events = List.copyOf(events);
    }

    /// The object that sees a kind as a whole.
    static KernelPart whole(String object, List<? extends EventName> events) {
        return new KernelPart(object, "", "", List.copyOf(events));
    }

    /// An object that adds to a kind.
    static KernelPart adding(String object, String part, String seen, List<? extends EventName> events) {
        return new KernelPart(object, part, seen, List.copyOf(events));
    }

    /// Whether there is nothing of the kind without it.
    public boolean isWhole() {
        return part.isEmpty();
    }

    /// A name of events. The object is told the number that stands for it.
    public sealed interface EventName {
        String name();
    }

    /// A name whose number is the constant `name_NAME` of the object.
    public record Named(String name) implements EventName {
        static List<Named> all(String... names) {
            return Arrays.stream(names).map(Named::new).toList();
        }

        /// The constant.
        public String constant() {
            return "name_" + name.replace('-', '_');
        }
    }

    /// A name whose number is in a map of the object.
    public sealed interface Entry extends EventName permits SystemCalls.SystemCall, SystemCalls.RingOperation {
        /// Which map.
        String map();

        /// Its key there.
        int key();

        /// Its value there.
        ///
        /// @param kind number of the kind
        /// @param function number of the name
        byte[] value(int kind, int function);
    }
}
