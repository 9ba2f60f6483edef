package io.dyber.zernel.analyze.trace;

/// Takes the events of a trace while it is read.
interface TraceSink {
    void accept(TracedEvent event);
}
