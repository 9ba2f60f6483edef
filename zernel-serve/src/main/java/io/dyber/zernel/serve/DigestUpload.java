package io.dyber.zernel.serve;

import io.dyber.zernel.serve.http.HttpEndpoint;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

/// Takes digests that machines send and puts them into the folder of the fleet, each whole or not at all: `PUT /digests/NAME`.
/// Only where there is a token, as what is taken is shown to others as what their machines do.
final class DigestUpload implements HttpEndpoint.Uploads {
    static final int LARGEST = 16 << 20;
    static final int MOST_FILES = 10_000;
    private static final int MOST_AT_ONCE = 32;
    private static final int PATIENCE_SECONDS = 10;
    private static final int BLOCK = 1 << 16;
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,180}\\.digest\\.parquet");
    private static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);

    private final Path folder;
    private final boolean allowed;
    private final int mostFiles;
    private final Semaphore places = new Semaphore(MOST_AT_ONCE);
    private final AtomicLong refused = new AtomicLong();
    private final AtomicLong numbers = new AtomicLong();

    /// @param allowed whether the server asks for a token
    DigestUpload(Path folder, boolean allowed) {
        this(folder, allowed, MOST_FILES);
    }

    /// @param mostFiles in the folder, beyond which no new name is taken
    DigestUpload(Path folder, boolean allowed, int mostFiles) {
        this.folder = folder;
        this.allowed = allowed;
        this.mostFiles = mostFiles;
    }

    @Override
    public String folder() {
        return "/digests/";
    }

    /// How many were sent and not taken.
    long refused() {
        return refused.get();
    }

    @Override
    public HttpEndpoint.Answer take(String name, long length, InputStream body) throws IOException {
        HttpEndpoint.Answer answer = taken(name, length, body);
        if (answer.status() >= 400) {
            refused.incrementAndGet();
        }
        return answer;
    }

    private HttpEndpoint.Answer taken(String name, long length, InputStream body) throws IOException {
        if (!allowed) {
            return HttpEndpoint.Answer.text(403, "this server takes digests only from who shows a token: start it with --token-file FILE\n");
        }
        if (!NAME.matcher(name).matches()) {
            return HttpEndpoint.Answer.text(400, "a digest's name is of letters, digits, '.', '_' and '-', and ends in .digest.parquet\n");
        }
        if (length > LARGEST) {
            return tooLarge();
        }
        Path file = folder.resolve(name);
        if (!Files.exists(file) && isFull()) {
            return HttpEndpoint.Answer.text(507, "the folder has " + mostFiles + " digests already\n");
        }
        try {
            if (!places.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                return HttpEndpoint.Answer.text(503, "too many send at once\n");
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return HttpEndpoint.Answer.text(503, "closing\n");
        }
        try {
            return store(file, name, body);
        } finally {
            places.release();
        }
    }

    private boolean isFull() throws IOException {
        int there = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path _ : files) {
                there++;
            }
        }
        return there >= mostFiles;
    }

    private HttpEndpoint.Answer store(Path file, String name, InputStream body) throws IOException {
        Path part = folder.resolve("." + name + "." + numbers.incrementAndGet() + ".part");
        try {
            if (!copy(body, part)) {
                return tooLarge();
            }
            if (!isParquet(part)) {
                return HttpEndpoint.Answer.text(400, "not a whole Parquet file\n");
            }
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return HttpEndpoint.Answer.text(201, "taken\n");
        } finally {
            Files.deleteIfExists(part);
        }
    }

    /// Whether all of it was not too much.
    private static boolean copy(InputStream body, Path to) throws IOException {
        try (OutputStream out = Files.newOutputStream(to)) {
            byte[] block = new byte[BLOCK];
            long copied = 0;
            for (int read = body.read(block); read >= 0; read = body.read(block)) {
                copied += read;
                if (copied > LARGEST) {
                    return false;
                }
                out.write(block, 0, read);
            }
            return true;
        }
    }

    private static boolean isParquet(Path file) throws IOException {
        try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
            long size = in.length();
            return size >= 12 && hasMagic(in, 0) && hasMagic(in, size - MAGIC.length);
        }
    }

    private static boolean hasMagic(RandomAccessFile in, long at) throws IOException {
        byte[] there = new byte[MAGIC.length];
        in.seek(at);
        in.readFully(there);
        return Arrays.equals(there, MAGIC);
    }

    private static HttpEndpoint.Answer tooLarge() {
        return HttpEndpoint.Answer.text(413, "more than " + LARGEST + " bytes\n");
    }
}
