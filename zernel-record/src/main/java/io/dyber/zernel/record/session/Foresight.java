package io.dyber.zernel.record.session;

import io.dyber.zernel.record.attach.LibrarySelectors;
import io.dyber.zernel.record.elf.Dependencies;
import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.process.FileTree;
import io.dyber.zernel.record.process.LoaderCache;
import io.dyber.zernel.record.process.MappedFile;
import io.dyber.zernel.record.process.MappedFiles;
import io.dyber.zernel.record.process.ProcessFacts;
import io.dyber.zernel.record.process.PythonFolders;
import io.dyber.zernel.record.process.SearchPath;
import io.dyber.zernel.record.process.StartEnvironment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Finds the library files that a program will probably load, before it does: a probe sits on a file, so those that are wanted
/// can be probed before anybody maps them, and not even the first call is missed.
///
/// It looks where the loader would (`LD_LIBRARY_PATH`, `LD_PRELOAD`, `DT_RPATH`, `DT_RUNPATH`, `ld.so.cache`, the default
/// folders), where CUDA is installed, and where the packages of the program's Python keep their libraries. What it does not
/// find comes as a surprise, which is handled elsewhere. How much it looks at is bounded. Not thread-safe; for one use.
public final class Foresight {
    /// What of an environment says where libraries are.
    static final List<String> VARIABLES = List.of(
            "PATH",
            "HOME",
            "LD_LIBRARY_PATH",
            "LD_PRELOAD",
            "PYTHONPATH",
            "PYTHONHOME",
            "PYTHONUSERBASE",
            "VIRTUAL_ENV",
            "CONDA_PREFIX",
            "CUDA_HOME",
            "CUDA_PATH");

    private static final int MOST_BYTES = 128 << 10;
    private static final int MOST_CACHE = 64 << 20;
    private static final int MOST_WORDS = 64;
    private static final int MOST_LOOKED_INTO = 512;
    private static final int MOST_FOLDERS = 1024;
    private static final int MOST_FOUND = 128;

    /// In a folder with more libraries, names must do; in others each is asked for its SONAME.
    private static final int FEW = 64;

    private static final String STUBS = "/stubs/";
    private static final byte[] ELF = {0x7f, 'E', 'L', 'F'};
    private static final int SCRIPT_HEAD = 512;
    private static final int MOST_SCRIPT = 64 << 10;
    private static final Pattern SCRIPT_WORDS = Pattern.compile("[\\s\"'`;&|()<>=]+");
    private static final List<String> DEFAULTS = List.of(
            "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib", "/usr/lib/wsl/lib", "/usr/local/nvidia/lib64",
            "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu");
    private static final List<String> PROCESSORS = List.of("x86-64-v2", "x86-64-v3", "x86-64-v4");

    private final FileTree tree;
    private final LibrarySelectors wanted;
    private final PythonFolders python;
    private final Deque<String> open = new ArrayDeque<>();
    private final Set<String> lookedInto = new HashSet<>();
    private final Set<String> folders = new HashSet<>();
    private final Set<String> programs = new LinkedHashSet<>();
    private final Map<String, Boolean> found = new LinkedHashMap<>();
    private List<LoaderCache.Entry> cache = List.of();

    private Foresight(FileTree tree, LibrarySelectors wanted) {
        this.tree = tree;
        this.wanted = wanted;
        this.python = new PythonFolders(tree);
    }

    /// What a command will load. Its other words count too: `env python3 train.py`, `mpirun -n 2 ./solve`.
    public static List<MappedFile> ofCommand(
            List<String> words, Map<String, String> environment, Path directory, LibrarySelectors wanted) {
        return ofCommand(new FileTree(Path.of("/")), words, environment, directory.toAbsolutePath().toString(), wanted);
    }

    static List<MappedFile> ofCommand(
            FileTree tree, List<String> words, Map<String, String> environment, String folder, LibrarySelectors wanted) {
        Foresight foresight = new Foresight(tree, wanted);
        words.stream()
                .limit(MOST_WORDS)
                .forEach(word -> foresight.program(word, environment.getOrDefault("PATH", ""), folder));
        foresight.scripts(words, environment, folder);
        return foresight.find(environment, folder);
    }

