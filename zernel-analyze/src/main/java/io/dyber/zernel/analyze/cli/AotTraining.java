package io.dyber.zernel.analyze.cli;

import java.util.List;

/// What people do in several processes, in one, for the distribution's make-aot: the JVM learns from a single run.
public final class AotTraining {
    private AotTraining() {}

    /// Runs them on a recording.
    ///
    /// @param arguments its file
    public static void main(String[] arguments) {
        String file = arguments[0];
        run("--help");
        run("report", "--help");
        run("report", file);
        for (String form : List.of("--json", "--csv", "--width=100")) {
            run("sql", form, file, "FROM steps LIMIT 1");
        }
    }

    private static void run(String... arguments) {
        int status = Analyze.run(arguments);
        if (status != 0) {
            System.exit(status);
        }
    }
}
