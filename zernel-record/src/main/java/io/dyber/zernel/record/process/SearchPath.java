package io.dyber.zernel.record.process;

import java.util.ArrayList;
import java.util.List;

/// Lists of folders as the loader reads them (ld.so(8)). Pure.
public final class SearchPath {
    private static final String LIB = "lib/" + (isArm() ? "aarch64" : "x86_64") + "-linux-gnu";
    private static final String PLATFORM = isArm() ? "aarch64" : "x86_64";

    private SearchPath() {}

    private static boolean isArm() {
        return System.getProperty("os.arch").equals("aarch64");
    }

    /// The folders of a list, absolute.
    ///
    /// @param list separated by `:` or `;`; an empty part is the current folder
    /// @param origin the folder of the file that has the list
    /// @param directory where relative folders begin
    public static List<String> folders(String list, String origin, String directory) {
        List<String> folders = new ArrayList<>();
        if (list.isEmpty()) {
            return folders;
        }
        for (String part : list.split("[:;]", -1)) {
            String folder = expand(part, origin);
            folders.add(folder.startsWith("/") ? folder : join(directory, folder));
        }
        return folders;
    }

    private static String expand(String folder, String origin) {
        return folder.replace("${ORIGIN}", origin)
                .replace("$ORIGIN", origin)
                .replace("${LIB}", LIB)
                .replace("$LIB", LIB)
                .replace("${PLATFORM}", PLATFORM)
                .replace("$PLATFORM", PLATFORM);
    }

    /// A path below a folder.
    public static String join(String folder, String path) {
        return path.isEmpty() ? folder : (folder.endsWith("/") ? folder : folder + "/") + path;
    }

    /// The folder of a path.
    public static String parent(String path) {
        int slash = path.lastIndexOf('/');
        return slash <= 0 ? "/" : path.substring(0, slash);
    }
}
