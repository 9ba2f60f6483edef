/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls a function a given number of times a second: each line on standard input is calls per second and seconds, each
 * line of output how many calls were made. 0 calls per second: as many as it can.
 */
#include <stdio.h>
#include <time.h>

#define TICK_NS 1000000L

__attribute__((noinline)) long pace_me(long number)
{
	__asm__ volatile("" ::: "memory");
	return number + 1;
}

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* What is due is called in one go at every tick, also what a late tick left. */
static long run(long rate, long nanos)
{
	long began = now(), done = 0, passed;

	while ((passed = now() - began) < nanos) {
		long due = rate ? (long)((double)rate * passed / 1e9) : done + 1000;

		while (done < due)
			pace_me(done++);
		if (rate) {
			struct timespec t = { .tv_nsec = TICK_NS };

			nanosleep(&t, NULL);
		}
	}
	return done;
}

int main(void)
{
	long rate;
	double seconds;

	printf("ready\n");
	fflush(stdout);
	while (scanf("%ld %lf", &rate, &seconds) == 2) {
		printf("called %ld\n", run(rate, (long)(seconds * 1e9)));
		fflush(stdout);
	}
	return 0;
}
