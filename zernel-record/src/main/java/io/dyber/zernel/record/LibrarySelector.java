package io.dyber.zernel.record;
final class LibrarySelector {
    private LibrarySelector() {}
    static boolean matches(String selector, String path, boolean program) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        if (selector.equals("exe")) {
            return program;
        }
        return selector.equals(path) || selector.equals(name) || name.startsWith(selector + ".");
    }
}
