package io.dyber.zernel.record.bpf;

/// Error numbers as text, and what a user can do about them here.
final class Errno {
    static final int EPERM = 1;
    static final int ENOENT = 2;
    static final int ENOEXEC = 8;
    static final int EACCES = 13;
    static final int EINVAL = 22;
    static final int ENOTSUPP = 524;

    private static final String NEEDS_PRIVILEGE =
            "run as root, or grant CAP_BPF and CAP_PERFMON (and CAP_SYS_PTRACE for other users' processes)";

    private Errno() {}

    static String text(int errno) {
        return switch (errno) {
            case EPERM -> "operation not permitted (EPERM)";
            case ENOENT -> "no such file or symbol (ENOENT)";
            case 3 -> "no such process (ESRCH)";
            case 7 -> "program too large for the verifier (E2BIG)";
            case 12 -> "out of memory (ENOMEM)";
            case EACCES -> "permission denied (EACCES)";
            case 16 -> "busy (EBUSY)";
            case EINVAL -> "invalid argument (EINVAL)";
            case 28 -> "no space left (ENOSPC)";
            case 95, ENOTSUPP -> "not supported by this kernel (EOPNOTSUPP)";
            default -> "error " + errno;
        };
    }

    static String hint(int errno) {
        return switch (errno) {
            case EPERM, EACCES -> NEEDS_PRIVILEGE;
            case 95, ENOTSUPP -> "a kernel of version 6.6 or newer is needed; 'zernel-record doctor' says what is missing";
            default -> "";
        };
    }
}
