package io.dyber.zernel.record.rows;

import io.dyber.zernel.record.option.RecorderException;

/// What is said when the JVM has no memory left for the recording. What was written by then stays.
public final class MemoryFull {
    private MemoryFull() {}

    public static RecorderException exception() {
        return new RecorderException(
                "recording: the recorder's memory is full (a heap of %d MB)".formatted(Runtime.getRuntime().maxMemory() >> 20),
                "give it more, by its cgroup's limit or ZERNEL_JAVA_OPTS=-Xmx256m, or record fewer --kinds");
    }
}
