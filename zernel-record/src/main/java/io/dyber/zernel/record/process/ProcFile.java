package io.dyber.zernel.record.process;

import java.io.FileInputStream;
import java.io.IOException;

/// Reads small files of `/proc` again and again without garbage to speak of. Not thread-safe.
final class ProcFile {
    private final byte[] buffer = new byte[256];

    /// The number the file starts with; -1 if the file is gone, may not be read or starts otherwise.
    long firstNumber(String path) {
        int length;
        try (FileInputStream in = new FileInputStream(path)) {
            length = in.read(buffer);
        } catch (IOException _) {
            return -1;
        }
        long number = -1;
        for (int i = 0; i < length && buffer[i] >= '0' && buffer[i] <= '9'; i++) {
            number = 10 * Math.max(number, 0) + buffer[i] - '0';
        }
        return number;
    }
}
