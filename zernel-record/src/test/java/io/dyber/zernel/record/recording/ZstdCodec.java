package io.dyber.zernel.record.recording;

import com.github.luben.zstd.ZstdCompressCtx;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;

/// zstd for parquet-java's own writers, whose codecs need Hadoop.
final class ZstdCodec implements CompressionCodecFactory, CompressionCodecFactory.BytesInputCompressor {
    private final ZstdCompressCtx zstd = new ZstdCompressCtx().setLevel(1);

    @Override
    public BytesInputCompressor getCompressor(CompressionCodecName name) {
        return this;
    }

    @Override
    public BytesInputDecompressor getDecompressor(CompressionCodecName name) {
        throw new UnsupportedOperationException(name.toString());
    }

    @Override
    public BytesInput compress(BytesInput bytes) throws IOException {
        ByteArrayOutputStream plain = new ByteArrayOutputStream((int) bytes.size());
        bytes.writeAllTo(plain);
        return BytesInput.from(zstd.compress(plain.toByteArray()));
    }

    @Override
    public CompressionCodecName getCodecName() {
        return CompressionCodecName.ZSTD;
    }

    @Override
    public void release() {}
}
