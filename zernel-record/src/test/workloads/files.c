/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens and reads files in every way that can make it unclear which file a descriptor is, and prints what it did.
 *
 *     files DIRECTORY
 *
 * It makes its files, opens the first, says "ready" and waits for a line. Descriptors from 700 on are its
 * own, so that no other read can be mistaken for these.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 300
#define COLD_BYTES (4 << 20)
#define CHUNK 65536
#define DEEP 12

enum { BEFORE = 700, DUPLICATE, PIPE_END, SOCKET_END, EVENT, MEMORY, RELATIVE, AT, LINK, GONE, COLD, WARM, LONG };

#define TOUCHED 16

static const char *directory;
static char buffer[CHUNK];
static volatile char *mapped_before;

static void check(int well, const char *doing)
{
	if (!well) {
		fprintf(stderr, "files: %s: %s\n", doing, strerror(errno));
		exit(1);
	}
}

static const char *in(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void make(const char *name, size_t size)
{
	int fd = open(in(name), O_CREAT | O_TRUNC | O_WRONLY, 0600);

	check(fd >= 0, name);
	for (size_t done = 0; done < size;) {
		size_t more = size - done < CHUNK ? size - done : CHUNK;

		check(write(fd, buffer, more) == (ssize_t)more, "writing");
		done += more;
	}
	check(fsync(fd) == 0, "writing back");
	close(fd);
}

static void many_name(char *name, int i)
{
	snprintf(name, 32, "many/%03d", i);
}

static void make_all(void)
{
	char name[32];

	mkdir(in("many"), 0700);
	mkdir(in("sub"), 0700);
	for (int i = 0; i < MANY; i++) {
		many_name(name, i);
		make(name, i + 1);
	}
	make("before", 1000);
	make("a", 100);
	make("sub/rel", 100);
	make("at", 100);
	make("gone", 100);
	make("cold", COLD_BYTES);
	make("mapped", COLD_BYTES);
	make("mapped-before", COLD_BYTES);
	check(symlink("a", in("link")) == 0, "linking");
}

/* Moves a descriptor to a number of ours. */
static void as(int fd, int number)
{
	check(fd >= 0, "opening");
	check(dup2(fd, number) == number, "duplicating");
	close(fd);
}

static void many(void)
{
	char name[32];

	for (int i = 0; i < MANY; i++) {
		int fd;

		many_name(name, i);
		fd = open(in(name), O_RDONLY);
		check(read(fd, buffer, CHUNK) == i + 1, "reading");
		check(read(fd, buffer, CHUNK) == 0, "reading the end");
		close(fd);
	}
}

static void special(const char *name, int fd)
{
	struct stat st;

	check(fstat(fd, &st) == 0, name);
	printf("{\"case\":\"%s\",\"inode\":%lu}\n", name, (unsigned long)st.st_ino);
}

/* The same descriptor number, a file first, then one end of a pipe. */
static void reused(void)
{
	int ends[2];

	as(open(in("a"), O_RDONLY), PIPE_END);
	check(read(PIPE_END, buffer, 3) == 3, "reading");
	check(pipe(ends) == 0, "making a pipe");
	as(ends[0], PIPE_END);
	check(write(ends[1], "1234567", 7) == 7, "writing");
	check(read(PIPE_END, buffer, 16) == 7, "reading");
	special("pipe", PIPE_END);
}

static void nameless(void)
{
	uint64_t one = 1;
	int ends[2];

	check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "making sockets");
	as(ends[0], SOCKET_END);
	check(write(ends[1], "12345", 5) == 5, "writing");
	check(read(SOCKET_END, buffer, 16) == 5, "reading");
	special("socket", SOCKET_END);
	as(eventfd(1, 0), EVENT);
	check(read(EVENT, &one, sizeof(one)) == 8, "reading");
	as(memfd_create("z-memory", 0), MEMORY);
	check(write(MEMORY, "123", 3) == 3 && lseek(MEMORY, 0, SEEK_SET) == 0, "writing");
	check(read(MEMORY, buffer, 16) == 3, "reading");
}

static void ways(void)
{
	int folder = open(directory, O_RDONLY | O_DIRECTORY);

	check(chdir(in("sub")) == 0, "changing the folder");
	as(open("rel", O_RDONLY), RELATIVE);
	as(openat(folder, "sub/../at", O_RDONLY), AT);
	as(open("../link", O_RDONLY), LINK);
	as(open(in("gone"), O_RDONLY), GONE);
	check(unlink(in("gone")) == 0, "removing");
	for (int fd = RELATIVE; fd <= GONE; fd++)
		check(read(fd, buffer, 50) == 50, "reading");
	check(open(in("none"), O_RDONLY) == -1, "opening nothing");
	check(open("nowhere/x", O_RDONLY) == -1, "opening nothing");
	check(syscall(SYS_open, NULL, O_RDONLY) == -1, "opening NULL");
	close(folder);
}

