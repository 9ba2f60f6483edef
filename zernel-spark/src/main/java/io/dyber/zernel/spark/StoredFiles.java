package io.dyber.zernel.spark;

import io.dyber.zernel.format.RecordingException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;

/// Files wherever Hadoop's file systems reach: this machine's, HDFS, object stores.
final class StoredFiles {
    private StoredFiles() {}

    /// The files that arguments mean, in the order of their names. A folder stands for those in it.
    ///
    /// @param wanted by name, of those in a folder or of a glob
    /// @throws RecordingException if an argument means none
    static List<String> of(List<String> arguments, Predicate<String> wanted, Configuration configuration) {
        TreeSet<String> files = new TreeSet<>();
        for (String argument : arguments) {
            try {
                Path path = new Path(argument);
                FileSystem system = path.getFileSystem(configuration);
                List<FileStatus> found = List.of(system.exists(path) ? system.listStatus(path) : matches(path, system));
                boolean one = found.size() == 1 && found.getFirst().getPath().getName().equals(path.getName());
                List<String> names = found.stream()
                        .filter(file -> file.isFile() && (one || wanted.test(file.getPath().getName())))
                        .map(file -> file.getPath().toString())
                        .toList();
                if (names.isEmpty()) {
                    throw new RecordingException("opening '" + argument + "': no file matches", null);
                }
                files.addAll(names);
            } catch (IOException | IllegalArgumentException e) {
                throw new RecordingException("opening '" + argument + "': " + e.getMessage(), null, e);
            }
        }
        return List.copyOf(files);
    }

    private static FileStatus[] matches(Path glob, FileSystem system) throws IOException {
        FileStatus[] found = system.globStatus(glob);
        if (found == null) {
            throw new FileNotFoundException("no such file");
        }
        return found;
    }

    /// The keys of Zernel in a Parquet file's footer.
    static Map<String, String> footer(String file, Configuration configuration) throws IOException {
        try (ParquetFileReader reader = ParquetFileReader.open(HadoopInputFile.fromPath(new Path(file), configuration))) {
            Map<String, String> footer = new HashMap<>(reader.getFooter().getFileMetaData().getKeyValueMetaData());
            footer.keySet().removeIf(key -> !key.startsWith("zernel."));
            return footer;
        } catch (RuntimeException e) {
            throw new IOException(e.getMessage(), e);
        }
    }
}
