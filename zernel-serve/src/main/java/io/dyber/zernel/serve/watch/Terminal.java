package io.dyber.zernel.serve.watch;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The terminal as a screen of lines: takes it over, and gives it back as it was.
public final class Terminal implements AutoCloseable {
    private static final String TTY = "/dev/tty";
    private static final Size USUAL = new Size(80, 24);

    private final PrintWriter out;
    private final Optional<String> settings;
    private Size size = USUAL;

    /// Columns and rows.
    public record Size(int width, int height) {}

    /// Takes the terminal over: another screen, no cursor, keys without Enter.
    public Terminal(PrintWriter out) {
        this.out = out;
        this.settings = stty("-g");
        stty("-icanon", "-echo", "min", "0", "time", "0");
        out.print("\u001b[?1049h\u001b[?25l");
        measure();
    }

    /// Asks the terminal again how large it is.
    public void measure() {
        size = stty("size")
                .map(text -> text.strip().split(" "))
                .filter(fields -> fields.length == 2 && !fields[1].equals("0"))
                .map(fields -> new Size(Integer.parseInt(fields[1]), Integer.parseInt(fields[0])))
                .orElse(USUAL);
    }

    public Size size() {
        return size;
    }

    /// Replaces what is on the screen.
    public void show(List<String> lines) {
        StringBuilder screen = new StringBuilder("\u001b[H");
        for (int row = 0; row < size.height(); row++) {
            screen.append(row < lines.size() ? lines.get(row) : "").append("\u001b[K");
            if (row < size.height() - 1) {
                screen.append("\r\n");
            }
        }
        out.print(screen);
        out.flush();
    }

    @Override
    public void close() {
        out.print("\u001b[?25h\u001b[?1049l");
        out.flush();
        settings.ifPresent(saved -> stty(saved.strip()));
    }

    private static Optional<String> stty(String... arguments) {
        List<String> command = new ArrayList<>(List.of("stty"));
        command.addAll(List.of(arguments));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectInput(Path.of(TTY).toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return process.waitFor() == 0 ? Optional.of(text) : Optional.empty();
        } catch (IOException _) {
            return Optional.empty();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
