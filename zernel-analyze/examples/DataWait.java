///usr/bin/env jbang "$0" "$@" ; exit $?
//JAVA 25+
//DEPS io.dyber.zernel:zernel-analyze:0.1.0
//RUNTIME_OPTIONS --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow
//RUNTIME_OPTIONS --add-opens=java.base/java.nio=ALL-UNNAMED

import io.dyber.zernel.analyze.*;
import io.dyber.zernel.analyze.duckdb.Table;

/// Says how long training waits for data: one finding, then SQL over any view. `jbang DataWait.java run.parquet`
void main(String[] files) {
    try (Database job = Recordings.open(files)) {
        job.diagnose("data_bound").forEach(finding -> IO.println(finding.subject() + ": " + finding.evidence()));
        for (Table.Row step : job.query("FROM step_mean").rows()) {
            IO.println("pid %d waits %.1f ms of each step".formatted(step.integer("pid"), step.real("data_loading_ns") / 1e6));
        }
    }
}
