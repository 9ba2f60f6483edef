package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.report.Page;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options of text output, and what the terminal can show.
final class Screen {
    private static final int DEFAULT_WIDTH = 100;
    private static final int NARROWEST = 60;

    enum Colour {
        auto,
        always,
        never
    }

    @Option(names = "--color", paramLabel = "WHEN", description = "auto, always or never (default: auto).")
    Colour colour = Colour.auto;

    @Option(names = "--width", paramLabel = "N", description = "Columns (default: the terminal's, else 100).")
    @Nullable Integer width;

    Page page(PrintWriter out) {
        boolean terminal = isTerminal();
        boolean colours = colour == Colour.always
                || (colour == Colour.auto && terminal && System.getenv("NO_COLOR") == null);
        int columns = width != null ? width : terminal ? terminalWidth() : DEFAULT_WIDTH;
        return new Page(out, Math.max(NARROWEST, columns), colours, showsUnicode());
    }

    private static boolean showsUnicode() {
        String encoding = System.getProperty("stdout.encoding", "UTF-8");
        return Charset.isSupported(encoding) && Charset.forName(encoding).equals(StandardCharsets.UTF_8);
    }

    /// Of standard output alone: `System.console()` would also look at standard input.
    private static boolean isTerminal() {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString();
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
