package io.dyber.zernel.record;

import io.dyber.zernel.record.session.Workload;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/// Starts a command, says its process number and leaves it held until standard input ends.
public final class HeldCommand {
    private HeldCommand() {}

    public static void main(String... command) throws IOException {
        Workload workload = Workload.start(List.of(command), Optional.empty());
        System.out.println(workload.pid());
        if (System.in.read() < 0) {
            workload.terminate();
        }
    }
}
