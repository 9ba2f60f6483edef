package io.dyber.zernel.record.elf;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Where a tracepoint keeps an argument at its place in the code.
///
/// @param text as the note has it: `-4@-20(%rbp)`
/// @param bytes 1, 2, 4 or 8
public record UsdtArgument(String text, int bytes, boolean signed, Location location) {
    private static final Pattern ARGUMENT = Pattern.compile("(-?)([1248])(f?)@(.+)");
    private static final Pattern MEMORY =
            Pattern.compile("(-?(?:0x[0-9a-fA-F]+|[0-9]+))?\\((?:%([a-z0-9]+))?(?:,%([a-z0-9]+)(?:,([1248]))?)?\\)");
    private static final Pattern NUMBER = Pattern.compile("-?(?:0x[0-9a-fA-F]+|[0-9]+)");

    /// A place of an argument.
    public sealed interface Location {
        /// The value itself.
        record Constant(long value) implements Location {}

        /// In a register.
        record InRegister(Register register) implements Location {}

        /// In memory at `base + index * scale + displacement`.
        record InMemory(Register base, Optional<Register> index, int scale, long displacement) implements Location {}

        /// Somewhere that cannot be read from a probe: a vector register, a symbol, another architecture's form.
        record Unreadable() implements Location {}
    }

    /// Splits and reads a note's argument string. Operands may contain blanks on some architectures, so only a blank
    /// before the next `SIZE@` separates.
    static List<UsdtArgument> parseAll(String text) {
        List<UsdtArgument> arguments = new ArrayList<>();
        for (String argument : text.strip().split("\\s+(?=-?[0-9]+f?@)")) {
            if (!argument.isEmpty()) {
                arguments.add(parse(argument));
            }
        }
        return arguments;
    }

    private static UsdtArgument parse(String text) {
        Matcher matcher = ARGUMENT.matcher(text);
        if (!matcher.matches()) {
            return new UsdtArgument(text, 8, false, new Location.Unreadable());
        }
        boolean floating = !matcher.group(3).isEmpty();
        Location location = floating ? new Location.Unreadable() : location(matcher.group(4));
        return new UsdtArgument(text, Integer.parseInt(matcher.group(2)), !matcher.group(1).isEmpty(), location);
    }

    private static Location location(String operand) {
        if (operand.startsWith("$") && NUMBER.matcher(operand).region(1, operand.length()).matches()) {
            return number(operand.substring(1)).<Location>map(Location.Constant::new).orElseGet(Location.Unreadable::new);
        }
        if (operand.startsWith("%")) {
            return Register.named(operand.substring(1))
                    .<Location>map(Location.InRegister::new)
                    .orElseGet(Location.Unreadable::new);
        }
        Matcher memory = MEMORY.matcher(operand);
        return memory.matches() ? memory(memory) : new Location.Unreadable();
    }

    private static Location memory(Matcher operand) {
        Optional<Register> base = Optional.ofNullable(operand.group(2)).flatMap(Register::named);
        Optional<Register> index = Optional.ofNullable(operand.group(3)).flatMap(Register::named);
        Optional<Long> displacement = operand.group(1) == null ? Optional.of(0L) : number(operand.group(1));
        boolean known = base.isPresent() && (operand.group(3) == null || index.isPresent());
        if (!known || displacement.isEmpty()) {
            return new Location.Unreadable();
        }
        int scale = operand.group(4) == null ? 1 : Integer.parseInt(operand.group(4));
        return new Location.InMemory(base.get(), index, scale, displacement.get());
    }

    private static Optional<Long> number(String text) {
        try {
            String digits = text.startsWith("-") ? text.substring(1) : text;
            long value = digits.startsWith("0x")
                    ? Long.parseUnsignedLong(digits.substring(2), 16)
                    : Long.parseUnsignedLong(digits);
            return Optional.of(text.startsWith("-") ? -value : value);
        } catch (NumberFormatException _) {
            return Optional.empty();
        }
    }
}
