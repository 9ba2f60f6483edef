package io.dyber.zernel.record.event;

import java.util.Arrays;

/// The calls that one thread has entered and not left, as a stack.
///
/// A call is found again by function and stack pointer, so recursion needs nothing special. Calls above the one that
/// returns were left some other way (longjmp, an exception): they are dead. Not thread-safe.
final class OpenCalls {
    /// Longs per frame: the fields below, then the slots.
    static final int FRAME = 26;

    static final int SP = 0;
    static final int FUNCTION = 1;
    static final int START = 2;
    static final int PID = 3;
    static final int TID = 4;
    static final int CPU = 5;
    static final int COMM = 6;
    static final int TEXT = 7;
    static final int BAD = 8;
    static final int KIND = 9;
    static final int DEPTH = 10;
    static final int NOTE = 11;
    /// Not 0 when a call inside it is the row of both.
    static final int COVERED = 12;
    /// Not 0 when a call further up the stack was entered after it.
    static final int PASSED = 13;
    static final int SLOTS = 14;

    /// The deepest stack kept. A thread that leaves more calls without returning has its oldest ones given up.
    static final int MOST_FRAMES = 1024;

    private long[] frames = new long[4 * FRAME];
    private int depth;

    int depth() {
        return depth;
    }

    boolean isFull() {
        return depth == MOST_FRAMES;
    }

    /// The process of the calls; there must be one.
    int pid() {
        return (int) frames[PID];
    }

    /// When the youngest call began; there must be one.
    long lastStart() {
        return frames[(depth - 1) * FRAME + START];
    }

    /// The frames, [#FRAME] longs each, oldest first.
    long[] frames() {
        return frames;
    }

    /// Makes room for a frame and says where it begins in [#frames].
    int push() {
        if ((depth + 1) * FRAME > frames.length) {
            frames = Arrays.copyOf(frames, 2 * frames.length);
        }
        return depth++ * FRAME;
    }

    /// The youngest frame of this call, or -1.
    int find(long function, long sp) {
        for (int i = depth - 1; i >= 0; i--) {
            if (frames[i * FRAME + SP] == sp && frames[i * FRAME + FUNCTION] == function) {
                return i;
            }
        }
        return -1;
    }

    /// Notes that a call with this stack pointer was entered. Stacks grow downwards, so calls below it were left without
    /// returning, or are on a stack of their own, as those of coroutines, and may still return.
    void pass(long sp) {
        for (int i = depth - 1; i >= 0; i--) {
            int frame = i * FRAME;
            if (frames[frame + PASSED] == 0) {
                if (frames[frame + SP] >= sp) {
                    return; // and so are those before it that were not passed by it
                }
                frames[frame + PASSED] = 1;
            }
        }
    }

    /// Whether the call in frame `i` is one of a kind around another whose stack pointer is `sp`, and a row of its own: one
    /// that is not below it and never was below any. One at the same place has jumped here.
    boolean isAround(int i, long sp, long kind) {
        int frame = i * FRAME;
        return frames[frame + KIND] == kind
                && frames[frame + SP] >= sp
                && frames[frame + PASSED] == 0
                && frames[frame + COVERED] == 0;
    }

    /// How many such calls there are.
    int around(long sp, long kind) {
        int count = 0;
        for (int i = 0; i < depth; i++) {
            if (isAround(i, sp, kind)) {
                count++;
            }
        }
        return count;
    }

    /// Drops frame `first` and all younger ones.
    void truncate(int first) {
        depth = first;
    }

    /// Drops the frame `i`.
    void drop(int i) {
        System.arraycopy(frames, (i + 1) * FRAME, frames, i * FRAME, (depth - 1 - i) * FRAME);
        depth--;
    }
}