static void child(void)
{
	if (fork() == 0)
		_exit(read(DUPLICATE, buffer, 5) != 5);
	wait(NULL);
}

static long absent_bytes(int fd)
{
	unsigned char present[COLD_BYTES / 4096];
	void *memory = mmap(NULL, COLD_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	long absent = 0;

	check(memory != MAP_FAILED && mincore(memory, COLD_BYTES, present) == 0, "looking at the page cache");
	for (size_t i = 0; i < sizeof(present); i++)
		absent += present[i] & 1 ? 0 : 4096;
	munmap(memory, COLD_BYTES);
	return absent;
}

static void read_all(int fd)
{
	while (read(fd, buffer, CHUNK) > 0)
		;
}

static void cold(void)
{
	as(open(in("cold"), O_RDONLY), COLD);
	check(posix_fadvise(COLD, 0, 0, POSIX_FADV_DONTNEED) == 0, "emptying the page cache");
	printf("{\"case\":\"cold\",\"absent_bytes\":%ld}\n", absent_bytes(COLD));
	read_all(COLD);
	as(open(in("cold"), O_RDONLY), WARM);
	printf("{\"case\":\"warm\",\"absent_bytes\":%ld}\n", absent_bytes(WARM));
	read_all(WARM);
}

/* Maps a file that is in memory nowhere. */
static volatile char *map(int fd)
{
	void *memory;

	check(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0, "emptying the page cache");
	memory = mmap(NULL, COLD_BYTES, PROT_READ, MAP_SHARED, fd, 0);

	/* Each fault then reads one page. */
	check(memory != MAP_FAILED && madvise(memory, COLD_BYTES, MADV_RANDOM) == 0, "mapping");
	return memory;
}

/*
 * Reads one byte in every 64 pages. A page that storage has delivered before the thread could go to sleep is a major
 * fault too, but no wait.
 */
static void touch(const char *name, volatile char *memory)
{
	struct rusage before, after;

	getrusage(RUSAGE_THREAD, &before);
	for (int i = 0; i < TOUCHED; i++)
		(void)memory[i * (COLD_BYTES / TOUCHED)];
	getrusage(RUSAGE_THREAD, &after);
	printf("{\"case\":\"%s\",\"waits\":%ld}\n", name, after.ru_nvcsw - before.ru_nvcsw);
}

static void mapped(void)
{
	int fd = open(in("mapped"), O_RDONLY);
	volatile char *memory = map(fd);

	close(fd);
	touch("mapped", memory);
	touch("mapped-before", mapped_before);
}

/* To be written in each way, and to be read although it may make the file. */
static void accesses(void)
{
	struct open_how how = {.flags = O_RDWR};

	mkdir(in("accesses"), 0700);
	close(creat(in("accesses/creat"), 0600));
	close(syscall(SYS_open, in("accesses/open"), O_CREAT | O_WRONLY | O_TRUNC, 0600));
	close(open(in("accesses/openat"), O_CREAT | O_WRONLY | O_APPEND, 0600));
	close(syscall(SYS_openat2, AT_FDCWD, in("accesses/openat"), &how, sizeof(how)));
	close(open(in("accesses/read"), O_CREAT | O_RDONLY, 0600));
	close(open(in("accesses"), O_RDONLY | O_DIRECTORY));
	check(open(in("accesses"), O_WRONLY) == -1, "writing a folder");
}

/* A path of 12 x 101 bytes and more: longer than a record of the recorder. */
static void deep(void)
{
	char name[101];

	memset(name, 'd', 100);
	name[100] = 0;
	for (int i = 0; i < DEEP; i++) {
		name[0] = 'a' + i;
		check(mkdir(name, 0700) == 0 && chdir(name) == 0, "going deep");
	}
	as(open("leaf", O_CREAT | O_RDWR, 0600), LONG);
	check(read(LONG, buffer, 1) == 0, "reading");
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: files DIRECTORY\n");
		return 2;
	}
	directory = argv[1];
	setvbuf(stdout, NULL, _IOLBF, 0);
	make_all();
	as(open(in("before"), O_RDONLY), BEFORE);
	fd = open(in("mapped-before"), O_RDONLY);
	mapped_before = map(fd);
	close(fd);
	puts("ready");
	if (!fgets(buffer, sizeof(buffer), stdin))
		return 1;
	check(read(BEFORE, buffer, 1000) == 1000, "reading");
	many();
	as(open(in("a"), O_RDONLY), DUPLICATE);
	check(read(DUPLICATE, buffer, 10) == 10, "reading");
	reused();
	nameless();
	ways();
	child();
	cold();
	mapped();
	accesses();
	deep();
	return 0;
}
