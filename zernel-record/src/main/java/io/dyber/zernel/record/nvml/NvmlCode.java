package io.dyber.zernel.record.nvml;

/// The return codes of NVML (`nvmlReturn_t`) that are told apart here.
final class NvmlCode {
    static final int SUCCESS = 0;

    /// None of NVML: the answer cannot be true.
    static final int IMPOSSIBLE = -1;

    static final int INVALID_ARGUMENT = 2;
    static final int NOT_SUPPORTED = 3;
    static final int NO_PERMISSION = 4;
    static final int NOT_FOUND = 6;
    static final int INSUFFICIENT_SIZE = 7;
    static final int FUNCTION_NOT_FOUND = 13;
    static final int GPU_IS_LOST = 15;
    static final int MEMORY = 20;
    static final int VERSION_MISMATCH = 25;
    static final int DEPRECATED = 26;

    private static final int DRIVER_NOT_LOADED = 9;
    private static final int TIMEOUT = 10;
    private static final int RESET_REQUIRED = 16;
    private static final int OPERATING_SYSTEM = 17;
    private static final int LIBRARY_MISMATCH = 18;
    private static final int NO_DATA = 21;

    private NvmlCode() {}

    /// Whether asking again is of no use.
    static boolean isFinal(int code) {
        return switch (code) {
            case INVALID_ARGUMENT,
                    NOT_SUPPORTED,
                    NO_PERMISSION,
                    FUNCTION_NOT_FOUND,
                    VERSION_MISMATCH,
                    DEPRECATED -> true;
            default -> false;
        };
    }

    /// What a code says, for people.
    static String text(int code) {
        return switch (code) {
            case IMPOSSIBLE -> "an impossible value";
            case INVALID_ARGUMENT -> "invalid argument";
            case NOT_SUPPORTED -> "not supported by this GPU";
            case NO_PERMISSION -> "not permitted to this user";
            case NOT_FOUND -> "not found";
            case INSUFFICIENT_SIZE -> "the list kept growing while it was read";
            case DRIVER_NOT_LOADED -> "the NVIDIA driver is not loaded";
            case TIMEOUT -> "the driver timed out";
            case FUNCTION_NOT_FOUND -> "not known to this driver";
            case GPU_IS_LOST -> "the GPU has fallen off the bus";
            case RESET_REQUIRED -> "the GPU must be reset";
            case OPERATING_SYSTEM -> "the operating system blocks the GPU";
            case LIBRARY_MISMATCH -> "the NVML library is not of the version of the loaded driver";
            case MEMORY -> "no memory";
            case NO_DATA -> "no data";
            case VERSION_MISMATCH, DEPRECATED -> "no longer known to this driver";
            default -> "NVML error " + code;
        };
    }
}
