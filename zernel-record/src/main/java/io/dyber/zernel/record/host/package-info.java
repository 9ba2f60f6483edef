/// What the kernel counts of the machine, its cgroups, its links and the recorded processes, in `/proc` and `/sys`.
@org.jspecify.annotations.NullMarked
package io.dyber.zernel.record.host;
