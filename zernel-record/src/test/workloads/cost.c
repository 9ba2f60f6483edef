/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a function as often as each line on standard input says, and prints the nanoseconds of a call. */
#include <stdio.h>
#include <time.h>

__attribute__((noinline)) long cost_me(long number)
{
	__asm__ volatile("" ::: "memory");
	return number + 1;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(void)
{
	long calls, sum = 0;

	printf("ready\n");
	fflush(stdout);
	while (scanf("%ld", &calls) == 1) {
		double began = now();

		for (long i = 0; i < calls; i++)
			sum += cost_me(i);
		printf("took %.1f\n", (now() - began) / calls);
		fflush(stdout);
	}
	return sum == 1;
}
