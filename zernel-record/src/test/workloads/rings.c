/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads through io_uring by its bare system calls, and prints how many bytes came.
 *
 *     rings FILE OTHER
 *
 * FILE holds at least 64 KiB; OTHER is written to. Where the kernel refuses io_uring it says so and ends well.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "sleeps.h"

#define FILE_FD 700
#define BAD_FD 701
#define PIPE_FD 702
#define OTHER_FD 703
#define LONG_MS 60

static int ring;
static struct io_uring_sqe *entries;
static struct io_uring_cqe *results;
static _Atomic unsigned *submit_tail, *result_head, *result_tail;
static unsigned *submit_mask, *submit_array, *result_mask;
static char buffer[8192];

static int set_up(void)
{
	struct io_uring_params p = { 0 };
	char *sq, *cq;

	ring = syscall(SYS_io_uring_setup, 8, &p);
	if (ring < 0)
		return 0;
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		  IORING_OFF_SQ_RING);
	cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(*results), PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		  IORING_OFF_CQ_RING);
	entries = mmap(NULL, p.sq_entries * sizeof(*entries), PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		       IORING_OFF_SQES);
	submit_tail = (void *)(sq + p.sq_off.tail);
	submit_mask = (void *)(sq + p.sq_off.ring_mask);
	submit_array = (void *)(sq + p.sq_off.array);
	result_head = (void *)(cq + p.cq_off.head);
	result_tail = (void *)(cq + p.cq_off.tail);
	result_mask = (void *)(cq + p.cq_off.ring_mask);
	results = (void *)(cq + p.cq_off.cqes);
	return 1;
}

static int submit(int opcode, int flags, int fd, const void *address, unsigned length, uint64_t offset, int results_wanted)
{
	unsigned tail = *submit_tail, at = tail & *submit_mask;
	struct io_uring_sqe *e = &entries[at];

	memset(e, 0, sizeof(*e));
	e->opcode = opcode;
	e->flags = flags;
	e->fd = fd;
	e->addr = (uintptr_t)address;
	e->len = length;
	e->off = offset;
	submit_array[at] = at;
	*submit_tail = tail + 1;
	return syscall(SYS_io_uring_enter, ring, 1, results_wanted, IORING_ENTER_GETEVENTS, NULL, 0) == 1 ? 0 : -errno;
}

/* One operation, from submission to its result. */
static long perform(int opcode, int flags, int fd, const void *address, unsigned length, uint64_t offset)
{
	long result = submit(opcode, flags, fd, address, length, offset, 1);

	if (result)
		return result;
	while (*result_head == *result_tail)
		syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	result = results[*result_head & *result_mask].res;
	*result_head += 1;
	return result;
}

/* As long after the main thread has begun to wait for it. */
static void *write_late(void *end)
{
	struct timespec t = { .tv_nsec = LONG_MS * 1000000L };

	while (!sleeps(getpid()))
		;
	nanosleep(&t, NULL);
	(void)!write(*(int *)end, "late", 4);
	return NULL;
}

static long now_nanos(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void blocked(void)
{
	pthread_t thread;
	long before, bytes;
	int ends[2];

	(void)!pipe(ends);
	dup2(ends[0], PIPE_FD);
	before = now_nanos();
	pthread_create(&thread, NULL, write_late, &ends[1]);
	bytes = perform(IORING_OP_READ, 0, PIPE_FD, buffer, 16, 0);
	printf("{\"case\":\"blocked\",\"bytes\":%ld,\"outer_ns\":%ld}\n", bytes, now_nanos() - before);
	pthread_join(thread, NULL);
}

/* A read whose result nobody wants, and a write that takes its place in the kernel. */
static void skipped(void)
{
	long status = submit(IORING_OP_READ, IOSQE_CQE_SKIP_SUCCESS, FILE_FD, buffer, 70, 0, 0);
	long bytes = perform(IORING_OP_WRITE, 0, OTHER_FD, buffer, 80, 0);

	printf("{\"case\":\"skipped\",\"status\":%ld,\"written\":%ld}\n", status, bytes);
}

int main(int argc, char **argv)
{
	struct iovec two[] = { { buffer, 100 }, { buffer + 100, 200 } };
	struct iovec whole = { buffer, sizeof(buffer) };
	int fd = argc == 3 ? open(argv[1], O_RDONLY) : -1;
	int other = argc == 3 ? open(argv[2], O_WRONLY | O_CREAT, 0600) : -1;
	long bytes = 0, status;

	if (fd < 0 || dup2(fd, FILE_FD) != FILE_FD || other < 0 || dup2(other, OTHER_FD) != OTHER_FD) {
		fprintf(stderr, "usage: rings FILE OTHER\n");
		return 2;
	}
	if (!set_up()) {
		printf("{\"case\":\"refused\",\"errno\":%d}\n", errno);
		return 0;
	}
	syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &whole, 1);
	syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, &fd, 1);
	for (int i = 0; i < 20; i++)
		bytes += perform(IORING_OP_READ, 0, FILE_FD, buffer, 1000, 1000 * i);
	for (int i = 0; i < 3; i++)
		bytes += perform(IORING_OP_READV, 0, FILE_FD, two, 2, 0);
	for (int i = 0; i < 2; i++)
		bytes += perform(IORING_OP_READ_FIXED, 0, FILE_FD, buffer, 4096, 0);
	bytes += perform(IORING_OP_READ, IOSQE_FIXED_FILE, 0, buffer, 50, 0);
	status = perform(IORING_OP_READ, 0, BAD_FD, buffer, 50, 0);
	printf("{\"case\":\"reads\",\"bytes\":%ld,\"status\":%ld}\n", bytes, status);
	blocked();
	skipped();
	return 0;
}
