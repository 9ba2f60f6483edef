package io.dyber.zernel.serve.mcp;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/// Lines of UTF-8, of which one that is too long takes no more memory than the longest that is not.
final class LineReader {
    /// A line: its text, or that it was too long to keep.
    sealed interface Line {
        record Text(String text) implements Line {}

        record TooLong() implements Line {}
    }

    private static final int CHUNK = 1 << 13;

    private final InputStream in;
    private final int most;
    private final byte[] chunk = new byte[CHUNK];
    private int at;
    private int end;

    /// @param most bytes of a line, without its end
    LineReader(InputStream in, int most) {
        this.in = in;
        this.most = most;
    }

    /// The next line; empty when the stream has ended. What stands behind the last line feed is a line too.
    Optional<Line> next() throws IOException {
        byte[] line = new byte[0];
        boolean tooLong = false;
        boolean any = false;
        while (at < end || fill()) {
            any = true;
            int begin = at;
            while (at < end && chunk[at] != '\n') {
                at++;
            }
            tooLong |= line.length + (at - begin) > most;
            line = tooLong ? new byte[0] : joined(line, begin, at);
            if (at < end) {
                at++;
                break;
            }
        }
        if (!any) {
            return Optional.empty();
        }
        return Optional.of(tooLong ? new Line.TooLong() : new Line.Text(new String(line, StandardCharsets.UTF_8)));
    }

    private byte[] joined(byte[] line, int begin, int until) {
        byte[] longer = Arrays.copyOf(line, line.length + until - begin);
        System.arraycopy(chunk, begin, longer, line.length, until - begin);
        return longer;
    }

    private boolean fill() throws IOException {
        at = 0;
        end = Math.max(0, in.read(chunk));
        return end > 0;
    }
}
