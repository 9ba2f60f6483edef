package io.dyber.zernel.record.elf;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/// Walks note sections and segments.
final class ElfNotes {
    private static final int BUILD_ID = 3;
    private static final int LARGEST_BUILD_ID = 64;

    private ElfNotes() {}

    /// Takes the body of one note.
    interface Visitor {
        /// Returns whether to go on.
        boolean visit(String owner, int type, ByteBuffer body);
    }

    static Optional<byte[]> buildId(ElfBytes bytes, ElfLayout layout) throws ElfException {
        BuildId found = new BuildId();
        for (Segment segment : layout.segments()) {
            if (segment.type() == Segment.NOTE && found.id.isEmpty()) {
                ByteBuffer notes = bytes.slice("notes", segment.offset(), segment.fileSize());
                walk(notes, segment.align() == 8 ? 8 : 4, found);
            }
        }
        Optional<Section> section = layout.section(".note.gnu.build-id");
        if (found.id.isEmpty() && section.isPresent()) {
            walk(bytes.slice("notes", section.get().offset(), section.get().size()), 4, found);
        }
        return found.id;
    }

    private static final class BuildId implements Visitor {
        private Optional<byte[]> id = Optional.empty();

        @Override
        public boolean visit(String owner, int type, ByteBuffer body) {
            if (type == BUILD_ID && owner.equals("GNU") && body.limit() > 0 && body.limit() <= LARGEST_BUILD_ID) {
                byte[] found = new byte[body.limit()];
                body.get(0, found);
                id = Optional.of(found);
            }
            return id.isEmpty();
        }
    }

    /// Hands over each note until the end, a note that does not fit, or until the visitor has enough.
    static void walk(ByteBuffer notes, int align, Visitor visitor) {
        long at = 0;
        while (at + 12 <= notes.limit()) {
            long nameSize = notes.getInt((int) at) & 0xffffffffL;
            long bodySize = notes.getInt((int) at + 4) & 0xffffffffL;
            long body = up(at + 12 + nameSize, align);
            if (body + bodySize > notes.limit()) {
                return;
            }
            String owner = ElfLayout.text(notes.slice((int) at + 12, (int) nameSize), 0);
            ByteBuffer content = notes.slice((int) body, (int) bodySize).order(ByteOrder.LITTLE_ENDIAN);
            if (!visitor.visit(owner, notes.getInt((int) at + 8), content)) {
                return;
            }
            at = up(body + bodySize, align);
        }
    }

    private static long up(long value, int align) {
        return (value + align - 1) & -align;
    }
}
