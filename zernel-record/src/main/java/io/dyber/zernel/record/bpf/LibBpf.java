package io.dyber.zernel.record.bpf;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/// libbpf, bound by hand: the only file that knows its prototypes.
///
/// The library is opened by its soname, so any libbpf 1.x serves. What it prints is collected instead of landing on
/// stderr ([#takeLog]). Thread-safe, except that the log belongs to whoever calls.
final class LibBpf {
    /// System property that names another library; for tests of a machine without libbpf.
    static final String LIBRARY_PROPERTY = "zernel.libbpf";

    private static final String SONAME = "libbpf.so.1";
    private static final int MOST_LOG = 1 << 20;
    private static final SymbolLookup LIBBPF = open();
    private static final StringBuilder LOG = new StringBuilder();

    // struct bpf_object *bpf_object__open_mem(const void *buf, size_t size, const struct bpf_object_open_opts *opts)
    private static final MethodHandle OPEN_MEM =
            pointer("bpf_object__open_mem", FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_LONG, ADDRESS));

    // int bpf_object__load(struct bpf_object *obj)
    private static final MethodHandle LOAD = call("bpf_object__load", FunctionDescriptor.of(JAVA_INT, ADDRESS));

    // void bpf_object__close(struct bpf_object *obj)
    private static final MethodHandle CLOSE = call("bpf_object__close", FunctionDescriptor.ofVoid(ADDRESS));

    // struct btf *bpf_object__btf(const struct bpf_object *obj)
    private static final MethodHandle OBJECT_BTF = call("bpf_object__btf", FunctionDescriptor.of(ADDRESS, ADDRESS));

    // const void *btf__raw_data(const struct btf *btf, __u32 *size)
    private static final MethodHandle RAW_BTF =
            call("btf__raw_data", FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS));

    // struct bpf_program *bpf_object__find_program_by_name(const struct bpf_object *obj, const char *name)
    private static final MethodHandle FIND_PROGRAM =
            pointer("bpf_object__find_program_by_name", FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS));

    // struct bpf_program *bpf_object__next_program(const struct bpf_object *obj, struct bpf_program *prog)
    private static final MethodHandle NEXT_PROGRAM =
            call("bpf_object__next_program", FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS));

    // const char *bpf_program__name(const struct bpf_program *prog)
    private static final MethodHandle PROGRAM_NAME = call("bpf_program__name", FunctionDescriptor.of(ADDRESS, ADDRESS));

    // int bpf_program__fd(const struct bpf_program *prog)
    private static final MethodHandle PROGRAM_FD = call("bpf_program__fd", FunctionDescriptor.of(JAVA_INT, ADDRESS));

    // int bpf_program__set_expected_attach_type(struct bpf_program *prog, enum bpf_attach_type type)
    private static final MethodHandle SET_ATTACH_TYPE =
            call("bpf_program__set_expected_attach_type", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));

    // struct bpf_link *bpf_program__attach(const struct bpf_program *prog)
    private static final MethodHandle ATTACH = pointer("bpf_program__attach", FunctionDescriptor.of(ADDRESS, ADDRESS));

    // struct bpf_link *bpf_program__attach_perf_event(const struct bpf_program *prog, int pfd)
    private static final MethodHandle ATTACH_PERF_EVENT =
            pointer("bpf_program__attach_perf_event", FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT));

    // struct bpf_link *bpf_program__attach_uprobe_opts(const struct bpf_program *prog, pid_t pid,
    //     const char *binary_path, size_t func_offset, const struct bpf_uprobe_opts *opts)
    private static final MethodHandle ATTACH_UPROBE = pointer(
            "bpf_program__attach_uprobe_opts",
            FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS));

    // int bpf_link__destroy(struct bpf_link *link)
    private static final MethodHandle DESTROY = call("bpf_link__destroy", FunctionDescriptor.of(JAVA_INT, ADDRESS));

    // struct bpf_map *bpf_object__find_map_by_name(const struct bpf_object *obj, const char *name)
    private static final MethodHandle FIND_MAP =
            pointer("bpf_object__find_map_by_name", FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS));

    // int bpf_map__fd(const struct bpf_map *map)
    private static final MethodHandle MAP_FD = call("bpf_map__fd", FunctionDescriptor.of(JAVA_INT, ADDRESS));

    // int bpf_map__set_max_entries(struct bpf_map *map, __u32 max_entries)
    private static final MethodHandle SET_MAX_ENTRIES =
            call("bpf_map__set_max_entries", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));

    // int bpf_map__reuse_fd(struct bpf_map *map, int fd)
    private static final MethodHandle REUSE_FD =
            call("bpf_map__reuse_fd", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));

    // void *bpf_map__initial_value(struct bpf_map *map, size_t *psize)
    private static final MethodHandle INITIAL_VALUE =
            call("bpf_map__initial_value", FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS));

    // int bpf_map_lookup_elem(int fd, const void *key, void *value)
    private static final MethodHandle LOOKUP =
            call("bpf_map_lookup_elem", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));

    // int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
    private static final MethodHandle UPDATE =
            call("bpf_map_update_elem", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG));

    // int bpf_map_delete_elem(int fd, const void *key)
    private static final MethodHandle DELETE =
            call("bpf_map_delete_elem", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));

    // int bpf_map_get_next_key(int fd, const void *cur_key, void *next_key)
    private static final MethodHandle NEXT_KEY =
            call("bpf_map_get_next_key", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));

    // int libbpf_num_possible_cpus(void)
    private static final MethodHandle POSSIBLE_CPUS =
            call("libbpf_num_possible_cpus", FunctionDescriptor.of(JAVA_INT));

    // libbpf_print_fn_t libbpf_set_print(libbpf_print_fn_t fn)
    private static final MethodHandle SET_PRINT = call("libbpf_set_print", FunctionDescriptor.of(ADDRESS, ADDRESS));

    static {
        collectLog();
    }

    private LibBpf() {}

    private static SymbolLookup open() {
        String name = System.getProperty(LIBRARY_PROPERTY, SONAME);
        try {
            return SymbolLookup.libraryLookup(name, Arena.global());
        } catch (IllegalArgumentException _) {
            throw new BpfException(
                    "loading '" + name + "': no such library",
                    0,
                    "install libbpf 1.x: apt-get install libbpf1 (Debian, Ubuntu), dnf install libbpf (Fedora, RHEL)",
                    "");
        }
    }

    private static MethodHandle call(String name, FunctionDescriptor type) {
        return Native.bind(LIBBPF, name, type);
    }

    private static MethodHandle pointer(String name, FunctionDescriptor type) {
        return Native.bind(LIBBPF, name, type, Native.capturesErrno());
    }

    private static void collectLog() {
        try {
            MethodHandle target = MethodHandles.lookup()
                    .findStatic(
                            LibBpf.class,
                            "print",
                            MethodType.methodType(
                                    int.class, int.class, MemorySegment.class, MemorySegment.class));
            MemorySegment callback = Linker.nativeLinker()
                    .upcallStub(
                            target, FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS), Arena.global());
            MemorySegment _ = (MemorySegment) SET_PRINT.invokeExact(callback);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// Called by libbpf. An exception leaving an upcall would end the JVM. Debug output (level 2) is not formatted.
    @SuppressWarnings("unused")
    private static int print(int level, MemorySegment format, MemorySegment arguments) {
        try {
            if (level < 2) {
                log(Libc.format(format, arguments));
            }
        } catch (Throwable e) {
            return -1;
        }
        return 0;
    }

    private static void log(String text) {
        synchronized (LOG) {
            if (LOG.length() < MOST_LOG) {
                LOG.append(text);
            }
        }
    }

    /// What libbpf has printed since the last call.
    static String takeLog() {
        synchronized (LOG) {
            String log = LOG.toString();
            LOG.setLength(0);
            return log;
        }
    }

    static MemorySegment openObject(MemorySegment bytes, String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment options = arena.allocate(16, 8);
            options.set(JAVA_LONG, 0, 16);
            options.set(ADDRESS, 8, arena.allocateFrom(name));
            MemorySegment state = Native.state(arena);
            MemorySegment object =
                    (MemorySegment) OPEN_MEM.invokeExact(state, bytes, bytes.byteSize(), options);
            return checked(object, state, "opening BPF object '" + name + "'");
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    private static MemorySegment checked(MemorySegment pointer, MemorySegment state, String doing) {
        if (pointer.address() == 0) {
            throw BpfException.refused(doing, Native.errno(state), takeLog());
        }
        return pointer;
    }

    private static void check(int result, String doing) {
        if (result < 0) {
            throw BpfException.refused(doing, -result, takeLog());
        }
    }

    static void load(MemorySegment object, String name) {
        int result;
        try {
            result = (int) LOAD.invokeExact(object);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
        check(result, "loading BPF object '" + name + "'");
    }

    static void closeObject(MemorySegment object) {
        try {
            CLOSE.invokeExact(object);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// The object's type information, with the section offsets that only libbpf fills in.
    static byte[] btf(MemorySegment object) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment size = arena.allocate(JAVA_INT);
            MemorySegment btf = (MemorySegment) OBJECT_BTF.invokeExact(object);
            MemorySegment raw = (MemorySegment) RAW_BTF.invokeExact(btf, size);
            return raw.reinterpret(size.get(JAVA_INT, 0)).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    static MemorySegment program(MemorySegment object, String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Native.state(arena);
            MemorySegment program =
                    (MemorySegment) FIND_PROGRAM.invokeExact(state, object, arena.allocateFrom(name));
            return checked(program, state, "finding BPF program '" + name + "'");
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// The program after `previous`, or a null pointer; start with `MemorySegment.NULL`.
    static MemorySegment nextProgram(MemorySegment object, MemorySegment previous) {
        try {
            return (MemorySegment) NEXT_PROGRAM.invokeExact(object, previous);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    static String programName(MemorySegment program) {
        try {
            return Native.string((MemorySegment) PROGRAM_NAME.invokeExact(program));
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    static int programFd(MemorySegment program) {
        try {
            return (int) PROGRAM_FD.invokeExact(program);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    static void setExpectedAttachType(MemorySegment program, int type) {
        try {
            int _ = (int) SET_ATTACH_TYPE.invokeExact(program, type);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// Attaches a tracepoint program where its section name says.
    static MemorySegment attach(MemorySegment program) {
        String doing = "attaching BPF program '" + programName(program) + "'";
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Native.state(arena);
            return checked((MemorySegment) ATTACH.invokeExact(state, program), state, doing);
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// Attaches to a perf event; the link closes its descriptor.
    static MemorySegment attachPerfEvent(MemorySegment program, int fd) {
        String doing = "attaching BPF program '" + programName(program) + "'";
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Native.state(arena);
            return checked((MemorySegment) ATTACH_PERF_EVENT.invokeExact(state, program, fd), state, doing);
        } catch (RuntimeException e) {
            Libc.close(fd);
            throw e;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// Attaches through a perf event, for every process.
    static MemorySegment attachPerfUprobe(
            MemorySegment program, String path, Site site, boolean onReturn) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment options = arena.allocate(40, 8);
            options.set(JAVA_LONG, 0, 40);
            options.set(JAVA_LONG, 8, site.semaphore());
            options.set(JAVA_LONG, 16, site.cookie());
            options.set(JAVA_BOOLEAN, 24, onReturn);
            MemorySegment state = Native.state(arena);
            MemorySegment link = (MemorySegment)
                    ATTACH_UPROBE.invokeExact(state, program, -1, arena.allocateFrom(path), site.offset(), options);
            return checked(link, state, "attaching a perf uprobe to '" + path + "'");
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    static void destroy(MemorySegment link) {
        try {
            int _ = (int) DESTROY.invokeExact(link);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    static MemorySegment map(MemorySegment object, String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Native.state(arena);
            MemorySegment map = (MemorySegment) FIND_MAP.invokeExact(state, object, arena.allocateFrom(name));
            return checked(map, state, "finding BPF map '" + name + "'");
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    static int mapFd(MemorySegment map) {
        try {
            return (int) MAP_FD.invokeExact(map);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    static void setMaxEntries(MemorySegment map, int entries) {
        try {
            int _ = (int) SET_MAX_ENTRIES.invokeExact(map, entries);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    static void reuseFd(MemorySegment map, int fd) {
        int result;
        try {
            result = (int) REUSE_FD.invokeExact(map, fd);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
        check(result, "sharing a BPF map");
    }

    /// The bytes a data section will have when the object is loaded; may be written until then.
    static MemorySegment initialValue(MemorySegment map) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment size = arena.allocate(JAVA_LONG);
            MemorySegment value = (MemorySegment) INITIAL_VALUE.invokeExact(map, size);
            return Native.nullAware(value, size.get(JAVA_LONG, 0));
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// False when the map has no such key.
    static boolean lookup(int map, MemorySegment key, MemorySegment value) {
        try {
            return (int) LOOKUP.invokeExact(map, key, value) == 0;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    static void update(int map, MemorySegment key, MemorySegment value) {
        int result;
        try {
            result = (int) UPDATE.invokeExact(map, key, value, 0L);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
        check(result, "writing a BPF map");
    }

    /// A key that is not there is no error.
    static void delete(int map, MemorySegment key) {
        try {
            int _ = (int) DELETE.invokeExact(map, key);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// The key after `key`, the first for a null pointer; false when there is none.
    static boolean nextKey(int map, MemorySegment key, MemorySegment next) {
        try {
            return (int) NEXT_KEY.invokeExact(map, key, next) == 0;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    static int possibleCpus() {
        try {
            return (int) POSSIBLE_CPUS.invokeExact();
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }
}