    /// What a running process will load beside what it has.
    public static List<MappedFile> ofProcess(int pid, List<MappedFile> mapped, LibrarySelectors wanted) {
        Path proc = Path.of("/proc", Integer.toString(pid));
        Foresight foresight = new Foresight(new FileTree(new MappedFiles().rootOf(pid)), wanted);
        Map<String, String> environment = StartEnvironment.of(proc, VARIABLES, MOST_BYTES);
        for (MappedFile file : mapped) {
            foresight.open.add(file.path());
            foresight.python.beside(file.path());
            if (file.program()) {
                foresight.programs.add(file.path());
            }
        }
        // An environment's Python is a link to another's, so only the name by which it was called tells which it is.
        ProcessFacts.of(pid).map(ProcessFacts::commandLine).filter(words -> !words.isEmpty()).ifPresent(words ->
                foresight.program(words.getFirst(), environment.getOrDefault("PATH", ""), "/"));
        List<MappedFile> files = foresight.find(environment, "/");
        Set<String> known = mapped.stream().map(MappedFile::identity).collect(Collectors.toSet());
        return files.stream().filter(file -> !known.contains(file.identity())).toList();
    }

    private void program(String word, String path, String directory) {
        List<String> places = word.contains("/")
                ? List.of(word.startsWith("/") ? word : SearchPath.join(directory, word))
                : SearchPath.folders(path, "", directory).stream()
                        .map(folder -> SearchPath.join(folder, word))
                        .toList();
        for (String place : places) {
            Optional<String> real = word.isEmpty() ? Optional.empty() : tree.real(place).filter(tree::isFile);
            if (real.isPresent()) {
                if (programs.add(place)) {
                    interpreter(real.get(), path, directory);
                }
                return;
            }
        }
    }

    /// Scripts name the environment that they run in: `source /env/bin/activate`, `exec ~/env/bin/python train.py`. So do words
    /// that are scripts, as that of `sh -c`, and a folder has its own in `.venv`.
    private void scripts(List<String> words, Map<String, String> environment, String directory) {
        String home = environment.getOrDefault("HOME", "");
        List<String> texts = new ArrayList<>();
        for (String word : words.subList(0, Math.min(words.size(), MOST_WORDS))) {
            texts.add(word.contains(" ") ? word : script(SearchPath.join(directory, word)));
        }
        programs.forEach(program -> texts.add(script(program)));
        List<String> names = texts.stream()
                .flatMap(text -> Arrays.stream(SCRIPT_WORDS.split(
                        text.replace("${HOME}", home).replace("$HOME", home).replace("~/", home + "/"))))
                .filter(name -> name.contains("bin/"))
                .distinct()
                .limit(MOST_WORDS)
                .toList();
        Stream.concat(names.stream(), Stream.of(".venv/bin/python"))
                .map(name -> name.startsWith("/") ? name : SearchPath.join(directory, name))
                .filter(name -> tree.real(name).filter(tree::isFile).isPresent())
                .forEach(python::of);
    }

    /// The text of a script; nothing for another program.
    private String script(String program) {
        return tree.real(program)
                .filter(tree::isFile)
                .map(real -> new String(tree.head(real, MOST_SCRIPT), StandardCharsets.ISO_8859_1))
                .filter(text -> text.startsWith("#!") || program.endsWith(".sh"))
                .orElse("");
    }

    /// What runs a script, by its first line.
    private void interpreter(String script, String path, String directory) {
        String head = new String(tree.head(script, SCRIPT_HEAD), StandardCharsets.ISO_8859_1);
        if (!head.startsWith("#!")) {
            return;
        }
        String line = head.substring(2).lines().findFirst().orElse("").strip();
        for (String word : line.split("\\s+")) {
            if (programs.size() < MOST_WORDS && !word.startsWith("-") && !word.contains("=")) {
                program(word, path, directory);
            }
        }
    }

    private List<MappedFile> find(Map<String, String> environment, String directory) {
        cache = LoaderCache.parse(tree.bytes("/etc/ld.so.cache", MOST_CACHE)).entries();
        cache.stream().filter(entry -> wanted.meanName(entry.name())).forEach(entry -> found(entry.path()));
        List<String> given = SearchPath.folders(environment.getOrDefault("LD_LIBRARY_PATH", ""), "", directory);
        given.forEach(this::look);
        DEFAULTS.forEach(this::look);
        cuda(environment);
        for (String library : environment.getOrDefault("LD_PRELOAD", "").split("[ :]+")) {
            if (!library.isEmpty()) {
                want(library, given, "", directory);
            }
        }
        List.copyOf(programs).forEach(python::of);
        if (programs.stream().noneMatch(Foresight::isPython)) {
            pythonOf(SearchPath.folders(environment.getOrDefault("PATH", ""), "", directory));
        }
        python.of(environment, directory);
        programs.forEach(this::lookInto);
        python.libraryFolders().forEach(this::look);
        while (!open.isEmpty() && lookedInto.size() < MOST_LOOKED_INTO) {
            lookInto(open.remove(), given, directory);
        }
        return files();
    }

