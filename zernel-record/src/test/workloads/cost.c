/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For each line "batches calls" on standard input, calls four functions in turn, so many batches of so many calls,
 * and prints the nanoseconds of CPU time that a call of each took, a line per batch. What disturbs the machine for
 * longer than a batch disturbs all four.
 */
#include <stdio.h>
#include <time.h>

#define FUNCTION(name)                                                                                                 \
	__attribute__((noinline)) long name(long number)                                                               \
	{                                                                                                              \
		__asm__ volatile("" ::: "memory");                                                                     \
		return number + 1;                                                                                     \
	}

FUNCTION(cost_none)
FUNCTION(cost_empty)
FUNCTION(cost_argument)
FUNCTION(cost_result)

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static double nanos(long (*function)(long), long calls)
{
	double began = now();

	for (long i = 0; i < calls; i++)
		function(i);
	return (now() - began) / calls;
}

int main(void)
{
	long batches, calls;

	printf("ready\n");
	fflush(stdout);
	while (scanf("%ld %ld", &batches, &calls) == 2) {
		for (long i = 0; i < batches; i++) {
			double none = nanos(cost_none, calls), empty = nanos(cost_empty, calls);
			double argument = nanos(cost_argument, calls), result = nanos(cost_result, calls);

			printf("took %.1f %.1f %.1f %.1f\n", none, empty, argument, result);
		}
		fflush(stdout);
	}
	return 0;
}
