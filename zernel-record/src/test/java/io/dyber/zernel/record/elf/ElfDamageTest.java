package io.dyber.zernel.record.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.dyber.zernel.record.elf.x86.SiteChooser;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Damaged files end in an [ElfException] or in an answer: never in another exception, a hang or a huge allocation.
final class ElfDamageTest {
    private static final int ROUNDS = 1000;

    @TempDir
    private Path folder;

    private byte[] library() throws Exception {
        return Files.readAllBytes(Gcc.compile(folder, "libwhole.so", """
                #include <stdlib.h>
                void *mine(unsigned long n) { return malloc(n); }
                int other(void) { return 1; }
                """, "-shared", "-fPIC", "-Wl,--build-id=0x01020304"));
    }

    private static void readAll(Path file) throws ElfException {
        try (ElfFile elf = ElfFile.open(file)) {
            for (SymbolMatches matches : elf.find(List.of("mine", "*", "other@V1", "a::b"))) {
                for (Symbol symbol : matches.symbols()) {
                    if (elf.fileOffset(symbol.address()).isPresent()) {
                        SiteChooser.choose(elf.code(elf.fileOffset(symbol.address()).getAsLong(), 64));
                    }
                }
            }
            assertThat(elf.buildId().orElse("").length()).isLessThan(200);
            assertThat(elf.usdtNotes()).hasSizeLessThan(1000);
            assertThat(elf.pointersTo(Set.of("malloc"))).hasSizeLessThan(1000);
            assertThat(elf.similar("mime", 3)).hasSizeLessThanOrEqualTo(3);
        }
    }

    private void readAllOrComplain(byte[] bytes, String what) throws Exception {
        Path file = Files.write(folder.resolve("damaged.so"), bytes);
        assertThatCode(() -> {
            try {
                readAll(file);
            } catch (ElfException e) {
                assertThat(e).hasMessageStartingWith("reading '" + file + "': ");
            }
        }).as(what).doesNotThrowAnyException();
    }

    @Test
    void cutFilesAreRead() throws Exception {
        byte[] whole = library();
        for (int length = 0; length < whole.length; length += 97) {
            readAllOrComplain(Arrays.copyOf(whole, length), "cut at " + length);
        }
    }

    @Test
    void flippedBytesAreRead() throws Exception {
        byte[] whole = library();
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        Assertions.assertTimeoutPreemptively(Duration.ofMinutes(4), () -> {
            for (int round = 0; round < ROUNDS; round++) {
                byte[] damaged = whole.clone();
                for (int i = random.nextInt(1, 8); i > 0; i--) {
                    damage(damaged, random);
                }
                readAllOrComplain(damaged, "seed " + seed + " round " + round);
            }
        });
    }

    /// Half of the hits go to the headers, where they do most.
    private static void damage(byte[] bytes, Random random) {
        int headers = (int) ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong(40);
        int at = switch (random.nextInt(4)) {
            case 0 -> random.nextInt(16, 64 + 11 * 56);
            case 1 -> headers > 0 && headers < bytes.length ? random.nextInt(headers, bytes.length) : 40;
            default -> random.nextInt(bytes.length);
        };
        int value = random.nextInt(3);
        for (int i = 0; i < (value == 0 ? 1 : 8) && at + i < bytes.length; i++) {
            bytes[at + i] = (byte) (value == 2 ? 0xff : random.nextInt(256));
        }
    }

    @Test
    void symbolNamesThatAllOverlapAreRefusedQuickly() throws Exception {
        // 400,000 symbols whose names all start in one long run of letters without an end.
        int symbols = 400_000;
        int text = 4 << 20;
        ByteBuffer file = ByteBuffer.allocate(64 + 3 * 64 + symbols * 24 + text).order(ByteOrder.LITTLE_ENDIAN);
        file.putInt(0, 0x464c457f).put(4, (byte) 2).put(5, (byte) 1).putShort(16, (short) 3).putLong(40, 64);
        file.putShort(58, (short) 64).putShort(60, (short) 3);
        int table = 64 + 3 * 64;
        file.putInt(64 + 64 + 4, 2).putLong(64 + 64 + 24, table).putLong(64 + 64 + 32, symbols * 24L);
        file.putInt(64 + 64 + 40, 2);
        file.putInt(64 + 128 + 4, 3).putLong(64 + 128 + 24, table + symbols * 24L).putLong(64 + 128 + 32, text);
        for (int i = 1; i < symbols; i++) {
            file.putInt(table + 24 * i, 1).put(table + 24 * i + 4, (byte) 2);
        }
        for (int i = table + symbols * 24; i < file.limit(); i++) {
            file.put(i, (byte) 'a');
        }
        Path path = Files.write(folder.resolve("overlap.so"), file.array());
        Assertions.assertTimeoutPreemptively(Duration.ofMinutes(2), () -> {
            try (ElfFile elf = ElfFile.open(path)) {
                assertThatCode(() -> elf.find("*"))
                        .hasMessageEndingWith("its symbol names overlap in an impossible way");
            }
        });
    }

    @Test
    void functionsOfHundredsOfSymbolTablesHaveNames() throws Exception {
        // 200 tables that share one function and its name.
        int sections = 202;
        ByteBuffer file = ByteBuffer.allocate(176 + sections * 64).order(ByteOrder.LITTLE_ENDIAN);
        file.putInt(0, 0x464c457f).put(4, (byte) 2).put(5, (byte) 1).putShort(16, (short) 3).putLong(32, 64);
        file.putLong(40, 176).putShort(54, (short) 56).putShort(56, (short) 1);
        file.putShort(58, (short) 64).putShort(60, (short) sections);
        file.putInt(64, 1).putInt(64 + 4, 5).putLong(64 + 32, 64);
        file.put(121, "mine".getBytes(StandardCharsets.US_ASCII));
        file.putInt(152, 1).put(152 + 4, (byte) 2).putShort(152 + 6, (short) 1).putLong(152 + 16, 8);
        file.putInt(240 + 4, 3).putLong(240 + 24, 120).putLong(240 + 32, 6);
        for (int at = 304; at < file.limit(); at += 64) {
            file.putInt(at + 4, 2).putLong(at + 24, 128).putLong(at + 32, 48).putInt(at + 40, 1);
        }
        Path path = Files.write(folder.resolve("tables.so"), file.array());
        try (ElfFile elf = ElfFile.open(path)) {
            assertThat(elf.functionIndex().at(4)).contains("mine");
        }
    }
}
