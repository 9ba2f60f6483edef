package io.dyber.zernel.record.probe;

/// Shell-like patterns over names: `*` is any run of characters, `?` is one.
final class Glob {
    private Glob() {}

    static boolean isGlob(String text) {
        return text.indexOf('*') >= 0 || text.indexOf('?') >= 0;
    }

    /// Whether all of `text` matches. Linear in practice: only the last `*` is ever retried.
    static boolean matches(String pattern, String text) {
        int p = 0;
        int t = 0;
        int star = -1;
        int retry = 0;
        while (t < text.length()) {
            if (p < pattern.length() && pattern.charAt(p) == '*') {
                star = p++;
                retry = t;
            } else if (p < pattern.length() && (pattern.charAt(p) == '?' || pattern.charAt(p) == text.charAt(t))) {
                p++;
                t++;
            } else if (star >= 0) {
                p = star + 1;
                t = ++retry;
            } else {
                return false;
            }
        }
        while (p < pattern.length() && pattern.charAt(p) == '*') {
            p++;
        }
        return p == pattern.length();
    }
}
