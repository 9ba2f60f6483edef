package io.dyber.zernel.record.parquet;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import org.apache.parquet.io.OutputFile;
import org.apache.parquet.io.PositionOutputStream;

/// Lets parquet-java write to a file that is already open, and puts it on the disk before it counts as closed.
final class ChannelOutput implements OutputFile {
    private final FileChannel channel;

    ChannelOutput(FileChannel channel) {
        this.channel = channel;
    }

    @Override
    public PositionOutputStream create(long blockSizeHint) {
        return new Stream(channel);
    }

    @Override
    public PositionOutputStream createOrOverwrite(long blockSizeHint) {
        return create(blockSizeHint);
    }

    @Override
    public boolean supportsBlockSize() {
        return false;
    }

    @Override
    public long defaultBlockSize() {
        return 0;
    }

    private static final class Stream extends PositionOutputStream {
        private final FileChannel channel;
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 16);
        private long position;

        Stream(FileChannel channel) {
            this.channel = channel;
        }

        @Override
        public long getPos() {
            return position;
        }

        @Override
        public void write(int value) throws IOException {
            if (!buffer.hasRemaining()) {
                drain();
            }
            buffer.put((byte) value);
            position++;
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            int from = offset;
            int end = offset + length;
            while (from < end) {
                int count = Math.min(end - from, buffer.remaining());
                buffer.put(bytes, from, count);
                from += count;
                if (!buffer.hasRemaining()) {
                    drain();
                }
            }
            position += length;
        }

        @Override
        public void flush() throws IOException {
            drain();
        }

        @Override
        public void close() throws IOException {
            if (channel.isOpen()) {
                drain();
                channel.force(false);
                channel.close();
            }
        }

        private void drain() throws IOException {
            buffer.flip();
            while (buffer.hasRemaining()) {
                int _ = channel.write(buffer);
            }
            buffer.clear();
        }
    }
}
