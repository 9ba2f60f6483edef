package io.dyber.zernel.record.elf.x86;

/// Which calls that a function makes free memory and do nothing else.
public interface Freeing {
    /// None, as far as one knows.
    Freeing UNKNOWN = new Freeing() {
        @Override
        public boolean isAt(int place) {
            return false;
        }

        @Override
        public boolean isBehind(int pointer) {
            return false;
        }
    };

    /// Whether a function that frees is called by calling what lies `place` bytes after the caller's start.
    boolean isAt(int place);

    /// Whether a pointer to such a function lies `pointer` bytes after the caller's start.
    boolean isBehind(int pointer);
}
