/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes of known sizes in every way, and what else makes storage work.
 *
 *     writes DIRECTORY
 *
 * Its descriptors are 700 and following, so that no other write can be mistaken for these.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "sleeps.h"

#define LONG_MS 250

enum { OUT = 700, COPY, READ_ONLY, PIPE_OUT, PIPE_IN, FULL_OUT, FULL_IN, FOLDER };

static char buffer[1 << 20];

static void check(int well, const char *doing)
{
	if (!well) {
		fprintf(stderr, "writes: %s: %s\n", doing, strerror(errno));
		exit(1);
	}
}

static void as(int fd, int number)
{
	check(fd >= 0, "opening");
	check(dup2(fd, number) == number, "duplicating");
	close(fd);
}

static void files(void)
{
	struct iovec two[] = { { buffer, 4096 }, { buffer, 904 } };
	loff_t from = 0;
	off_t offset = 0;
	void *memory;

	as(open("out", O_CREAT | O_RDWR, 0600), OUT);
	as(open("copy", O_CREAT | O_RDWR, 0600), COPY);
	as(open("out", O_RDONLY), READ_ONLY);
	for (int i = 0; i < 3; i++)
		check(write(OUT, buffer, 8192) == 8192, "writing");
	check(pwrite(OUT, buffer, 6000, 0) == 6000, "writing");
	check(writev(OUT, two, 2) == 5000, "writing");
	check(pwritev(OUT, two, 1, 0) == 4096, "writing");
	check(pwritev2(OUT, two, 1, 0, 0) == 4096, "writing");
	for (int i = 0; i < 20; i++)
		check(write(OUT, buffer, 100) == 100, "writing");
	check(write(READ_ONLY, buffer, 100) == -1, "writing what is open to be read");
	check(fsync(OUT) == 0 && fdatasync(OUT) == 0 && syncfs(OUT) == 0, "syncing");
	check(sync_file_range(OUT, 0, 4096, SYNC_FILE_RANGE_WRITE) == 0, "syncing");
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, OUT, 0);
	check(memory != MAP_FAILED && msync(memory, 4096, MS_SYNC) == 0, "syncing memory");
	check(copy_file_range(OUT, &from, COPY, NULL, 7000, 0) == 7000, "copying");
	check(sendfile(COPY, OUT, &offset, 9000) == 9000, "sending");
	check(fallocate(COPY, 0, 0, 65536) == 0 && ftruncate(COPY, 10) == 0, "sizing");
}

static void names(void)
{
	as(open(".", O_RDONLY | O_DIRECTORY), FOLDER);
	check(syscall(SYS_rename, "copy", "a") == 0, "renaming");
	check(syscall(SYS_renameat, FOLDER, "a", FOLDER, "b") == 0, "renaming");
	check(syscall(SYS_renameat2, FOLDER, "b", FOLDER, "c", 0) == 0, "renaming");
	check(syscall(SYS_rename, "none", "d") == -1, "renaming nothing");
}

/* Makes room in the pipe when the main thread has long been waiting for it. */
static void *read_late(void *unused)
{
	struct timespec t = { .tv_nsec = LONG_MS * 1000000L };

	while (!sleeps(getpid()))
		;
	nanosleep(&t, NULL);
	(void)!read(FULL_IN, buffer, sizeof(buffer));
	return unused;
}

static void pipes(void)
{
	int ends[2];
	long size;
	pthread_t thread;
	struct stat st;

	check(pipe(ends) == 0, "making a pipe");
	as(ends[0], PIPE_IN);
	as(ends[1], PIPE_OUT);
	for (int i = 0; i < 3; i++)
		check(write(PIPE_OUT, buffer, 8192) == 8192, "writing");
	check(pipe(ends) == 0, "making a pipe");
	as(ends[0], FULL_IN);
	as(ends[1], FULL_OUT);
	size = fcntl(FULL_OUT, F_GETPIPE_SZ);
	check(write(FULL_OUT, buffer, size) == size, "filling the pipe");
	pthread_create(&thread, NULL, read_late, NULL);
	check(write(FULL_OUT, buffer, 1) == 1, "writing to a full pipe");
	pthread_join(thread, NULL);
	fstat(FULL_OUT, &st);
	printf("{\"case\":\"pipe\",\"inode\":%lu}\n", (unsigned long)st.st_ino);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: writes DIRECTORY\n");
		return 2;
	}
	check(chdir(argv[1]) == 0, argv[1]);
	files();
	names();
	pipes();
	return 0;
}
