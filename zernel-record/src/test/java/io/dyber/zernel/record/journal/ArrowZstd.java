package io.dyber.zernel.record.journal;

import com.github.luben.zstd.Zstd;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.compression.AbstractCompressionCodec;
import org.apache.arrow.vector.compression.CompressionCodec;
import org.apache.arrow.vector.compression.CompressionUtil;

/// ZSTD for Arrow's own reader, by ZSTD's own library, as `arrow-compression` has it.
final class ArrowZstd extends AbstractCompressionCodec implements CompressionCodec.Factory {
    @Override
    public CompressionCodec createCodec(CompressionUtil.CodecType type) {
        return this;
    }

    @Override
    public CompressionCodec createCodec(CompressionUtil.CodecType type, int level) {
        return this;
    }

    @Override
    public CompressionUtil.CodecType getCodecType() {
        return CompressionUtil.CodecType.ZSTD;
    }

    @Override
    protected ArrowBuf doCompress(BufferAllocator allocator, ArrowBuf plain) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected ArrowBuf doDecompress(BufferAllocator allocator, ArrowBuf compressed) {
        byte[] frame = new byte[(int) (compressed.writerIndex() - CompressionUtil.SIZE_OF_UNCOMPRESSED_LENGTH)];
        compressed.getBytes(CompressionUtil.SIZE_OF_UNCOMPRESSED_LENGTH, frame);
        byte[] plain = new byte[(int) compressed.getLong(0)];
        long size = Zstd.decompress(plain, frame);
        if (size != plain.length) {
            throw new IllegalStateException(Zstd.isError(size) ? Zstd.getErrorName(size) : "decompressed to " + size + " bytes");
        }
        ArrowBuf buffer = allocator.buffer(plain.length);
        buffer.setBytes(0, plain);
        buffer.writerIndex(plain.length);
        return buffer;
    }
}
