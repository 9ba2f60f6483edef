package io.dyber.zernel.record.activity;

/// Something that ran on a GPU, as CUPTI said it; times are CUPTI's.
///
/// @param what [ActivityRing#KERNEL], [ActivityRing#COPY] or [ActivityRing#FILL]
/// @param call number of the call that launched it
/// @param bytes of a copy or fill
/// @param size grid and block of a kernel, x, y and z; [Size#NONE] for others
/// @param from where a copy comes from, of [CopyNames]
/// @param to where it goes
record Activity(
        int what, long start, long end, int device, int stream, int call, String name, long bytes, Size size, int direction, int from, int to) {
    /// Blocks of a grid, and threads of a block.
    record Size(int gridX, int gridY, int gridZ, int blockX, int blockY, int blockZ) {
        static final Size NONE = new Size(0, 0, 0, 0, 0, 0);
    }

    String kind() {
        return switch (what) {
            case ActivityRing.KERNEL -> GpuActivity.KERNEL;
            case ActivityRing.COPY -> GpuActivity.COPY;
            default -> GpuActivity.FILL;
        };
    }
}
