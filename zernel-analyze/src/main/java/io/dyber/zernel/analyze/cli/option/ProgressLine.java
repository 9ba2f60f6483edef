package io.dyber.zernel.analyze.cli.option;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// A line on a terminal's standard error about work that takes more than a second; gone when the work is done.
public final class ProgressLine implements AutoCloseable {
    private static final int FIRST_MILLIS = 1000;
    private static final int NEXT_MILLIS = 200;

    private final CountDownLatch done = new CountDownLatch(1);
    private final PrintWriter err;
    private final Thread thread;
    private volatile String line = "";
    private int shown;

    private ProgressLine(PrintWriter err) {
        this.err = err;
        // Not virtual: a query holds its carrier in native code.
        this.thread = Thread.ofPlatform().daemon().name("progress").unstarted(this::show);
    }

    /// Begins to show one, from the first word of [#at] on.
    ///
    /// @param err where the line is shown, if standard error is a terminal
    public static ProgressLine on(PrintWriter err) {
        ProgressLine progress = new ProgressLine(err);
        if (TerminalOptions.isTerminal(2) && !TerminalOptions.isDumb(System.getenv())) {
            progress.thread.start();
        }
        return progress;
    }

    /// What is being done.
    public void at(String what, double share) {
        line = share <= 0 ? what : String.format(Locale.ROOT, "%s, %.0f %%", what, 100 * share);
    }

    @Override
    public void close() {
        done.countDown();
        try {
            thread.join();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void show() {
        try {
            int millis = FIRST_MILLIS;
            long start = System.nanoTime();
            while (!done.await(millis, TimeUnit.MILLISECONDS)) {
                millis = NEXT_MILLIS;
                long seconds = (System.nanoTime() - start) / 1_000_000_000;
                show("analyzing: " + line + " (" + seconds + " s)");
            }
            if (millis == NEXT_MILLIS) {
                show("");
                err.print("\r");
                err.flush();
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /// In place of what is shown. With blanks and not with an escape sequence, which NO_COLOR asks not to see in logs.
    private void show(String text) {
        err.print("\r" + text + " ".repeat(Math.max(0, shown - text.length())));
        err.flush();
        shown = text.length();
    }
}
