package io.dyber.zernel.spark;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Digest;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.jspecify.annotations.Nullable;

/// The digest of one recording: fetched to the executor's machine, digested there by DuckDB, and stored.
///
/// @param files of the recording, several where it rotated
/// @param digest where the digest goes
/// @param force whether one that is there is replaced
/// @param threads of DuckDB
/// @param memory that it may use, beside the executor's heap
record DigestTask(List<String> files, String digest, boolean force, int threads, String memory) implements Serializable {
    /// What came of it.
    ///
    /// @param failure why there is no digest; null where there is one
    record Outcome(String file, String digest, long events, long bytes, @Nullable String failure) implements Serializable {}

    /// Digests it. What goes wrong with one recording is told, and stops no other.
    Outcome run(Configuration configuration) {
        try {
            java.nio.file.Path folder = Files.createTempDirectory("zernel-digest-");
            try {
                return run(folder, configuration);
            } finally {
                delete(folder);
            }
        } catch (IOException | RuntimeException e) {
            return failed(e);
        }
    }

    private Outcome failed(Exception e) {
        String why = e instanceof RecordingException ? String.valueOf(e.getMessage()) : "digesting '" + files.getFirst() + "': " + e;
        return new Outcome(files.getFirst(), digest, 0, 0, why.lines().findFirst().orElse(""));
    }

    private Outcome run(java.nio.file.Path folder, Configuration configuration) throws IOException {
        Path stored = new Path(digest);
        FileSystem system = stored.getFileSystem(configuration);
        if (!force && system.exists(stored)) {
            throw new RecordingException("writing '" + digest + "': it exists", null);
        }
        List<String> local = new ArrayList<>();
        for (String file : files) {
            local.add(fetch(new Path(file), folder, configuration).toString());
        }
        java.nio.file.Path made = folder.resolve(stored.getName());
        DatabaseOptions options = new DatabaseOptions(threads, memory, folder);
        long events;
        try (Database database = Recordings.open(local, options, SqlLibrary.builtIn())) {
            Digest.write(database, made);
            events = database.rows();
        }
        long bytes = Files.size(made);
        store(made, stored, new Path(stored.getParent(), "." + stored.getName() + "." + folder.getFileName()), system);
        return new Outcome(files.getFirst(), digest, events, bytes, null);
    }

    /// A file of this machine is read where it is.
    private static java.nio.file.Path fetch(Path file, java.nio.file.Path folder, Configuration configuration) throws IOException {
        if ("file".equals(file.toUri().getScheme())) {
            return java.nio.file.Path.of(file.toUri().getPath());
        }
        java.nio.file.Path local = folder.resolve(file.getName());
        file.getFileSystem(configuration).copyToLocalFile(false, file, new Path(local.toUri()), true);
        return local;
    }

    /// Under another name first, so that whoever looks sees a whole digest or none.
    private static void store(java.nio.file.Path made, Path stored, Path partial, FileSystem system) throws IOException {
        // Else Hadoop puts a hidden file with checksums beside each on this machine.
        system.setWriteChecksum(false);
        system.copyFromLocalFile(false, true, new Path(made.toUri()), partial);
        boolean _ = system.delete(stored, false);
        if (!system.rename(partial, stored)) {
            boolean _ = system.delete(partial, false);
            throw new IOException("it cannot be renamed to '" + stored + "'");
        }
    }

    private static void delete(java.nio.file.Path folder) throws IOException {
        try (Stream<java.nio.file.Path> files = Files.walk(folder)) {
            for (java.nio.file.Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
