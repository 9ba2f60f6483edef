package io.dyber.zernel.record.elf.x86;

/// What lies around a function's code. Places are bytes after the function's start, or before it.
public interface Surroundings {
    /// Of these nothing is known.
    Surroundings UNKNOWN = new Surroundings() {
        @Override
        public boolean frees(int place) {
            return false;
        }

        @Override
        public boolean isPointerToFreeing(int place) {
            return false;
        }

        @Override
        public boolean neverReturns(int place) {
            return false;
        }

        @Override
        public byte[] code(int place) {
            return new byte[0];
        }
    };

    /// Whether a call of this place frees memory and does nothing else.
    boolean frees(int place);

    /// Whether a pointer to such a function is there.
    boolean isPointerToFreeing(int place);

    /// Whether a call of this place is known not to come back.
    boolean neverReturns(int place);

    /// Some code from this place on; nothing where there is none.
    byte[] code(int place);
}
