package io.dyber.zernel.record.bpf;

import java.util.Optional;

/// The kernel or libbpf said no. The message is one line for the user; the hint says what to do.
public final class BpfException extends RuntimeException {
    private final int errno;
    private final String message;
    private final String hint;
    private final String log;

    BpfException(String message, int errno, String hint, String log) {
        super(message);
        this.message = message;
        this.errno = errno;
        this.hint = hint;
        this.log = log;
    }

    /// A refused operation: *doing*: *why (ENAME)*.
    ///
    /// @param errno positive
    static BpfException refused(String doing, int errno, String log) {
        return new BpfException(doing + ": " + Errno.text(errno), errno, Errno.hint(errno), log);
    }

    /// Positive error number, 0 when there is none.
    public int errno() {
        return errno;
    }

    /// Whether it is the probed code that the kernel cannot handle.
    public boolean isOfCode() {
        return errno == Errno.ENOEXEC || errno == Errno.ENOTSUPP;
    }

    public Optional<String> hint() {
        return hint.isEmpty() ? Optional.empty() : Optional.of(hint);
    }

    /// What libbpf and the verifier printed meanwhile; may be empty or long.
    public String log() {
        return log;
    }

    @Override
    public String getMessage() {
        return message;
    }
}
