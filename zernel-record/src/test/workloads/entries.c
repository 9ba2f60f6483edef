/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes for a second of CPU time in each of five ways, each in a thread named after it: in its own code, in page faults on
 * memory that it gives back at once, in a system call that copies zeros, in one that unmaps memory which is in place, and in
 * calls of a function that is to be probed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define BLOCK (64UL << 20)

static volatile unsigned long sum;
static int zeros;
static char buffer[16 << 20];

static long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static char *mapped(int flags)
{
	char *block = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (block == MAP_FAILED) {
		perror("entries: mapping memory");
		exit(1);
	}
	return block;
}

static void own(void)
{
	for (int i = 0; i < 1000000; i++)
		sum += i;
}

static void fault(void)
{
	char *block = mapped(0);

	for (size_t at = 0; at < BLOCK; at += 4096)
		block[at] = 1;
	munmap(block, BLOCK);
}

static void copy(void)
{
	if (read(zeros, buffer, sizeof(buffer)) <= 0)
		exit(1);
}

/* The kernel puts all of it in place in mmap. */
static void populate(void)
{
	munmap(mapped(MAP_POPULATE), BLOCK);
}

__attribute__((noinline)) long called(long n)
{
	sum += n;
	return n;
}

/* It calls another, so that it is probed where it is left. */
__attribute__((noinline)) long probed(long n)
{
	return called(n) + 1;
}

static void probe(void)
{
	for (int i = 0; i < 100; i++)
		probed(i);
}

struct way {
	const char *name;
	void (*once)(void);
};

static void *run(void *argument)
{
	struct way *way = argument;

	prctl(PR_SET_NAME, way->name);
	while (cpu_ms() < 1000)
		way->once();
	return NULL;
}

int main(void)
{
	struct way ways[] = {
		{ "z-own", own }, { "z-fault", fault }, { "z-copy", copy }, { "z-populate", populate }, { "z-probed", probe },
	};

	zeros = open("/dev/zero", O_RDONLY);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, run, &ways[i]);
		pthread_join(thread, NULL);
	}
	return 0;
}
