/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that are woken by others and by timers, and two processes that compete for one CPU.
 *
 *     wakes
 *
 * Each waits TIMES times, under a name of its own, and says who woke it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIMES 5
#define WAIT_MS 60
#define WORK_MS 400
#define MOST_CPUS 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int turn, done;
static int word, ends[2];
static char zeros[1 << 20];

static void pause_ms(long milliseconds)
{
	struct timespec t = { .tv_nsec = milliseconds * 1000000L };

	nanosleep(&t, NULL);
}

static long cpu_nanos(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void tell(const char *name)
{
	printf("{\"case\":\"%s\",\"pid\":%d,\"tid\":%ld}\n", name, getpid(), syscall(SYS_gettid));
}

/* Has the lock whenever the other one comes for it. */
static void *holder(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "z-holder");
	tell("holder");
	for (int i = 0; i < TIMES; i++) {
		pthread_mutex_lock(&lock);
		turn = i + 1;
		pause_ms(WAIT_MS);
		pthread_mutex_unlock(&lock);
		while (turn == i + 1)
			sched_yield();
	}
	return NULL;
}

static void *locked(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "z-locked");
	for (int i = 0; i < TIMES; i++) {
		while (turn != i + 1)
			sched_yield();
		pthread_mutex_lock(&lock);
		turn = 0;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *writer(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "z-writer");
	tell("writer");
	for (int i = 0; i < TIMES; i++) {
		pause_ms(WAIT_MS);
		(void)!write(ends[1], "", 1);
	}
	return NULL;
}

static void *reader(void *unused)
{
	char byte;

	(void)unused;
	prctl(PR_SET_NAME, "z-reader");
	for (int i = 0; i < TIMES; i++)
		(void)!read(ends[0], &byte, 1);
	return NULL;
}

/* Keeps its CPU busy, in the program or in the kernel, so that the timer interrupts that. */
static void *busy(void *in_kernel)
{
	int zero = open("/dev/zero", O_RDONLY);

	prctl(PR_SET_NAME, "z-busy");
	while (!done) {
		if (in_kernel)
			(void)!read(zero, zeros, sizeof(zeros));
	}
	close(zero);
	return NULL;
}

static void *sleeper(void *name)
{
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < TIMES; i++)
		pause_ms(WAIT_MS);
	return NULL;
}

/* A lock that nobody gives back. */
static void *gives_up(void *unused)
{
	struct timespec t = { .tv_nsec = WAIT_MS * 1000000L };

	(void)unused;
	prctl(PR_SET_NAME, "z-gives-up");
	for (int i = 0; i < TIMES; i++)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
	return NULL;
}

static void together(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, first, NULL);
	pthread_create(&threads[1], NULL, second, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

static void on_busy_cpus(void *in_kernel, char *name)
{
	pthread_t threads[MOST_CPUS], thread;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	done = 0;
	for (int i = 0; i < cpus && i < MOST_CPUS; i++)
		pthread_create(&threads[i], NULL, busy, in_kernel);
	pthread_create(&thread, NULL, sleeper, name);
	pthread_join(thread, NULL);
	done = 1;
	for (int i = 0; i < cpus && i < MOST_CPUS; i++)
		pthread_join(threads[i], NULL);
}

static void pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void rivals(void)
{
	long start;
	pid_t child;

	pin(sched_getcpu());
	child = fork();
	if (child == 0) {
		prctl(PR_SET_NAME, "z-rival");
		tell("rival");
		fflush(stdout);
		for (;;)
			;
	}
	prctl(PR_SET_NAME, "z-spin");
	tell("spin");
	start = cpu_nanos();
	while (cpu_nanos() - start < WORK_MS * 1000000L)
		;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	(void)!pipe(ends);
	together(holder, locked);
	together(writer, reader);
	together(gives_up, gives_up);
	on_busy_cpus(NULL, "z-sleep");
	on_busy_cpus(&word, "z-nap");
	rivals();
	return 0;
}
