package io.dyber.zernel.record.nvml;

/// Why nothing can be learned about GPUs on this machine; the message is one line for people.
///
/// A machine without a GPU is no error, so this is checked: the caller says what happens without.
public final class NvmlException extends Exception {
    NvmlException(String message) {
        super(message);
    }
}
