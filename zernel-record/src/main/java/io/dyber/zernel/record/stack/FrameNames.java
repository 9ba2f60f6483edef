package io.dyber.zernel.record.stack;

import io.dyber.zernel.record.event.StackFrames;
import io.dyber.zernel.record.event.StackFrames.PythonFrame;
import io.dyber.zernel.record.event.StackNames.CodeParts;
import io.dyber.zernel.record.event.StackNames;
import io.dyber.zernel.record.python.CodeObject;
import io.dyber.zernel.record.stack.NativeFunctions.Place;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Makes one text of the frames of a thread, Python's and native ones in order.
///
/// What lies between two Python functions is known only where frame pointers lead through it; the innermost native function
/// always is. The interpreter's own functions are not shown. Not thread-safe, except for [#unnamed].
public final class FrameNames implements StackNames {
    /// Each has a file open.
    private static final int MOST_PROCESSES = 256;
    /// Where a thread starts: a walk that ends here has missed nothing.
    private static final List<String> STARTS =
            List.of("_start", "__libc_start_main", "__libc_start_call_main", "start_thread", "clone", "clone3", "__clone");

    private static final Pattern OF_PYTHON = Pattern.compile(".*(/(?:python3\\.[^/]*|site-packages|dist-packages)/.*)");

    private final Pythons pythons;
    private final NativeFunctions natives;
    private final boolean redact;
    private final Map<Integer, PythonCode> code = new HashMap<>();
    private final AtomicLong unnamed = new AtomicLong();

    /// @param readable makes a name as C++ has it of one as linkers do
    /// @param redact leave the folders of the user's files out
    public FrameNames(Pythons pythons, UnaryOperator<String> readable, boolean redact) {
        this.pythons = pythons;
        this.natives = new NativeFunctions(readable);
        this.redact = redact;
    }

    @Override
    public void forget(int pid) {
        forgetCode(pid);
        natives.forget(pid);
        pythons.forget(pid);
    }

    /// Frames whose code was gone when its name was to be read.
    public long unnamed() {
        return unnamed.get();
    }

    @Override
    public Optional<String> text(StackFrames frames) {
        FoldedStack stack = new FoldedStack();
        if (frames.pythons().isEmpty()) {
            addNatives(stack, frames);
        } else {
            new Splice(stack, frames, codeOf(frames.pid(), frames.runtime())).add();
        }
        if (frames.deeper()) {
            stack.caller(FoldedStack.DEEPER);
        } else if (frames.cut()) {
            stack.caller(FoldedStack.UNREADABLE);
        }
        return stack.text();
    }

    /// Of a thread that runs no Python. Beyond the innermost function only what leads to the start of the thread is sure.
    private void addNatives(FoldedStack stack, StackFrames frames) {
        List<Optional<Place>> places = places(frames);
        boolean whole = places.stream().allMatch(Optional::isPresent)
                && STARTS.contains(places.getLast().orElseThrow().function());
        places.stream().limit(whole ? places.size() : 1).flatMap(Optional::stream).forEach(place -> stack.caller(text(place)));
    }

    private List<Optional<Place>> places(StackFrames frames) {
        List<Optional<Place>> places = new ArrayList<>();
        for (int i = 0; i < frames.natives().size(); i++) {
            // A return address may be the first after its function.
            places.add(natives.at(frames.pid(), frames.natives().get(i) - (i == 0 ? 0 : 1)));
        }
        return places;
    }

    private static String text(Place place) {
        return place.function().isEmpty() ? "[" + place.library() + "]" : place.function() + " (" + place.library() + ")";
    }

    @Override
    public void learn(CodeParts parts) {
        codeOf(parts.pid(), parts.runtime()).ifPresent(known -> known.learn(parts));
    }

    private Optional<PythonCode> codeOf(int pid, long runtime) {
        Optional<Pythons.Running> python = pythons.of(pid, runtime);
        PythonCode known = code.get(pid);
        if (python.isEmpty() || (known != null && known.python().equals(python.get()))) {
            return Optional.ofNullable(known);
        }
        forgetCode(pid);
        if (code.size() >= MOST_PROCESSES) {
            Set.copyOf(code.keySet()).forEach(this::forgetCode);
        }
        PythonCode fresh = new PythonCode(pid, python.get());
        code.put(pid, fresh);
        return Optional.of(fresh);
    }

    private void forgetCode(int pid) {
        PythonCode known = code.remove(pid);
        if (known != null) {
            known.close();
        }
    }

    private String text(PythonCode known, PythonFrame frame) {
        Optional<CodeObject> found = known.of(frame);
        if (found.isEmpty()) {
            unnamed.incrementAndGet();
            return FoldedStack.UNREADABLE;
        }
        String file = found.get().file();
        String shown = redact ? redacted(file) : file;
        OptionalInt line = known.line(frame, found.get());
        return found.get().function() + " (" + shown + (line.isPresent() ? ":" + line.getAsInt() : "") + ")";
    }

    /// Of a package and of Python's own library the folders below it are kept, by which they are told from the user's code.
    static String redacted(String file) {
        Matcher known = OF_PYTHON.matcher(file);
        return known.matches() ? "..." + known.group(1) : file.substring(file.lastIndexOf('/') + 1);
    }

    /// Puts native and Python frames in order.
    private final class Splice {
        private final FoldedStack stack;
        private final StackFrames frames;
        private final Optional<PythonCode> code;
        /// Runs of native frames outside of the interpreter, each inside one run of Python frames.
        private final List<List<Place>> runs = new ArrayList<>();

        Splice(FoldedStack stack, StackFrames frames, Optional<PythonCode> code) {
            this.stack = stack;
            this.frames = frames;
            this.code = code;
        }

        void add() {
            findRuns();
            long entries = frames.pythons().stream().filter(PythonFrame::enteredFromC).count();
            boolean fits = runs.size() > 1 && runs.size() == entries;
            int run = 0;
            addRun(run++);
            for (int i = 0; i < frames.pythons().size(); i++) {
                PythonFrame frame = frames.pythons().get(i);
                stack.caller(code.map(known -> text(known, frame)).orElse(FoldedStack.UNREADABLE));
                if (fits && frame.enteredFromC() && run < runs.size()) {
                    addRun(run++);
                }
            }
        }

        /// The frames inwards of each stay in the interpreter; those outwards of the last are how the thread began.
        private void findRuns() {
            List<Place> run = new ArrayList<>();
            boolean inside = false;
            for (Optional<Place> place : places(frames)) {
                boolean interpreter = place.isPresent() && isInterpreter(place.get());
                if (interpreter && !inside) {
                    runs.add(run);
                    run = new ArrayList<>();
                }
                inside = interpreter;
                // Code of no file is what the kernel lends (vdso) or what was made while the program ran.
                if (!interpreter) {
                    place.ifPresent(run::add);
                }
            }
            if (runs.isEmpty()) {
                // Frame pointers did not lead to the interpreter: only where the thread is, is known.
                runs.add(run.subList(0, Math.min(1, run.size())));
            }
        }

        private boolean isInterpreter(Place place) {
            return code.filter(known -> known.python().file().equals(place.file())).isPresent();
        }

        private void addRun(int number) {
            runs.get(number).forEach(place -> stack.caller(FrameNames.text(place)));
        }
    }
}
