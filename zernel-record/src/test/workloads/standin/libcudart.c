/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for libcudart.so.12 or .13 (CUDART): the functions of runtime.def, which call the driver through pointers
 * as the real one does, and what nvcc's generated code calls.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#define CALL_DRIVER(name) (*at_##name)
#include "types.h"
#define F(per_thread, kind, name, parameters, arguments, does, sample, ...) static CUresult(*at_##name) parameters;
#include "driver.def"
#include "calls.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef DRIVER
#define DRIVER "libcuda.so.1"
#endif
#define FUNCTIONS 64

/* Stubs and handles of kernels, and the functions of the driver that they mean. */
static struct function {
	const void *symbol;
	CUkernel kernel;
	CUfunction function;
	char name[64];
} functions[FUNCTIONS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

typedef CUresult (*get_proc_address)(const char *symbol, void **function, int cuda, unsigned long flags,
				     CUdriverProcAddressQueryResult *result);

/* Asks for names without version, as the real runtime does: the driver knows which of them it means. */
static void find(get_proc_address get, const char *name, void **at, int per_thread)
{
	char plain[128];
	char *variant;

	snprintf(plain, sizeof(plain), "%s", name);
	if (per_thread && (variant = strstr(plain, "_pt")))
		*variant = 0;
	if ((variant = strstr(plain, "_v2")))
		*variant = 0;
	if (get(plain, at, variant ? 13000 : 12000, per_thread ? 2 : 1, NULL) != CUDA_SUCCESS) {
		fprintf(stderr, "libcudart: the driver has no %s\n", plain);
		abort();
	}
}

static void load_driver(void)
{
	const char *elsewhere = getenv("STANDIN_DRIVER");
	void *driver = dlopen(elsewhere ? elsewhere : DRIVER, RTLD_NOW);
	get_proc_address get = driver ? (get_proc_address)dlsym(driver, "cuGetProcAddress_v2") : NULL;

	if (!get) {
		fprintf(stderr, "libcudart: no %s\n", DRIVER);
		abort();
	}
	((CUresult(*)(unsigned))dlsym(driver, "cuInit"))(0);
#define F(per_thread, kind, name, parameters, arguments, does, sample, ...)                                            \
	find(get, #name, (void **)&at_##name, per_thread);
#include "driver.def"
}

/* The first call of the runtime loads the driver, as in the real one. */
static void start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load_driver);
}

static struct function *function_of(const void *symbol)
{
	struct function *f = functions;

	while (f < functions + FUNCTIONS - 1 && f->symbol && f->symbol != symbol && f->kernel != symbol)
		f++;
	return f;
}

static CUfunction loaded(const void *symbol)
{
	pthread_mutex_lock(&lock);
	struct function *f = function_of(symbol);

	if (f->symbol && !f->kernel)
		call_cuLibraryGetKernel(&f->kernel, NULL, f->name);
	if (f->symbol && !f->function)
		call_cuKernelGetFunction(&f->function, f->kernel);
	pthread_mutex_unlock(&lock);
	return f->function;
}

static int get_kernel(cudaKernel_t *kernel, const void *symbol)
{
	if (!loaded(symbol))
		return 98; /* cudaErrorInvalidDeviceFunction */
	*kernel = function_of(symbol)->kernel;
	truth_name((long)*kernel, truth_name_of((long)symbol));
	return 0;
}

static CUlaunchConfig *driver_config(const cudaLaunchConfig_t *from)
{
	static __thread CUlaunchConfig config;

	config = (CUlaunchConfig){ from->gridDim.x,  from->gridDim.y,		  from->gridDim.z,
				   from->blockDim.x, from->blockDim.y,		  from->blockDim.z,
				   (unsigned)from->dynamicSmemBytes, from->stream, NULL,
				   0 };
	return &config;
}

static CUDA_MEMCPY2D *rows_of(size_t width, size_t height)
{
	static __thread CUDA_MEMCPY2D rows;

	rows.WidthInBytes = width;
	rows.Height = height;
	return &rows;
}

static int set_device(int device)
{
	CUcontext context;
	int status = call_cuDevicePrimaryCtxRetain(&context, device);

	return status ? status : call_cuCtxSetCurrent(context);
}

#define Z(name) (per_thread ? call_##name##_ptsz : call_##name)
#define D(name) (per_thread ? call_##name##_ptds : call_##name)

static int copy(int per_thread, void *dst, const void *src, size_t n, enum cudaMemcpyKind kind)
{
	switch (kind) {
	case cudaMemcpyHostToHost:
		return 0;
	case cudaMemcpyHostToDevice:
		return D(cuMemcpyHtoD_v2)((CUdeviceptr)dst, src, n);
	case cudaMemcpyDeviceToHost:
		return D(cuMemcpyDtoH_v2)(dst, (CUdeviceptr)src, n);
	case cudaMemcpyDeviceToDevice:
		return D(cuMemcpyDtoD_v2)((CUdeviceptr)dst, (CUdeviceptr)src, n);
	default:
		return D(cuMemcpy)((CUdeviceptr)dst, (CUdeviceptr)src, n);
	}
}

static int copy_async(int per_thread, void *dst, const void *src, size_t n, enum cudaMemcpyKind kind, CUstream s)
{
	switch (kind) {
	case cudaMemcpyHostToHost:
		return 0;
	case cudaMemcpyHostToDevice:
		return Z(cuMemcpyHtoDAsync_v2)((CUdeviceptr)dst, src, n, s);
	case cudaMemcpyDeviceToHost:
		return Z(cuMemcpyDtoHAsync_v2)(dst, (CUdeviceptr)src, n, s);
	case cudaMemcpyDeviceToDevice:
		return Z(cuMemcpyDtoDAsync_v2)((CUdeviceptr)dst, (CUdeviceptr)src, n, s);
	default:
		return Z(cuMemcpyAsync)((CUdeviceptr)dst, (CUdeviceptr)src, n, s);
	}
}

#define F(per_thread_, kind_, name, parameters, arguments, does, sample, ...)                                          \
	cudaError_t name parameters                                                                                    \
	{                                                                                                              \
		enum { per_thread = per_thread_ };                                                                     \
                                                                                                                       \
		start();                                                                                               \
		return (cudaError_t)(does);                                                                            \
	}
#include "runtime.def"

void __cudaRegisterFunction(void **fatbin, const char *stub, char *device_stub, const char *name, int limit, void *tid,
			    void *bid, void *block, void *grid, int *width)
{
	(void)fatbin, (void)device_stub, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)width;
	pthread_mutex_lock(&lock);
	struct function *f = function_of(stub);

	f->symbol = stub;
	snprintf(f->name, sizeof(f->name), "%s", name);
	pthread_mutex_unlock(&lock);
}

#if CUDART >= 13
/* As in the real library: not even a frame of its own. */
#if defined(__x86_64__)
#define JUMP(name)                                                                                                     \
	asm(".globl __" #name "\n"                                                                                     \
	    ".type __" #name ", @function\n"                                                                           \
	    ".p2align 4\n"                                                                                             \
	    "__" #name ":\n"                                                                                           \
	    "	push %rbp\n"                                                                                           \
	    "	mov %rsp, %rbp\n"                                                                                      \
	    "	pop %rbp\n"                                                                                            \
	    "	jmp " #name "\n"                                                                                       \
	    ".size __" #name ", . - __" #name "\n");
#else
#define JUMP(name) extern __typeof__(name) __##name __attribute__((alias(#name)));
#endif
JUMP(cudaLaunchKernel)
JUMP(cudaLaunchKernel_ptsz)
#endif
