package io.dyber.zernel.serve.analysis;

import io.dyber.zernel.analyze.DatabaseOptions;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.SqlLibrary;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;

/// What it costs to ask for the steps of the last minute of a recording, as the server does while one grows.
final class LiveStepsBenchmark {
    private static final int QUESTIONS = 20;
    private static final DatabaseOptions ONE_THREAD =
            DatabaseOptions.defaults().withThreads(1).withMemoryLimit("1GB");

    private LiveStepsBenchmark() {}

    /// Takes a recording, finished or not, and prints a row of a table.
    public static void main(String[] arguments) {
        long[] cpu = new long[QUESTIONS];
        int told = 0;
        for (int i = 0; i < QUESTIONS; i++) {
            GrowingInferences growing = new GrowingInferences();
            long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            told = growing.ask(from -> Recordings.open(
                    List.of(arguments), ONE_THREAD.withEventsFrom(from), SqlLibrary.builtIn()), false)
                    .size();
            cpu[i] = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start;
        }
        long first = cpu[0];
        Arrays.sort(cpu);
        System.out.printf("| %s | %,d | %.2f | %.2f |%n", arguments[0], told, first / 1e9, cpu[QUESTIONS / 2] / 1e9);
    }
}
