package io.dyber.zernel.analyze.cli.option;

import io.dyber.zernel.analyze.report.table.Page;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options of text output, and what the terminal can show.
public final class TerminalOptions {
    private static final int DEFAULT_WIDTH = 100;
    private static final int NARROWEST = 60;

    enum Colour {
        auto,
        always,
        never
    }

    @Option(names = "--color", paramLabel = "WHEN", description = "auto, always or never (default: auto, on a terminal without NO_COLOR).")
    Colour colour = Colour.auto;

    @Option(names = "--width", paramLabel = "N", converter = Count.class,
            description = "Columns, 60 or more (default: $COLUMNS, the terminal's, or 100).")
    @Nullable Integer width;

    public Page page(PrintWriter out) {
        boolean terminal = isTerminal(1);
        boolean colours = colour == Colour.always
                || (colour == Colour.auto && terminal && hasColours(System.getenv()));
        return new Page(out, Math.max(NARROWEST, columns(terminal)), colours, showsUnicode());
    }

    /// Whether a terminal of this environment shows colours, and its user wants them.
    public static boolean hasColours(Map<String, String> environment) {
        return environment.getOrDefault("NO_COLOR", "").isEmpty() && !isDumb(environment);
    }

    /// Whether a terminal of this environment cannot go back to the begin of a line.
    static boolean isDumb(Map<String, String> environment) {
        return environment.getOrDefault("TERM", "").equals("dumb");
    }

    private int columns(boolean terminal) {
        if (width != null) {
            return width;
        }
        String exported = System.getenv("COLUMNS");
        if (exported != null && exported.matches("[1-9]\\d{0,4}")) {
            return Integer.parseInt(exported);
        }
        return terminal ? terminalWidth() : DEFAULT_WIDTH;
    }

    /// What the locale says; the launchers start this program in one of UTF-8 and say that the user's is another.
    private static boolean showsUnicode() {
        String encoding = System.getProperty("stdout.encoding", "UTF-8");
        return System.getProperty("zernel.lc_all") == null
                && Charset.isSupported(encoding)
                && Charset.forName(encoding).equals(StandardCharsets.UTF_8);
    }

    /// Whether a file descriptor is a terminal: `System.console()` would look at standard input too.
    public static boolean isTerminal(int descriptor) {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
        } catch (IOException | UnsupportedOperationException _) {
            return false;
        }
    }

    private static int terminalWidth() {
        try {
            Process stty = new ProcessBuilder("stty", "size")
                    .redirectInput(Path.of("/dev/tty").toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String size = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
            return size.matches("\\d+ \\d+") ? Integer.parseInt(size.substring(size.indexOf(' ') + 1)) : DEFAULT_WIDTH;
        } catch (IOException _) {
            return DEFAULT_WIDTH;
        }
    }
}
