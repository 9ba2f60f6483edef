package io.dyber.zernel.analyze.cli;

import java.io.PrintWriter;
import java.io.StringWriter;

/// What a command printed, and its exit status.
record Outcome(int status, String out, String err) {
    static Outcome of(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int status = Analyze.commandLine(arguments)
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(arguments);
        return new Outcome(status, out.toString(), err.toString());
    }
}
