package io.dyber.zernel.record.process;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// The folders in which the packages of a Python keep their libraries: `torch/lib`, `nvidia/nccl/lib`, `scipy.libs`, ...
public final class PythonFolders {
    private static final int MOST_CONFIGURATION = 64 << 10;
    private static final int MOST_VERSIONS = 32;
    private static final int MOST_PATH_FILES = 64;

    private final FileTree tree;
    private final Set<String> prefixes = new LinkedHashSet<>();
    private final Set<String> sites = new LinkedHashSet<>();

    public PythonFolders(FileTree tree) {
        this.tree = tree;
    }

    /// Takes in a program that may be a Python, or belong to one: `/venv/bin/python3`, `/venv/bin/torchrun`.
    public void of(String program) {
        String path = program;
        for (int links = 0; links < 8 && !path.isEmpty(); links++) {
            prefix(SearchPath.parent(SearchPath.parent(path)));
            path = next(path);
        }
        tree.real(program).ifPresent(real -> prefix(SearchPath.parent(SearchPath.parent(real))));
    }

    private String next(String path) {
        return tree.link(path)
                .map(target -> target.startsWith("/") ? target : SearchPath.join(SearchPath.parent(path), target))
                .orElse("");
    }

    /// A folder that has `bin` and `lib`; that of an environment names the one it was made from.
    private void prefix(String folder) {
        if (!prefixes.add(folder)) {
            return;
        }
        for (String lib : List.of("lib", "lib64", "local/lib")) {
            String parent = SearchPath.join(folder, lib);
            for (String name : tree.names(parent)) {
                if (name.startsWith("python3")) {
                    sites.add(parent + "/" + name + "/site-packages");
                    sites.add(parent + "/" + name + "/dist-packages");
                }
            }
        }
        base(folder).ifPresent(this::prefix);
        if (folder.endsWith("/.pyenv")) {
            tree.names(folder + "/versions").stream()
                    .sorted()
                    .limit(MOST_VERSIONS)
                    .forEach(version -> prefix(folder + "/versions/" + version));
        }
    }

    /// `home = /usr/bin` of a virtual environment.
    private Optional<String> base(String folder) {
        byte[] configuration = tree.bytes(SearchPath.join(folder, "pyvenv.cfg"), MOST_CONFIGURATION);
        return new String(configuration, StandardCharsets.UTF_8).lines()
                .filter(line -> line.matches("home\\s*=\\s*/.*"))
                .map(line -> SearchPath.parent(line.substring(line.indexOf('/')).strip()))
                .findFirst();
    }

    /// Takes in what the environment says of Python.
    public void of(Map<String, String> environment, String directory) {
        sites.addAll(SearchPath.folders(environment.getOrDefault("PYTHONPATH", ""), "", directory));
        for (String variable : List.of("PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX")) {
            Optional.ofNullable(environment.get(variable)).filter(path -> path.startsWith("/")).ifPresent(this::prefix);
        }
        String home = environment.getOrDefault("HOME", "");
        String user = environment.getOrDefault("PYTHONUSERBASE", home.startsWith("/") ? home + "/.local" : "");
        if (user.startsWith("/")) {
            prefix(user);
        }
    }

    /// Takes in a file that may belong to a package: then there are others beside it.
    public void beside(String library) {
        for (String packages : List.of("/site-packages/", "/dist-packages/")) {
            int end = library.indexOf(packages);
            if (end >= 0) {
                sites.add(library.substring(0, end + packages.length() - 1));
            }
        }
    }

    /// All folders with libraries.
    public List<String> libraryFolders() {
        List<String> folders = new ArrayList<>();
        prefixes.forEach(prefix -> folders.add(SearchPath.join(prefix, "lib")));
        Set<String> all = new LinkedHashSet<>(sites);
        sites.forEach(site -> all.addAll(namedIn(site)));
        for (String site : all) {
            tree.real(site).ifPresent(real -> addPackages(real, folders));
        }
        return folders;
    }

    /// Folders that the `.pth` files of a folder of packages name, each in a line of its own (Python's module `site`).
    private List<String> namedIn(String site) {
        return tree.names(site).stream()
                .filter(name -> name.endsWith(".pth"))
                .sorted()
                .limit(MOST_PATH_FILES)
                .map(name -> new String(tree.bytes(SearchPath.join(site, name), MOST_CONFIGURATION), StandardCharsets.UTF_8))
                .flatMap(String::lines)
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#") && !line.matches("import\\s.*"))
                .map(line -> line.startsWith("/") ? line : SearchPath.join(site, line))
                .toList();
    }

    private void addPackages(String site, List<String> folders) {
        for (String name : tree.names(site)) {
            if (name.endsWith(".libs")) {
                folders.add(site + "/" + name);
            } else if (name.equals("nvidia")) {
                tree.names(site + "/nvidia").forEach(part -> addLib(site + "/nvidia/" + part, folders));
            } else if (!name.contains(".") && !name.startsWith("_")) {
                addLib(site + "/" + name, folders);
            }
        }
    }

    private void addLib(String folder, List<String> folders) {
        Path lib = tree.here(folder + "/lib");
        if (Files.isDirectory(lib)) {
            folders.add(folder + "/lib");
        }
    }
}
