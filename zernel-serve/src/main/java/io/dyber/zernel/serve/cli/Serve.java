package io.dyber.zernel.serve.cli;

import java.util.stream.Stream;

/// `zernel serve` as a program of its own, for starters that know a class and no subcommand: JBang's alias `zernel-serve`.
final class Serve {
    private Serve() {}

    public static void main(String... arguments) {
        Zernel.main(Stream.concat(Stream.of("serve"), Stream.of(arguments)).toArray(String[]::new));
    }
}
