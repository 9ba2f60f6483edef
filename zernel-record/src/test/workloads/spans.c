/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that sleep, compete for one CPU and wait for a lock, with the kernel's own count of their switches.
 *
 *     spans
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLEEPS 5
#define SLEEP_MS 60
#define WORK_MS 300

/* What the kernel knows of the calling thread, at a time between `before` and `after`. */
struct account {
	long before, after, voluntary, involuntary;
	unsigned long waited_ns;
};

static atomic_int rival_runs, done;

static long nanos(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* Again until nothing came between, so that the counts are of that moment. */
static void take(struct account *a)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%ld/schedstat", syscall(SYS_gettid));
	do {
		struct rusage usage;
		FILE *stat;

		a->before = nanos(CLOCK_MONOTONIC);
		stat = fopen(path, "r");
		if (!stat || fscanf(stat, "%*u %lu", &a->waited_ns) != 1)
			a->waited_ns = 0;
		if (stat)
			fclose(stat);
		getrusage(RUSAGE_THREAD, &usage);
		a->voluntary = usage.ru_nvcsw;
		a->involuntary = usage.ru_nivcsw;
		a->after = nanos(CLOCK_MONOTONIC);
	} while (a->after - a->before > 100000);
}

static void tell(const char *name, const struct account *a, const struct account *b)
{
	printf("{\"case\":\"%s\",\"tid\":%ld,\"from\":%ld,\"to\":%ld,\"voluntary\":%ld,\"involuntary\":%ld,"
	       "\"waited_ns\":%lu}\n",
	       name, syscall(SYS_gettid), a->after, b->before, b->voluntary - a->voluntary,
	       b->involuntary - a->involuntary, b->waited_ns - a->waited_ns);
}

static void *sleeper(void *unused)
{
	struct timespec t = { .tv_nsec = SLEEP_MS * 1000000L };
	struct account a, b;

	(void)unused;
	prctl(PR_SET_NAME, "z-sleep");
	take(&a);
	for (int i = 0; i < SLEEPS; i++)
		nanosleep(&t, NULL);
	take(&b);
	tell("sleep", &a, &b);
	return NULL;
}

static void pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void *rival(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "z-rival");
	pin(sched_getcpu());
	rival_runs = 1 + sched_getcpu();
	while (!done)
		;
	return NULL;
}

/* Computes for WORK_MS of CPU time on the CPU of its rival. */
static void *spinner(void *unused)
{
	struct account a, b;
	long start;

	(void)unused;
	prctl(PR_SET_NAME, "z-spin");
	while (!rival_runs)
		;
	pin(rival_runs - 1);
	take(&a);
	start = nanos(CLOCK_THREAD_CPUTIME_ID);
	while (nanos(CLOCK_THREAD_CPUTIME_ID) - start < WORK_MS * 1000000L)
		;
	take(&b);
	done = 1;
	tell("spin", &a, &b);
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	pthread_create(&threads[0], NULL, sleeper, NULL);
	pthread_join(threads[0], NULL);
	pthread_create(&threads[1], NULL, rival, NULL);
	pthread_create(&threads[2], NULL, spinner, NULL);
	pthread_join(threads[1], NULL);
	pthread_join(threads[2], NULL);
	return 0;
}
