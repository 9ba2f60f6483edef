/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the pretended GPUs beside their memory: graphs being captured, pinned host memory, kernels. */
#ifndef STANDIN_GPU_H
#define STANDIN_GPU_H

#include <stddef.h>

/* Kernels: number, mangled name, name, mangled name of the stub that nvcc makes for it, the rest of that name. */
#define KERNELS(K)                                                                                                     \
	K(0, "_Z6vecAddPKfS0_Pfi", "vecAdd(float const*, float const*, float*, int)",                                  \
	  "32__device_stub__Z6vecAddPKfS0_Pfi", "PKfS0_Pfi")                                                           \
	K(1, "_Z5scalePffi", "scale(float*, float, int)", "26__device_stub__Z5scalePffi", "Pffi")                      \
	K(2, "_Z9transposePKdPdii", "transpose(double const*, double*, int, int)",                                     \
	  "33__device_stub__Z9transposePKdPdii", "PKdPdii")
#define KERNEL_COUNT 3

/* What `kernel` should say of a mangled name; NULL for others. */
const char *kernel_title(const char *mangled);

/* Capturing: launches on the stream go into its graph. A graph, or an executable made of it, has a count. */
int capture_begin(long stream);
int capture_end(long stream, long *graph);
void capture_launch(long stream);
int capture_instantiate(long graph, long *exec);
/* The launches in a graph, or NONE for a handle that is not one. */
long capture_count(long handle);

int host_pin(void *address, size_t bytes);
int host_unpin(void *address);
const char *pinned_name(const void *address);

/* Of this thread. */
int current_device(void);
void choose_device(int device);

/* Spends the time, on the CPU or blocked. */
void spend(long nanos);
void sleep_for(long nanos);

#endif
