package io.dyber.zernel.serve.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/// Answers made smaller, quickly rather than well: a scrape is read once, mostly on this machine.
public final class Gzip {
    private static final int FROM_BYTES = 2048;

    private Gzip() {}

    /// @param accepted the header `Accept-Encoding`
    static boolean isWanted(@Nullable String accepted, byte[] body) {
        return body.length >= FROM_BYTES && accepted != null && accepted.contains("gzip");
    }

    public static byte[] of(byte[] body) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(body.length / 4);
        try (QuickGzip gzip = new QuickGzip(bytes)) {
            gzip.write(body);
        }
        return bytes.toByteArray();
    }

    private static final class QuickGzip extends GZIPOutputStream {
        QuickGzip(OutputStream out) throws IOException {
            super(out);
            def.setLevel(Deflater.BEST_SPEED);
        }
    }
}
