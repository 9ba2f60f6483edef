package io.dyber.zernel.record.recording;

import io.dyber.zernel.format.BatchMessage;
import io.dyber.zernel.format.JournalChecksum.Node;
import io.dyber.zernel.format.JournalChecksum.Span;
import io.dyber.zernel.format.JournalChecksum;
import io.dyber.zernel.record.journal.JournalMessages;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/// A journal in which every checksum is right and every number may be absurd: what a damaged file never is, and an
/// attacker's can be.
final class ForgedJournal {
    private static final long[] ABSURD = {
        -1, 1 << 16, 1 << 24, Integer.MAX_VALUE, Integer.MIN_VALUE, 1L << 32, Long.MAX_VALUE, Long.MIN_VALUE
    };

    private final SplittableRandom random;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    private ForgedJournal(SplittableRandom random) {
        this.random = random;
    }

    static byte[] of(SplittableRandom random) {
        ForgedJournal journal = new ForgedJournal(random);
        journal.message(JournalMessages.schema(Events.COLUMNS, journal.number(9)), new byte[0]);
        for (int messages = random.nextInt(5); messages >= 0; messages--) {
            journal.batch(random.nextBoolean());
        }
        return journal.out.toByteArray();
    }

    private void batch(boolean dictionary) {
        byte[] body = new byte[8 * random.nextInt(200)];
        for (int i = 0; i < body.length; i += 4) {
            ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN).putInt(i, (int) mostly(random.nextInt(20)));
        }
        int columns = dictionary ? 1 : number(Events.COLUMNS.size());
        long rows = mostly(random.nextInt(20));
        List<Node> nodes = new ArrayList<>();
        for (int c = 0; c < Math.max(1, columns); c++) {
            nodes.add(new Node(mostly(rows), mostly(random.nextInt(2))));
        }
        List<Span> buffers = new ArrayList<>();
        long at = 0;
        for (int b = 0; b < (dictionary ? 3 : 2 * columns); b++) {
            long length = mostly(8L * random.nextInt(1 + Math.max(0, body.length / 8 / (2 * columns + 1))));
            buffers.add(new Span(mostly(at), length));
            at += length;
        }
        long length = mostly(body.length);
        String crc = crc(nodes, buffers, body, dictionary);
        message(
                dictionary
                        ? BatchMessage.dictionary(nodes, buffers, length, crc, random.nextBoolean())
                        : BatchMessage.rows(nodes, buffers, length, crc, random.nextInt(10) == 0),
                body);
    }

    /// As the reader computes it; where it cannot, any.
    private static String crc(List<Node> nodes, List<Span> buffers, byte[] body, boolean dictionary) {
        CRC32C crc = new CRC32C();
        for (int b = 0; b < buffers.size(); b++) {
            Node node = nodes.get(Math.min(nodes.size() - 1, dictionary ? 0 : b / 2));
            long from = buffers.get(b).offset();
            long length = buffers.get(b).length() + 7 & ~7L;
            boolean inside = from >= 0 && length >= 0 && from <= body.length && length <= body.length - from;
            if (inside && (node.nulls() < node.rows() || node.rows() == 0)) {
                crc.update(body, (int) from, (int) length);
            }
        }
        return JournalChecksum.of(crc, nodes, buffers);
    }

    private void message(ByteBuffer metadata, byte[] body) {
        int length = JournalChecksum.padded(metadata.remaining());
        ByteBuffer head = ByteBuffer.allocate(8 + length).order(ByteOrder.LITTLE_ENDIAN);
        head.putInt(-1).putInt((int) mostly(length)).put(metadata);
        out.writeBytes(head.array());
        out.writeBytes(body);
    }

    private int number(int usual) {
        return random.nextInt(20) == 0 ? random.nextInt(300) : usual;
    }

    private long mostly(long usual) {
        return random.nextInt(40) == 0 ? ABSURD[random.nextInt(ABSURD.length)] : usual;
    }
}
