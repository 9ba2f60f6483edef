/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls the runtime, which has no driver before the first call, from several threads all the time:
 *
 *     changeover THREADS MILLISECONDS
 *
 * Says "waiting" and begins when it reads a line. One of the threads waits for the GPU most of the time.
 */
#define _GNU_SOURCE
#define CALL_RUNTIME(name) name
#include "calls.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long end_ns;

void __cudaRegisterFunction(void **fatbin, const char *stub, char *device_stub, const char *name, int limit, void *tid,
			    void *bid, void *block, void *grid, int *width);
cudaError_t __cudaLaunchKernel(cudaKernel_t f, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t s);

void stub_of_scale(void) asm("_Z5scalePffi");
void stub_of_scale(void)
{
	const void *f = (const void *)stub_of_scale;
	dim3 one = { 1, 1, 1 };

	CALL(KIND_cuda_launch, "__cudaLaunchKernel",
	     CALL(KIND_cuda_launch, "cudaLaunchKernel", (int)__cudaLaunchKernel((cudaKernel_t)f, one, one, NULL, 0, NULL), KERNEL(f, 0, 0)),
	     KERNEL(f, 0, 0));
}

static void *work(void *number)
{
	long thread = (long)number;
	cudaStream_t stream = (cudaStream_t)(0x5a0000000000l + 4096 * thread);

	while (now_nanos() < end_ns) {
		void *p = NULL;

		if (thread == 0) {
			call_cudaStreamSynchronize(stream);
			continue;
		}
		call_cudaMalloc(&p, 1000 + (size_t)(thread << 8));
		stub_of_scale();
		call_cudaMemsetAsync(p, 0, 100, stream);
		call_cudaStreamSynchronize(stream);
		call_cudaFree(p);
		usleep(200);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc == 3 ? atoi(argv[1]) : 0;
	pthread_t thread[16];

	if (threads < 1 || threads > 16) {
		fprintf(stderr, "usage: changeover THREADS MILLISECONDS\n");
		return 2;
	}
	printf("waiting %d\n", getpid());
	fflush(stdout);
	for (char c = 0; c != '\n' && read(0, &c, 1) == 1;)
		;
	__cudaRegisterFunction(NULL, (const char *)stub_of_scale, "scale", "_Z5scalePffi", -1, NULL, NULL, NULL, NULL, NULL);
	truth_name((long)stub_of_scale, "scale(float*, float, int)");
	end_ns = now_nanos() + atol(argv[2]) * 1000000;
	for (long i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, (void *)i);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
