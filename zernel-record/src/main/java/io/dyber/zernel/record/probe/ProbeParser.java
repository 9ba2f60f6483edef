package io.dyber.zernel.record.probe;

import io.dyber.zernel.format.Suggestion;
import io.dyber.zernel.record.schema.Constant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Reads the text form of a [ProbeSpec].
final class ProbeParser {
    private static final String EXAMPLE = "write LIBRARY:SYMBOL(COLUMN=VALUE, ...), for example libc.so:malloc(bytes=arg1)";
    private static final String USDT_EXAMPLE =
            "write usdt:LIBRARY:PROVIDER:NAME(COLUMN=VALUE, ...), for example usdt:libc10_cuda.so:pytorch:free(addr=arg1)";

    private static final String PYTHON_EXAMPLE =
            "write py_call:FUNCTION, for example py_call:Trainer.* or py_call:next_batch(role=data_wait)";

    private final Cursor in;
    private final CaptureParser values;
    private final List<Capture> captures = new ArrayList<>();
    private final List<Constant> constants = new ArrayList<>();
    private String name = "";
    private boolean tracepoint;

    ProbeParser(String text) {
        this.in = new Cursor(text);
        this.values = new CaptureParser(in);
    }

    ProbeSpec probe() {
        in.skipBlanks();
        if (in.take("usdt:")) {
            values.tracepoint();
            tracepoint = true;
            String library = part("library", ":(", USDT_EXAMPLE);
            colon("library", "provider", USDT_EXAMPLE);
            String provider = part("provider", ":(", USDT_EXAMPLE);
            colon("provider", "name", USDT_EXAMPLE);
            String tracepoint = part("tracepoint name", "(", USDT_EXAMPLE);
            assignments();
            return new UsdtProbe(ProbeSpec.CALL, name, library, provider, tracepoint, captures, constants);
        }
        if (in.take(OperatorProbe.KIND + ":")) {
            return new OperatorProbe(pattern("operator", "write torch_op:OPERATOR, for example torch_op:aten::conv* or torch_op:*"));
        }
        if (in.take(PythonProbe.KIND + ":")) {
            return pythonProbe();
        }
        if (in.take(PythonRegions.TEXT)) {
            return pythonRegions();
        }
        String library = part("library", ":(", EXAMPLE);
        colon("library", "symbol", EXAMPLE);
        String symbol = part("symbol", "(", EXAMPLE);
        assignments();
        return new Function(ProbeSpec.CALL, name, library, symbol, captures, constants);
    }

    private PythonProbe pythonProbe() {
        String glob = part("function", "(", PYTHON_EXAMPLE);
        assignments();
        if (!captures.isEmpty() || !name.isEmpty() || constants.stream().anyMatch(one -> !one.column().equals(CallRole.COLUMN))) {
            throw in.error(0, "of a Python function only its name can be read", PYTHON_EXAMPLE);
        }
        return new PythonProbe(glob, constants);
    }

    private PythonRegions pythonRegions() {
        in.skipBlanks();
        if (!in.atEnd()) {
            throw in.error(in.position(), "py_region ends before " + in.here(), "regions have their role in their name: zernel.data_wait");
        }
        return new PythonRegions(false);
    }

    /// The rest of the text, which names something or is a glob of names.
    private String pattern(String what, String hint) {
        String found = part(what, " \t,(=)", hint);
        in.skipBlanks();
        if (!in.atEnd()) {
            throw in.error(in.position(), "the " + what + " ends before " + in.here(), hint);
        }
        return found;
    }

    private String part(String what, String stops, String hint) {
        int start = in.position();
        String found = in.until(stops).strip();
        if (found.isEmpty()) {
            throw in.error(start, "the " + what + " is missing", hint);
        }
        for (int i = 0; i < found.length(); i++) {
            if (!what.equals("library") && " \t,=)\"'".indexOf(found.charAt(i)) >= 0) {
                throw in.error(start + i, "a " + what + " cannot contain '" + found.charAt(i) + "'", hint);
            }
        }
        return found;
    }

    private void colon(String left, String right, String hint) {
        if (!in.take(":")) {
            throw in.error(in.position(), "no ':' between " + left + " and " + right, hint);
        }
    }

    private void assignments() {
        if (in.take("(")) {
            in.skipBlanks();
            if (!in.take(")")) {
                do {
                    assignment();
                } while (in.take(","));
                if (!in.take(")")) {
                    throw in.error(in.position(), "expected ',' or ')' but found " + in.here(), values.hint());
                }
            }
        }
        in.skipBlanks();
        if (!in.atEnd()) {
            throw in.error(in.position(), "the probe ends before " + in.here(), "");
        }
    }

    private void assignment() {
        in.skipBlanks();
        int start = in.position();
        String column = values.column();
        if (column.equals("name") && in.take("\"")) {
            name = in.until("\"");
            if (!in.take("\"") || name.isBlank()) {
                throw in.error(start, "the name has no text or no closing '\"'", "write name=\"forward\"");
            }
        } else if (column.equals(CallRole.COLUMN)) {
            role(start);
        } else {
            Optional<Constant> constant = values.constant(column);
            constant.ifPresent(constants::add);
            if (constant.isEmpty()) {
                add(start, values.capture(column));
            }
        }
        in.skipBlanks();
    }

    /// The part of a step that the calls are. Quotes may be left out.
    private void role(int start) {
        if (constants.stream().anyMatch(before -> before.column().equals(CallRole.COLUMN))) {
            throw in.error(start, "the role is given twice", "");
        }
        int at = in.position();
        boolean quoted = in.take("\"");
        String title = in.word();
        if (quoted && !in.take("\"")) {
            throw in.error(at, "the role has no closing '\"'", "write role=data_wait");
        }
        CallRole role = CallRole.named(title).orElseThrow(() -> in.error(
                at, "'" + title + "' is no role",
                Suggestion.of(title, CallRole.titles()).map(meant -> "did you mean " + meant + "?")
                        .orElse("one of " + String.join(", ", CallRole.titles()))));
        if (tracepoint && role != CallRole.STEP) {
            throw in.error(at, "a tracepoint is a moment, which can be role=step only",
                    "probe a function for role=" + title + ": it has a begin and an end");
        }
        constants.add(role.constant());
    }

    private void add(int start, Capture capture) {
        for (Capture before : captures) {
            if (before.column().equals(capture.column())) {
                throw in.error(start, "column '" + capture.column() + "' is assigned twice", "");
            }
            if (before.width().text() && capture.width().text()) {
                throw in.error(start, "only one string per function can be captured", "'" + before.column() + "' is one already");
            }
        }
        captures.add(capture);
        if (captures.stream().filter(c -> !c.width().text() && !c.atReturn()).count() > ProbeLimits.INTEGERS) {
            throw in.error(start, "at most " + ProbeLimits.INTEGERS + " integers can be captured at entry", "");
        }
        if (captures.stream().filter(Capture::atReturn).count() > ProbeLimits.RETURN_INTEGERS) {
            throw in.error(start, "at most " + ProbeLimits.RETURN_INTEGERS + " integers can be captured at return", "");
        }
    }
}
