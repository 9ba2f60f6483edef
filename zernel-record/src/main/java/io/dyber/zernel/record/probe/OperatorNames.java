package io.dyber.zernel.record.probe;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/// Which operator of PyTorch a function of `at::_ops` is.
///
/// Such a function is named `OPERATOR` or `OPERATOR_OVERLOAD`, and operators have underscores of their own:
/// `scatter_reduce_out` is the overload `reduce_out` of `aten::scatter`. The library tells: it holds the schema of each
/// operator, such as `scatter.reduce_out(Tensor self, ...) -> Tensor(a!)`. Where the linker let a text share the end of
/// a longer one (`special_expm1.out(...)` holds `expm1.out(...)`), the longest `aten::OPERATOR` that fits is it.
final class OperatorNames {
    private static final byte[] NAMESPACE = "aten::".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] RESULT = ") -> ".getBytes(StandardCharsets.US_ASCII);

    private final byte[] data;
    private final Map<String, String> bySchema = new HashMap<>();
    private final Set<String> operators = new HashSet<>();

    /// @param data the constants of the library
    OperatorNames(byte[] data) {
        this.data = data;
        for (int start = 0; start < data.length; start++) {
            int end = start;
            while (end < data.length && data[end] != 0) {
                end++;
            }
            read(start, end);
            start = end;
        }
    }

    /// One text.
    private void read(int start, int end) {
        boolean spaced = startsWith(NAMESPACE, start, end);
        int from = spaced ? start + NAMESPACE.length : start;
        int dot = 0;
        int at = from;
        while (at < end && (isOfName(data[at]) || (data[at] == '.' && dot == 0))) {
            dot = data[at] == '.' ? at : dot;
            at++;
        }
        if (at == from) {
            return;
        }
        if (at == end && spaced && dot == 0) {
            operators.add(text(from, at));
        } else if (at < end && data[at] == '(' && contains(RESULT, at, end)) {
            String operator = text(from, dot == 0 ? at : dot);
            bySchema.put(dot == 0 ? operator : operator + "_" + text(dot + 1, at), operator);
        }
    }

    private static boolean isOfName(byte b) {
        return b == '_' || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9');
    }

    private boolean startsWith(byte[] part, int at, int end) {
        if (part.length > end - at) {
            return false;
        }
        for (int i = 0; i < part.length; i++) {
            if (data[at + i] != part[i]) {
                return false;
            }
        }
        return true;
    }

    private boolean contains(byte[] part, int start, int end) {
        for (int at = start; at <= end - part.length; at++) {
            if (startsWith(part, at, end)) {
                return true;
            }
        }
        return false;
    }

    private String text(int start, int end) {
        return new String(data, start, end - start, StandardCharsets.US_ASCII);
    }

    /// `aten::add` for `add_Tensor`.
    String of(String function) {
        String operator = bySchema.get(function);
        int end = function.length();
        while (operator == null && end > 0) {
            String part = function.substring(0, end);
            operator = operators.contains(part) ? part : null;
            end = function.lastIndexOf('_', end - 1);
        }
        return "aten::" + (operator == null ? function : operator);
    }
}
