package io.dyber.zernel.record.recording;

import java.util.Arrays;
import java.util.SplittableRandom;

/// What disks, careless copying and attackers do to a file, by seed.
final class Damage {
    private static final byte[] TELLING = {0, 1, 0x7f, (byte) 0x80, (byte) 0xff};

    private Damage() {}

    /// One to four damages of different kinds; most of them in the last quarter, where a format keeps what it says of
    /// the rest.
    static byte[] of(byte[] whole, SplittableRandom random) {
        byte[] damaged = whole.clone();
        for (int times = 1 + random.nextInt(4); times > 0 && damaged.length > 0; times--) {
            int from = random.nextBoolean() ? damaged.length * 3 / 4 : 0;
            damaged = once(damaged, from + random.nextInt(damaged.length - from), random);
        }
        return damaged;
    }

    private static byte[] once(byte[] bytes, int at, SplittableRandom random) {
        int length = Math.min(1 + random.nextInt(16), bytes.length - at);
        switch (random.nextInt(8)) {
            case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
            case 1 -> bytes[at] = (byte) random.nextInt(256);
            case 2 -> bytes[at] = TELLING[random.nextInt(TELLING.length)];
            case 3 -> Arrays.fill(bytes, at, at + length, TELLING[random.nextInt(TELLING.length)]);
            case 4 -> System.arraycopy(bytes, random.nextInt(bytes.length - length + 1), bytes, at, length);
            case 5 -> {
                return Arrays.copyOf(bytes, at);
            }
            case 6 -> {
                byte[] cut = Arrays.copyOf(bytes, bytes.length - length);
                System.arraycopy(bytes, at + length, cut, at, bytes.length - at - length);
                return cut;
            }
            default -> {
                byte[] grown = Arrays.copyOf(bytes, bytes.length + length);
                System.arraycopy(bytes, at, grown, at + length, bytes.length - at);
                return grown;
            }
        }
        return bytes;
    }
}
