package io.dyber.zernel.analyze.export;

/// A thread among those of all opened recordings; 0 stands for an unknown process or thread.
record ThreadKey(int recording, long pid, long tid) {}
