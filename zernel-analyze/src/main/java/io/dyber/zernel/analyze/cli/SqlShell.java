package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.cli.option.TableOutput;
import io.dyber.zernel.analyze.sql.Statements;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.jline.reader.Candidate;
import org.jline.reader.EOFError;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.ParsedLine;
import org.jline.reader.Parser;
import org.jline.reader.UserInterruptException;
import org.jline.reader.impl.DefaultParser;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;

/// The interactive shell. The only class that knows JLine, so that nothing else waits for it to load.
final class SqlShell {
    private static final int MOST_ROWS = 1000;

    private final Database database;
    private final SqlSession session;
    private final Terminal terminal;
    private volatile boolean cancelled;

    SqlShell(Database database, TableOutput output, Terminal terminal) {
        this.database = database;
        this.session = new SqlSession(database, output, terminal.writer(), MOST_ROWS);
        this.terminal = terminal;
    }

    /// Runs until the user leaves.
    static void run(Database database, TableOutput output) {
        try (Terminal terminal = TerminalBuilder.builder().name("zernel-analyze").system(true).build()) {
            new SqlShell(database, output, terminal).run(historyFile());
        } catch (IOException e) {
            throw new RecordingException("opening the terminal: " + e.getMessage(), null, e);
        }
    }

    void run(Path history) {
        Set<String> words = session.words();
        Set<String> tables = session.tableNames();
        LineReader reader = LineReaderBuilder.builder()
                .terminal(terminal)
                .appName("zernel-analyze")
                .parser(new SqlParser())
                .completer((_, line, candidates) ->
                        (namesTable(line) ? tables : words).forEach(word -> candidates.add(new Candidate(word))))
                .variable(LineReader.HISTORY_FILE, history)
                .variable(LineReader.SECONDARY_PROMPT_PATTERN, "     > ")
                .option(LineReader.Option.CASE_INSENSITIVE, true)
                .option(LineReader.Option.AUTO_MENU, false) // a second Tab would put in the first of many
                .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true)
                .build();
        terminal.writer().println("Statements end with ; and .help says more.");
        terminal.handle(Terminal.Signal.INT, _ -> {
            cancelled = true;
            database.cancel();
        });
        boolean goesOn = true;
        while (goesOn) {
            try {
                String line = reader.readLine("zernel> ");
                cancelled = false;
                goesOn = session.run(line);
            } catch (UserInterruptException _) {
                // what was typed is dropped
            } catch (EndOfFileException _) {
                goesOn = false;
            } catch (RecordingException e) {
                failed(e);
            }
        }
    }

    /// Whether the name of a table or view has to come where the cursor is.
    private static boolean namesTable(ParsedLine line) {
        String before = line.wordIndex() == 0 ? "" : line.words().get(line.wordIndex() - 1);
        return before.matches("(?i)from|join|describe|summarize|\\.schema");
    }

    private void failed(RecordingException e) {
        String message = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
        terminal.writer().println(cancelled ? "cancelled" : message);
        if (e.hint() != null) {
            terminal.writer().println("hint: " + e.hint());
        }
        terminal.flush();
    }

    private static Path historyFile() throws IOException {
        String state = System.getenv("XDG_STATE_HOME");
        Path folder = (state == null || state.isEmpty() ? Path.of(System.getProperty("user.home"), ".local", "state") : Path.of(state))
                .resolve("zernel");
        Files.createDirectories(folder);
        return folder.resolve("sql_history");
    }

    /// Asks for more lines until a statement ends; splits words for completion.
    private static final class SqlParser implements Parser {
        private final DefaultParser words = new DefaultParser();

        SqlParser() {
            words.setQuoteChars(new char[0]);
            words.setEscapeChars(new char[0]);
            words.setRegexVariable(null);
            words.setRegexCommand(null);
        }

        @Override
        public ParsedLine parse(String line, int cursor, ParseContext context) {
            boolean command = line.isBlank() || line.strip().startsWith(".");
            if (context == ParseContext.ACCEPT_LINE && !command && Statements.end(line) < 0) {
                throw new EOFError(-1, cursor, "no ; yet");
            }
            // Names after a comma or a parenthesis are completed too.
            return words.parse(line.replaceAll("[,()=<>;]", " "), cursor, context);
        }

        @Override
        public boolean isEscapeChar(char character) {
            return false;
        }
    }
}
