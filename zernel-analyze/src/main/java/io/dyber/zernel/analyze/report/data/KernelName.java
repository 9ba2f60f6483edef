package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.report.table.Page;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// The name of a kernel as a person reads it. That of C++ has its parameters and the arguments of its templates, which
/// take hundreds of characters, most of them the same in all kernels of a library: PyTorch's elementwise kernels differ in
/// the operation only, which is one of these arguments.
public final class KernelName {
    private static final Pattern ANONYMOUS = Pattern.compile("\\(anonymous namespace\\)::|<unnamed>::");
    private static final Pattern QUALIFIERS = Pattern.compile("\\b\\w++::");
    /// A function that a lambda belongs to, as nvcc tells it: `__nv_dl_tag<..., &at::native::lerp_scalar_kernel, 2u>`.
    private static final Pattern FUNCTION = Pattern.compile("&([A-Za-z_]\\w*)");
    private static final Pattern VALUE = Pattern.compile("\\(.*|true|false|-?\\d.*");
    private static final Pattern TYPE = Pattern.compile(
            "(unsigned |signed )?(void|bool|char|short|int|long|long long|float|double|__half|__nv_bfloat16|Half|BFloat16|complex|Float8_\\w+|Float4_\\w+)"
                    + "(<\\w+>)?( const)?[*&]?");
    private static final Pattern PLUMBING = Pattern.compile("(array|TrivialOffsetCalculator|OffsetCalculator|LoadWith\\w*|StoreWith\\w*)\\b.*");

    /// What follows in a longer name is not read: templates within templates take time by the square of their depth.
    private static final int MOST_READ = 4096;

    private static final int MOST_SHOWN = 96;

    private KernelName() {}

    /// Its name without namespaces and parameters, and of the arguments of its template the operation, or else the types:
    /// `vectorized_elementwise_kernel<CUDAFunctor_add<float>>`. Other names are as they were; of one that is longer than 96
    /// characters the middle is left out.
    public static String brief(String name) {
        if (name.startsWith("Mem")) {
            return cut(name); // Memcpy HtoD (Pinned -> Device)
        }
        String read = name.length() > MOST_READ ? name.substring(0, MOST_READ) : name;
        String bare = ANONYMOUS.matcher(read.replaceFirst("^void ", "")).replaceAll("");
        return cut(told(QUALIFIERS.matcher(bare).replaceAll("")));
    }

    private static String cut(String name) {
        return Page.cut(name, MOST_SHOWN, "..");
    }

    private static String told(String name) {
        int end = name.replace('(', '<').indexOf('<');
        if (end <= 0) {
            return name;
        }
        String base = name.substring(0, end);
        if (name.charAt(end) == '(') {
            return base;
        }
        List<String> arguments = arguments(name, end + 1);
        String operation = arguments.stream()
                .filter(one -> !VALUE.matcher(one).matches() && !TYPE.matcher(one).matches() && !PLUMBING.matcher(one).matches())
                .map(KernelName::operation)
                .findFirst()
                .orElseGet(() -> arguments.stream()
                        .filter(one -> TYPE.matcher(one).matches())
                        .distinct()
                        .collect(Collectors.joining(", ")));
        return operation.isEmpty() ? base : base + "<" + operation + ">";
    }

    private static String operation(String argument) {
        Matcher function = FUNCTION.matcher(argument);
        return function.find() ? function.group(1) : told(argument);
    }

    /// What stands between the brackets of which the first is just before.
    private static List<String> arguments(String name, int from) {
        List<String> arguments = new ArrayList<>();
        int depth = 0;
        int begin = from;
        for (int i = from; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c == '<' || c == '(' || c == '{') {
                depth++;
            } else if (depth == 0 && (c == ',' || c == '>')) {
                arguments.add(name.substring(begin, i).strip());
                begin = i + 1;
                if (c == '>') {
                    return arguments;
                }
            } else if (c == '>' || c == ')' || c == '}') {
                depth--;
            }
        }
        return arguments; // cut off
    }
}
