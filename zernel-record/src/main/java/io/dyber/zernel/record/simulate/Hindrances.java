package io.dyber.zernel.record.simulate;

import static io.dyber.zernel.record.simulate.Scenario.GIL;
import static io.dyber.zernel.record.simulate.Scenario.LOCK;
import static io.dyber.zernel.record.simulate.Scenario.LOG_FSYNC;
import static io.dyber.zernel.record.simulate.Scenario.SLEEP_EACH_STEP;
import static io.dyber.zernel.record.simulate.Scenario.WORK_BETWEEN_CALLS;

import io.dyber.zernel.record.simulate.machine.Actor;
import io.dyber.zernel.record.simulate.machine.Timeline;

/// What keeps the training thread from its next step, after the optimizer: another thread, a sleep, a log, or its own
/// work in no call. Only jobs without a GPU have these.
final class Hindrances {
    /// A thread that waits for Python's lock asks for it so often: `sys.getswitchinterval()`, and waking up.
    private static final long SWITCH_NANOS = 5_080_000;
    /// The lock, and the condition by which it is handed over.
    private static final long[] GIL_FUTEXES = {0x55d3_0000_1a10L, 0x55d3_0000_1a48L};

    private static final long LOCK_FUTEX = 0x7f55_0000_2c40L;
    private static final int LOG_FD = 46;
    private static final int LOG_BYTES = 400;
    private static final String LOG = "/logs/run/train.log";
    /// Of the time for a log, what its write takes; the rest is its sync.
    private static final double WRITING = 0.03;

    private final JobParameters shape;
    private final InjectedCauses plant;
    private final Program program;
    private final Actor other;

    Hindrances(JobParameters shape, InjectedCauses plant, Program program) {
        this.shape = shape;
        this.plant = plant;
        this.program = program;
        Actor main = program.thread();
        this.other = new Actor(main.pid(), main.pid() + 3, "python", main.cpu());
    }

    /// Starts the thread that the training thread will wait for.
    void prepare() {
        if (plant.size(GIL) > 0 || plant.size(LOCK) > 0) {
            program.timeline()
                    .event("process", "thread", program.thread(), program.now(), Timeline.NONE)
                    .with("child_pid", other.pid())
                    .with("child_tid", other.tid());
        }
    }

    void hinder() {
        waitForPythonsLock(nanos(GIL));
        waitForLock(nanos(LOCK));
        sleep(nanos(SLEEP_EACH_STEP));
        log(nanos(LOG_FSYNC));
        if (plant.has(WORK_BETWEEN_CALLS)) {
            program.work(plant.amount(WORK_BETWEEN_CALLS) * shape.gpuNanos());
        }
    }

    private long nanos(Scenario cause) {
        return Math.round(plant.amount(cause) * shape.gpuNanos());
    }

    /// The other thread does not let go of the lock: the wait times out, and begins again, until it does.
    private void waitForPythonsLock(long nanos) {
        long left = nanos;
        for (int turn = 0; left > 0; turn++) {
            long wait = Math.min(left, SWITCH_NANOS);
            boolean timedOut = wait == SWITCH_NANOS;
            long addr = GIL_FUTEXES[turn / 4 % 2];
            program.timeline().futex(program.thread(), addr, timedOut ? null : other, program.now(), program.now() + wait);
            program.waitUntil(program.now() + wait);
            program.work(6_000);
            left -= wait;
        }
    }

    private void waitForLock(long nanos) {
        if (nanos > 0) {
            program.timeline().futex(program.thread(), LOCK_FUTEX, other, program.now(), program.now() + nanos);
            program.waitUntil(program.now() + nanos);
        }
    }

    private void sleep(long nanos) {
        if (nanos > 0) {
            program.timeline().sleep(program.thread(), program.now(), program.now() + nanos);
            program.waitUntil(program.now() + nanos);
        }
    }

    private void log(long nanos) {
        if (nanos <= 0) {
            return;
        }
        long write = Math.round(nanos * WRITING);
        program.timeline()
                .event("io", "write", program.thread(), program.now(), write)
                .with("fd", LOG_FD)
                .with("bytes", LOG_BYTES)
                .with("status", 0)
                .with("path", LOG);
        program.waitUntil(program.now() + write);
        long start = program.now();
        long end = start + nanos - write;
        program.timeline()
                .event("io", "fsync", program.thread(), start, end - start)
                .with("fd", LOG_FD)
                .with("status", 0)
                .with("path", LOG);
        program.timeline().offCpu(program.thread(), "io", start + 2_000, end - 1_000, 3_000);
        program.waitUntil(end);
    }
}
