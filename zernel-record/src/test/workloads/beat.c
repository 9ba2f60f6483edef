/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls calls_push(NUMBER, THREAD) of libcalls over and over, whatever happens to those who watch it.
 *
 *     beat LOG COUNT PAUSE_NS THREADS
 *
 * Thread 0 writes a line for each of its calls to LOG: the number, CLOCK_MONOTONIC before it, and whether the function's
 * code is not what it was built as, that is, whether somebody probes it. Says "beating" when it begins.
 */
#define _GNU_SOURCE
#include "libcalls.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST_THREADS 16
#define PUSH 0x55

static FILE *call_log;
static long count, pause_ns;

static int is_probed(void)
{
	return *(volatile unsigned char *)calls_push != PUSH;
}

static void *beat(void *thread)
{
	long number = (long)thread;
	struct timespec pause = { pause_ns / 1000000000, pause_ns % 1000000000 };

	for (long i = 0; i < count; i++) {
		if (number == 0 && pause_ns) {
			fprintf(call_log, "%ld,%ld,%d\n", i, now_nanos(), is_probed());
			fflush(call_log);
		}
		calls_push(i, (unsigned)number);
		if (pause_ns)
			clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MOST_THREADS];
	long n = argc > 4 ? atol(argv[4]) : 1;

	if (argc < 4 || n > MOST_THREADS || !(call_log = fopen(argv[1], "w")))
		return 2;
	count = atol(argv[2]);
	pause_ns = atol(argv[3]);
	printf("beating\n");
	fflush(stdout);
	for (long i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, beat, (void *)i);
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("beaten\n");
	return 0;
}
