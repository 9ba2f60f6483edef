///usr/bin/env jbang "$0" "$@" ; exit $?
//JAVA 25+
//DEPS io.dyber.zernel:zernel-record:0.1.0
//DEPS io.dyber.zernel:zernel-analyze:0.1.0
//RUNTIME_OPTIONS --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow
//RUNTIME_OPTIONS --add-opens=java.base/java.nio=ALL-UNNAMED

import io.dyber.zernel.analyze.*;
import io.dyber.zernel.record.*;
import io.dyber.zernel.record.bpf.BpfException;
import io.dyber.zernel.record.option.*;

/// Records a running job for ten seconds and prints what to fix first. As root: `jbang TopFinding.java PID [SECONDS]`
void main(String[] arguments) {
    Path file = Path.of("run.parquet");
    Duration time = Duration.ofSeconds(arguments.length > 1 ? Integer.parseInt(arguments[1]) : 10);
    var options = RecordOptions.to(file).attachedTo(Set.of(Integer.valueOf(arguments[0]))).during(time);
    try {
        RecordResult result = new Recorder(options, new Progress() {}).record();
        IO.println("%,d events in %s, %,d lost".formatted(result.events(), file, result.lost()));
    } catch (BpfException | RecorderException e) {
        System.err.println(e.getMessage());
        System.exit(1);
    }
    try (Database job = Recordings.open(file.toString())) {
        job.diagnose().findings().stream()
                .findFirst()
                .ifPresentOrElse(
                        top -> IO.println("%s %s: %s%ntry %s".formatted(top.title(), top.subject(), top.evidence(), top.advice())),
                        () -> IO.println("nothing to fix was found"));
    }
}