    private static boolean isPython(String program) {
        return program.substring(program.lastIndexOf('/') + 1).startsWith("python");
    }

    /// A script may run the Python that it finds first.
    private void pythonOf(List<String> path) {
        for (String name : List.of("python3", "python")) {
            path.stream()
                    .map(folder -> SearchPath.join(folder, name))
                    .filter(place -> tree.real(place).isPresent())
                    .findFirst()
                    .ifPresent(python::of);
        }
    }

    private void lookInto(String program) {
        tree.real(program).filter(tree::isFile).filter(this::isElf).ifPresent(real -> {
            open.addFirst(real);
            found.putIfAbsent(real, true);
        });
    }

    private boolean isElf(String real) {
        return Arrays.equals(tree.head(real, ELF.length), ELF);
    }

    private void cuda(Map<String, String> environment) {
        List<String> homes = new ArrayList<>();
        tree.names("/usr/local").stream()
                .filter(name -> name.startsWith("cuda"))
                .forEach(name -> homes.add("/usr/local/" + name));
        for (String variable : List.of("CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX")) {
            Optional.ofNullable(environment.get(variable)).filter(path -> path.startsWith("/")).ifPresent(homes::add);
        }
        homes.forEach(home -> {
            look(home + "/lib64");
            look(home + "/lib");
        });
    }

    /// Takes the wanted libraries of a folder.
    private void look(String folder) {
        Optional<String> real = folders.size() < MOST_FOLDERS ? tree.real(folder) : Optional.empty();
        if (real.isEmpty() || !folders.add(real.get())) {
            return;
        }
        List<String> all = tree.names(real.get());
        List<String> names = all.stream().filter(name -> name.contains(".so")).toList();
        for (String name : names) {
            String path = SearchPath.join(real.get(), name);
            if (wanted.meanName(name) || (names.size() <= FEW && wanted.mean(path, tree.here(path)))) {
                found(path);
            }
        }
        if (all.contains("glibc-hwcaps")) {
            PROCESSORS.forEach(processor -> look(real.get() + "/glibc-hwcaps/" + processor));
        }
    }

    /// Stubs, which CUDA's toolkit has for linking, have the names of libraries and no process ever loads them to run.
    private void found(String path) {
        if (found.size() < MOST_FOUND && !path.contains(STUBS)) {
            tree.real(path).filter(tree::isFile).ifPresent(real -> {
                if (found.putIfAbsent(real, false) == null) {
                    open.add(real);
                }
            });
        }
    }

    /// Looks into the folders that a file names, and into what it needs.
    private void lookInto(String path, List<String> given, String directory) {
        Optional<String> real = tree.real(path).filter(tree::isFile);
        if (real.isEmpty() || !lookedInto.add(real.get())) {
            return;
        }
        if (!found.containsKey(real.get()) && wanted.mean(real.get(), tree.here(real.get()))) {
            found(real.get());
        }
        Dependencies asked = dependencies(real.get());
        String origin = SearchPath.parent(real.get());
        List<String> own = new ArrayList<>(given);
        own.addAll(SearchPath.folders(asked.rpath(), origin, directory));
        own.addAll(SearchPath.folders(asked.runpath(), origin, directory));
        own.forEach(this::look);
        asked.needed().forEach(name -> want(name, own, origin, directory));
    }

    private Dependencies dependencies(String real) {
        try {
            return ElfFile.dependencies(tree.here(real));
        } catch (ElfException _) {
            return new Dependencies(List.of(), "", "");
        }
    }

    /// Will look into the first file of a name, where the loader would find it.
    private void want(String name, List<String> own, String origin, String directory) {
        List<String> places = new ArrayList<>();
        if (name.contains("/")) {
            places.addAll(SearchPath.folders(name, origin, directory));
        } else {
            own.forEach(folder -> places.add(SearchPath.join(folder, name)));
            cache.stream().filter(entry -> entry.name().equals(name)).forEach(entry -> places.add(entry.path()));
            DEFAULTS.forEach(folder -> places.add(SearchPath.join(folder, name)));
            if (!origin.isEmpty()) {
                places.add(SearchPath.join(origin, name)); // libraries come in families, whose first one was given a path
            }
        }
        places.stream().map(tree::real).flatMap(Optional::stream).findFirst().ifPresent(open::add);
    }

    private List<MappedFile> files() {
        List<MappedFile> files = new ArrayList<>();
        found.forEach((real, program) ->
                MappedFiles.at(tree.here(real), real, program).ifPresent(files::add));
        return files;
    }
}
