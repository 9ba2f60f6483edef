package io.dyber.zernel.record.elf;

import java.nio.ByteBuffer;
import java.util.Arrays;

/// The first bytes of the names that a search wants, as a tree: most names of a library are known not to be wanted
/// after a few bytes.
final class PrefixTrie {
    /// More bytes tell few names apart and make the tree large.
    private static final int DEPTH = 12;

    private static final int WIDTH = 128;
    private static final int ANY = -1;

    private int[] next = new int[16 * WIDTH];
    private int nodes = 1;

    void add(byte[] name) {
        int node = 0;
        for (int i = 0; i < Math.min(name.length, DEPTH); i++) {
            if (name[i] < 0) {
                break;
            }
            int at = node * WIDTH + name[i];
            if (next[at] == ANY) {
                return;
            }
            int child = next[at];
            if (child == 0) {
                child = grow();
                next[at] = child;
            }
            node = child;
        }
        Arrays.fill(next, node * WIDTH, (node + 1) * WIDTH, ANY);
    }

    private int grow() {
        if ((nodes + 1) * WIDTH > next.length) {
            next = Arrays.copyOf(next, 2 * next.length);
        }
        return nodes++;
    }

    /// Whether the name that starts at a place of a string table begins like one of those added. It may be longer or,
    /// when it ends where one of them goes on, none of them.
    boolean begin(ByteBuffer strings, int start) {
        int node = 0;
        for (int at = start; at < strings.limit(); at++) {
            byte b = strings.get(at);
            int following = next[node * WIDTH + Math.max(b, 0)];
            if (following == ANY || b < 0) {
                return true;
            }
            if (following == 0) {
                return false;
            }
            node = following;
        }
        return true;
    }
}
