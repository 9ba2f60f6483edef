package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.simulate.Scenario;
import java.util.Arrays;
import java.util.Iterator;

/// What `--simulate` takes, for completion in a shell.
final class ScenarioNames implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
        return Arrays.stream(Scenario.values()).map(Scenario::label).iterator();
    }
}
