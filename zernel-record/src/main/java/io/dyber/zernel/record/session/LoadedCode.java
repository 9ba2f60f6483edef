package io.dyber.zernel.record.session;

import io.dyber.zernel.record.attach.Attachments;
import io.dyber.zernel.record.attach.BpfPrograms;
import io.dyber.zernel.record.attach.CodeState;
import io.dyber.zernel.record.attach.ProbedLibraries.Found;
import io.dyber.zernel.record.event.Load;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.process.MappedFile;
import io.dyber.zernel.record.process.MappedFiles;
import io.dyber.zernel.record.process.ProcessFacts;
import io.dyber.zernel.record.process.StartEnvironment;
import io.dyber.zernel.record.stack.Pythons;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Sees to it that code is probed before it is called: libraries that can be foreseen before anybody loads them, and others
/// at once when the kernel side tells that a process has mapped them.
final class LoadedCode {
    /// What tells the Pythons of environments apart, beside how they are called.
    private static final List<String> ENVIRONMENT = List.of("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "HOME");
    private static final int MOST_BYTES = 4096;
    /// Each takes up to a tenth of a second.
    private static final int MOST_ENVIRONMENTS = 32;
    /// Of probes that mean thousands of functions, copies of a library that nobody may load take room from those that are.
    private static final int ROOM_FOR_SURPRISES = 1024;

    private final BpfPrograms kernel;
    private final RecordOptions options;
    private final Attachments attachments;
    private final Holding holding;
    private final MappedFiles mapped = new MappedFiles();
    private final Set<String> foreseen = new HashSet<>();
    private final Set<List<String>> environments = new HashSet<>();
    private final Outlook outlook;
    private final Pythons pythons;
    private long lost;

    LoadedCode(
            BpfPrograms kernel,
            RecordOptions options,
            Attachments attachments,
            Holding holding,
            Outlook outlook,
            Pythons pythons) {
        this.kernel = kernel;
        this.options = options;
        this.attachments = attachments;
        this.holding = holding;
        this.outlook = outlook;
        this.pythons = pythons;
    }

    /// Listens, and probes what the command will load. It has not run yet.
    void begin(Optional<Workload> workload) {
        kernel.holdAt(attachments.stems());
        holding.start(options.holds() && !options.hooks().isEmpty());
        workload.ifPresent(command -> holding.guard(command.pid()));
        attachments.scanAhead(workload.flatMap(Workload::program));
        if (!options.command().isEmpty()) {
            environments.add(environment(options.command().getFirst(), System.getenv()));
        }
        offer(outlook.files());
    }

    /// Probes what running processes will load.
    void foresee(Set<Integer> pids) {
        for (int pid : pids) {
            Optional<ProcessFacts> facts = ProcessFacts.of(pid);
            if (facts.isPresent() && (!options.everyone() || isOfJobs(facts.get()))) {
                List<MappedFile> loaded = mapped.of(pid);
                if (foreseen.add(facts.get().exe() + loaded.stream().map(MappedFile::identity).sorted().toList())) {
                    offer(Foresight.ofProcess(pid, loaded, attachments.libraries()));
                }
            }
        }
    }

    /// A process runs another Python than those before it, as one that a script starts: probes what it will load, while it
    /// sets itself up.
    private void foreseeStarted(int pid) {
        Optional<ProcessFacts> facts =
                environments.size() < MOST_ENVIRONMENTS ? ProcessFacts.of(pid) : Optional.empty();
        if (facts.isPresent() && !facts.get().commandLine().isEmpty()) {
            Path proc = Path.of("/proc", Integer.toString(pid));
            Map<String, String> variables = StartEnvironment.of(proc, ENVIRONMENT, MOST_BYTES);
            if (environments.add(environment(facts.get().commandLine().getFirst(), variables))) {
                offer(Foresight.ofProcess(pid, mapped.of(pid), attachments.libraries()));
            }
        }
    }

    private static List<String> environment(String program, Map<String, String> variables) {
        List<String> key = new ArrayList<>(List.of(program));
        ENVIRONMENT.forEach(name -> key.add(variables.getOrDefault(name, "")));
        return key;
    }

    /// Of all processes of a machine, those that run Python.
    private static boolean isOfJobs(ProcessFacts facts) {
        return facts.exe().substring(facts.exe().lastIndexOf('/') + 1).startsWith("python");
    }

    private void offer(List<MappedFile> files) {
        for (MappedFile file : files) {
            if (kernel.room() > ROOM_FOR_SURPRISES) {
                attachments.offer(file, Found.FORESEEN);
            }
        }
    }

    /// Probes what was loaded since the last call.
    ///
    /// @return the processes that have loaded a probed file
    Set<Integer> handle() {
        Set<Integer> users = new LinkedHashSet<>();
        for (Optional<Load> next = holding.next(); next.isPresent(); next = holding.next()) {
            Load load = next.get();
            String identity = probe(load);
            boolean probed = attachments.account().isProbed(identity);
            boolean python = findsPython(load);
            kernel.decide(load.identity(), probed || python ? CodeState.LOADED : CodeState.UNWANTED);
            if (probed) {
                // While the process is held, if it is: what else depends on all that it has loaded is put right too.
                users.addAll(attachments.scan(Set.of(load.pid()), Found.LATE));
                if (attachments.isReason(identity)) {
                    users.add(load.pid());
                }
            }
            long wentOn = load.held() ? holding.goOn(load.pid()) : 0;
            if (probed) {
                attachments.loaded(identity, load, wentOn);
            } else {
                boolean _ = attachments.account().used(load.path());
            }
        }
        long before = lost;
        lost = kernel.loadsLost();
        if (lost > before) {
            users.addAll(attachments.scan(kernel.targets(), Found.LATE));
        }
        return users;
    }

    /// Whether the file may be of a Python: then its processes are looked at when they map it.
    private boolean findsPython(Load load) {
        boolean python = Pythons.isOfPython(load.path());
        if (python && kernel.targets().contains(load.pid())) {
            foreseeStarted(load.pid());
            if (!options.stacks().isOff()) {
                pythons.look(Set.of(load.pid()));
            }
        }
        return python;
    }

    /// Offers a file that was loaded.
    ///
    /// @return its identity
    private String probe(Load load) {
        if (attachments.account().isProbed(load.identity())) {
            return load.identity();
        }
        Optional<MappedFile> file = MappedFiles.loaded(load.pid(), load.identity(), load.path(), load.program());
        if (file.isEmpty()) {
            if (attachments.mean(load.path())) {
                attachments.account().missed(load.path());
            }
            return load.identity();
        }
        attachments.offer(file.get(), Found.LATE);
        return file.get().identity();
    }
}
