package io.dyber.zernel.record.elf;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/// Reads the notes of SystemTap's `<sys/sdt.h>` that describe USDT tracepoints.
final class UsdtNotes {
    private static final int TYPE = 3;
    private static final int MOST = 100_000;

    private UsdtNotes() {}

    static List<UsdtNote> read(ElfBytes bytes, ElfLayout layout) throws ElfException {
        List<UsdtNote> notes = new ArrayList<>();
        long base = layout.section(".stapsdt.base").map(Section::address).orElse(0L);
        for (Section section : layout.sections()) {
            if (section.type() == Section.NOTE && section.name().equals(".note.stapsdt")) {
                ByteBuffer content = bytes.slice("tracepoint notes", section.offset(), section.size());
                ElfNotes.walk(content, 4, (owner, type, body) -> {
                    if (owner.equals("stapsdt") && type == TYPE && body.limit() >= 24) {
                        add(notes, layout, base, body);
                    }
                    return notes.size() < MOST;
                });
            }
        }
        return notes;
    }

    private static void add(List<UsdtNote> notes, ElfLayout layout, long base, ByteBuffer body) {
        // Prelinking moves code after the notes were written; the base section moves with it.
        long noteBase = body.getLong(8);
        long moved = base != 0 && noteBase != 0 ? base - noteBase : 0;
        long semaphore = body.getLong(16);
        String provider = ElfLayout.text(body, 24);
        int nameAt = 24 + length(body, 24) + 1;
        String name = ElfLayout.text(body, nameAt);
        String arguments = ElfLayout.text(body, nameAt + length(body, nameAt) + 1);
        long offset = layout.fileOffset(body.getLong(0) + moved).orElse(-1);
        long semaphoreOffset = semaphore == 0 ? 0 : layout.fileOffset(semaphore + moved).orElse(-1);
        if (offset >= 0 && semaphoreOffset >= 0) {
            notes.add(new UsdtNote(provider, name, offset, semaphoreOffset, UsdtArgument.parseAll(arguments)));
        }
    }

    private static int length(ByteBuffer text, int start) {
        int end = start;
        while (end < text.limit() && text.get(end) != 0) {
            end++;
        }
        return end - start;
    }
}
