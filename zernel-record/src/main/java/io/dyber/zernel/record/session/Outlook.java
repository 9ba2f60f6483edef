package io.dyber.zernel.record.session;

import io.dyber.zernel.record.attach.LibrarySelectors;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.process.MappedFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/// The files that the command will load, looked for while the BPF programs are loaded. Without a command, those that any
/// job of this machine may load.
public final class Outlook {
    private static final System.Logger LOGGER = System.getLogger(Outlook.class.getName());

    private final FutureTask<List<MappedFile>> search;

    private Outlook(FutureTask<List<MappedFile>> search) {
        this.search = search;
    }

    /// Begins to look.
    public static Outlook begin(RecordOptions options) {
        FutureTask<List<MappedFile>> search = new FutureTask<>(() -> search(options));
        Thread.ofPlatform().daemon().name("zernel-foresight").start(search);
        return new Outlook(search);
    }

    private static List<MappedFile> search(RecordOptions options) {
        if (options.command().isEmpty() && !options.everyone()) {
            return List.of();
        }
        LibrarySelectors wanted = new LibrarySelectors(
                options.hooks().stream().map(hook -> hook.probe().library()).toList());
        Map<String, String> environment =
                options.command().isEmpty() ? System.getenv() : Workload.environment(options.owner());
        return Foresight.ofCommand(options.command(), environment, Path.of(""), wanted);
    }

    /// What was found.
    List<MappedFile> files() {
        try {
            return search.get();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return List.of();
        } catch (ExecutionException e) {
            // What is not foreseen comes as a surprise, which is handled: no reason not to record.
            LOGGER.log(System.Logger.Level.WARNING, "looking for libraries that the command will load", e.getCause());
            return List.of();
        }
    }
}
