package io.dyber.zernel.serve;

import java.io.IOException;

/// Other programs, which a machine may lack.
public final class Commands {
    private Commands() {}

    /// Whether it is there and ends well; what it says is thrown away.
    public static boolean succeeds(String... command) throws InterruptedException {
        try {
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException _) {
            return false;
        }
    }
}
