/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training whose limit is the CPU: steps of so many launches and allocations, and of work between them.
 *
 *     stepping SECONDS LAUNCHES ALLOCATIONS WORK_US
 *
 * Allocations are given back in the same step, so there are twice as many calls of the allocator. Says "ready" when it has
 * loaded its libraries and made a step, and in the end, or at SIGTERM, writes each step into the file STEPPING: when it began on
 * CLOCK_MONOTONIC, and how long it took, ns. With STANDIN_NAMELESS each step launches a kernel that nothing names.
 */
#define _GNU_SOURCE
#define CALL_DRIVER(name) name
#define CALL_RUNTIME(name) name
#include "c10_cuda.h"
#include "calls.h"
#include "libtorch_cpu.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS 100000
#define LIVE 64

void __cudaRegisterFunction(void **fatbin, const char *stub, char *device_stub, const char *name, int limit, void *tid,
			    void *bid, void *block, void *grid, int *warp);

static long began[MOST_STEPS], took[MOST_STEPS];

/* What a program launches a kernel by. */
static void stub(void)
{
}

static long nameless[8];

static volatile sig_atomic_t ended;

static void on_end(int signal)
{
	(void)signal;
	ended = 1;
}

static void optimize(void)
{
	static const char text[] = "Optimizer.step#AdamW.step";
	struct std_string name = { .data = text, .length = sizeof(text) - 1 };
	void *handle;

	enter_region(&handle, &name, NULL);
	exit_region(&handle);
}

/* What is left of the work is spread over the calls. */
static void step(long launches, long allocations, long work_ns)
{
	void *live[LIVE] = { 0 };
	long calls = launches > allocations ? launches : allocations, each = work_ns / (calls ? calls : 1);

	if (getenv("STANDIN_NAMELESS"))
		cuLaunchKernel((CUfunction)nameless, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	for (long i = 0; i < calls; i++) {
		spend(each);
		if (i < allocations) {
			if (live[i % LIVE])
				c10_delete(live[i % LIVE]);
			live[i % LIVE] = c10_alloc(4096, NULL);
		}
		if (i < launches)
			cudaLaunchKernel((const void *)stub, (dim3){ 64, 1, 1 }, (dim3){ 256, 1, 1 }, NULL, 0, NULL);
	}
	for (int i = 0; i < LIVE; i++) {
		if (live[i])
			c10_delete(live[i]);
	}
	optimize();
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		fprintf(stderr, "usage: stepping SECONDS LAUNCHES ALLOCATIONS WORK_US\n");
		return 2;
	}
	long seconds = atol(argv[1]), launches = atol(argv[2]), allocations = atol(argv[3]), work_ns = 1000 * atol(argv[4]);
	int steps = 0;

	__cudaRegisterFunction(NULL, (const char *)stub, "scale", "_Z5scalePffi", -1, NULL, NULL, NULL, NULL, NULL);
	step(launches, allocations, work_ns);
	printf("ready\n");
	fflush(stdout);
	signal(SIGTERM, on_end);
	for (long end = now_nanos() + seconds * 1000000000l; !ended && now_nanos() < end && steps < MOST_STEPS; steps++) {
		began[steps] = now_nanos();
		step(launches, allocations, work_ns);
		took[steps] = now_nanos() - began[steps];
	}
	FILE *file = getenv("STEPPING") ? fopen(getenv("STEPPING"), "w") : NULL;

	for (int i = 0; file && i < steps; i++)
		fprintf(file, "%ld %ld\n", began[i], took[i]);
	return file && fclose(file);
}
