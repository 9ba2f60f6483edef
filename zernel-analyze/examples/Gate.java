///usr/bin/env jbang "$0" "$@" ; exit $?
//JAVA 25+
//DEPS io.dyber.zernel:zernel-analyze:0.1.0
//RUNTIME_OPTIONS --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow
//RUNTIME_OPTIONS --add-opens=java.base/java.nio=ALL-UNNAMED

import io.dyber.zernel.analyze.*;

/// Fails a CI job (exit status 3) whose branch makes training slower. `jbang Gate.java main.parquet branch.parquet`
void main(String[] files) {
    boolean broken = false;
    try (Database both = Recordings.compare(files[0], files[1])) {
        Diff diff = Diff.of(both);
        for (String rule : List.of("step_p50 > +5%", "data_loading_mean > +2ms", "launches_mean > +10%")) {
            DiffRule.Verdict verdict = DiffRule.parse(rule).judge(diff);
            IO.println((verdict.broken() ? "BROKEN  " : "kept    ") + rule + ": " + verdict.why());
            broken |= verdict.broken();
        }
    }
    System.exit(broken ? 3 : 0);
}
