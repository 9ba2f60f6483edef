/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a training step, in C: each waits or computes for a given time, and says when it began and ended. */

#include <time.h>

#define PROBED __attribute__((noinline, noclone, visibility("default")))

static long nanos(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void asleep(long us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000};

	nanosleep(&t, NULL);
}

static void busy(long us)
{
	long end = nanos() + us * 1000;

	while (nanos() < end)
		;
}

PROBED long next_batch(long us)
{
	long began = nanos();

	asleep(us);
	return nanos() - began;
}

PROBED long compute(long us)
{
	long began = nanos();

	busy(us);
	return nanos() - began;
}

PROBED long update(long us)
{
	long began = nanos();

	busy(us);
	return nanos() - began;
}

PROBED long save(long us)
{
	long began = nanos();

	asleep(us);
	return nanos() - began;
}
