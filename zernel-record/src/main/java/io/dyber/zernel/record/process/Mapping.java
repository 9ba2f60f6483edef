package io.dyber.zernel.record.process;

import org.jspecify.annotations.Nullable;

/// A line of `/proc/PID/maps`: `START-END PERMS OFFSET DEVICE INODE [PATH]`, where only the path may contain blanks.
///
/// @param range start and end address as `/proc/PID/map_files` names the mapping
record Mapping(String range, String permissions, long offset, String device, String inode, String path) {
    static @Nullable Mapping parse(String line) {
        int[] ends = new int[5];
        int at = -1;
        for (int i = 0; i < ends.length; i++) {
            at = line.indexOf(' ', at + 1);
            if (at < 0) {
                return null;
            }
            ends[i] = at;
        }
        int path = ends[4];
        while (path < line.length() && line.charAt(path) == ' ') {
            path++;
        }
        return new Mapping(
                range(line.substring(0, ends[0])),
                line.substring(ends[0] + 1, ends[1]),
                Long.parseUnsignedLong(line, ends[1] + 1, ends[2], 16),
                line.substring(ends[2] + 1, ends[3]),
                line.substring(ends[3] + 1, ends[4]),
                // The kernel writes a line break in a path as \012 and nothing else in another form.
                line.substring(path).replace("\\012", "\n"));
    }

    /// `maps` pads addresses to eight digits, `map_files` does not.
    private static String range(String padded) {
        int dash = padded.indexOf('-');
        return unpad(padded.substring(0, dash)) + "-" + unpad(padded.substring(dash + 1));
    }

    private static String unpad(String address) {
        int start = 0;
        while (start < address.length() - 1 && address.charAt(start) == '0') {
            start++;
        }
        return address.substring(start);
    }

    /// The device, written `MAJOR:MINOR` in hexadecimal digits, as the kernel numbers it.
    int deviceNumber() {
        int colon = device.indexOf(':');
        return Integer.parseInt(device, 0, colon, 16) << 20 | Integer.parseInt(device, colon + 1, device.length(), 16);
    }

    String identity() {
        return device + ":" + inode;
    }

    long start() {
        return Long.parseUnsignedLong(range, 0, range.indexOf('-'), 16);
    }

    long end() {
        return Long.parseUnsignedLong(range, range.indexOf('-') + 1, range.length(), 16);
    }

    boolean isOfFile() {
        return !inode.equals("0") && path.startsWith("/");
    }

    boolean isCodeOfFile() {
        return permissions.indexOf('x') >= 0 && isOfFile();
    }
}
