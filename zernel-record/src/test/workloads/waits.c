/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and waits of known sizes and lengths, and prints how long each took as seen from here.
 *
 *     waits FILE
 *
 * FILE holds at least 64 KiB. It is read through descriptor 700, so that no other read can be mistaken for
 * these; each kind of wait is on a thread of its own, named after it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "sleeps.h"

#define FILE_FD 700
#define BAD_FD 701
#define TIMES 5
#define LONG_MS 250

struct waiter {
	const char *name;
	void (*wait)(int milliseconds);
	long outer_ns[TIMES];
};

static int event_fd, epoll_fd, ready[2];

static long now_nanos(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void wait_futex(int milliseconds)
{
	static int word = 1;
	struct timespec t = { .tv_nsec = milliseconds * 1000000L };

	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &t, NULL, 0);
}

static void wait_poll(int milliseconds)
{
	struct pollfd p = { .fd = event_fd, .events = POLLIN };

	poll(&p, 1, milliseconds);
}

static void wait_epoll(int milliseconds)
{
	struct epoll_event e;

	epoll_wait(epoll_fd, &e, 1, milliseconds);
}

static void wait_semaphore(int milliseconds)
{
	static sem_t semaphore;
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += milliseconds * 1000000L;
	t.tv_sec += t.tv_nsec / 1000000000L;
	t.tv_nsec %= 1000000000L;
	sem_timedwait(&semaphore, &t);
}

static void *write_ready(void *milliseconds)
{
	struct timespec t = { .tv_nsec = *(int *)milliseconds * 1000000L };

	nanosleep(&t, NULL);
	(void)!write(ready[1], "", 1);
	return NULL;
}

/* The second of two descriptors becomes ready. */
static void wait_ready(int milliseconds)
{
	struct pollfd p[] = { { .fd = event_fd, .events = POLLIN }, { .fd = ready[0], .events = POLLIN } };
	pthread_t thread;
	char byte;

	pthread_create(&thread, NULL, write_ready, &milliseconds);
	poll(p, 2, -1);
	(void)!read(ready[0], &byte, 1);
	pthread_join(thread, NULL);
}

static void *run(void *argument)
{
	struct waiter *w = argument;

	prctl(PR_SET_NAME, w->name);
	for (int i = 0; i < TIMES; i++) {
		long before = now_nanos();

		w->wait(LONG_MS);
		w->outer_ns[i] = now_nanos() - before;
		/* Two that a threshold of 120 ms leaves out. */
		w->wait(1);
		w->wait(0);
	}
	return NULL;
}

static void waits(void)
{
	struct waiter waiters[] = {
		{ "z-futex", wait_futex, { 0 } },
		{ "z-poll", wait_poll, { 0 } },
		{ "z-epoll", wait_epoll, { 0 } },
		{ "z-sem", wait_semaphore, { 0 } },
		{ "z-ready", wait_ready, { 0 } },
	};
	struct epoll_event e = { .events = EPOLLIN };
	struct stat st;

	(void)!pipe(ready);
	fstat(ready[0], &st);
	printf("{\"case\":\"pipe\",\"inode\":%lu}\n", (unsigned long)st.st_ino);
	event_fd = eventfd(0, EFD_NONBLOCK);
	epoll_fd = epoll_create1(0);
	epoll_ctl(epoll_fd, EPOLL_CTL_ADD, event_fd, &e);
	for (int i = 0; i < 5; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, run, &waiters[i]);
		pthread_join(thread, NULL);
		printf("{\"case\":\"%s\",\"outer_ns\":[", waiters[i].name);
		for (int k = 0; k < TIMES; k++)
			printf("%s%ld", k ? "," : "", waiters[i].outer_ns[k]);
		printf("]}\n");
	}
}

/* 44600 bytes: 10 x 4096 and 3 x 1000, 2 x (100 + 200), 10 + 20, 10; nothing at the end; two errors. */
static int reads(const char *path)
{
	char buffer[8192];
	struct iovec two[] = { { buffer, 100 }, { buffer + 100, 200 } };
	struct iovec small[] = { { buffer, 10 }, { buffer + 10, 20 } };
	int fd = open(path, O_RDONLY);
	long bytes = 0;

	if (fd < 0 || dup2(fd, FILE_FD) != FILE_FD)
		return 1;
	for (int i = 0; i < 10; i++)
		bytes += read(FILE_FD, buffer, 4096);
	for (int i = 0; i < 3; i++)
		bytes += pread(FILE_FD, buffer, 1000, 500 * i);
	for (int i = 0; i < 2; i++)
		bytes += readv(FILE_FD, two, 2);
	bytes += preadv(FILE_FD, small, 2, 64);
	bytes += preadv2(FILE_FD, small, 1, 64, 0);
	lseek(FILE_FD, 0, SEEK_END);
	bytes += read(FILE_FD, buffer, 4096);
	if (read(BAD_FD, buffer, 1) != -1 || pread(FILE_FD, buffer, 1, -1) != -1)
		return 1;
	printf("{\"case\":\"reads\",\"bytes\":%ld}\n", bytes);
	return 0;
}

/* Lets the main thread block for LONG_MS in a read of a pipe. */
static void *write_late(void *pipe_end)
{
	struct timespec t = { .tv_nsec = LONG_MS * 1000000L };

	while (!sleeps(getpid()))
		;
	nanosleep(&t, NULL);
	(void)!write(*(int *)pipe_end, "late", 4);
	return NULL;
}

static void blocked_read(void)
{
	char buffer[16];
	int ends[2];
	pthread_t thread;
	long before;

	(void)!pipe(ends);
	dup2(ends[0], FILE_FD + 2);
	before = now_nanos();
	pthread_create(&thread, NULL, write_late, &ends[1]);
	(void)!read(FILE_FD + 2, buffer, sizeof(buffer));
	printf("{\"case\":\"blocked-read\",\"outer_ns\":%ld}\n", now_nanos() - before);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: waits FILE\n");
		return 2;
	}
	if (reads(argv[1])) {
		fprintf(stderr, "waits: opening '%s': %s\n", argv[1], strerror(errno));
		return 1;
	}
	blocked_read();
	waits();
	return 0;
}
