/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for libcuda.so.1: the functions of driver.def, and cuGetProcAddress to find them. */
#define _GNU_SOURCE
#include "calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef DRIVER
#define DRIVER "libcuda.so.1"
#endif

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_FOUND = 500, NOT_READY = 600 };

#define MEMORY_BASE 0x7e0000000000l
#define HANDLE_BASE 0
#define FIRST_HANDLE (1 << 20) /* of the ledger: those before are of memory of the host */
#define ON_A_DEVICE 1
#define THREADS_IN_A_BLOCK 1024

struct CUfunc_st {
	char name[64];
};

static int work(long nanos)
{
	spend(nanos);
	return 0;
}

static int launch(CUstream s, unsigned threads)
{
	if (threads > THREADS_IN_A_BLOCK)
		return INVALID_VALUE;
	spend(1000);
	capture_launch((long)s);
	return 0;
}

static int run(long exec, CUstream s)
{
	(void)s;
	return capture_count(exec) == NONE ? INVALID_VALUE : work(2000);
}

static int instantiate(long *exec, long graph)
{
	return capture_instantiate(graph, exec);
}

static int block(void)
{
	sleep_for(20000);
	return 0;
}

static int query(long event)
{
	return event / 64 % 2 ? NOT_READY : 0;
}

static int allocate(CUdeviceptr *p, size_t n)
{
	long address = ledger_alloc(MEMORY_BASE, (long)n, current_device());

	if (!address)
		return OUT_OF_MEMORY;
	*p = (CUdeviceptr)address;
	return 0;
}

static int pitched(CUdeviceptr *p, size_t *pitch, size_t width, size_t height)
{
	*pitch = width;
	return allocate(p, width * height);
}

static int create(CUmemGenericAllocationHandle *handle, size_t n, CUmemLocation location)
{
	static long of_host;
	long made = location.type == ON_A_DEVICE ? ledger_alloc(HANDLE_BASE, (long)n, location.id)
						 : __atomic_add_fetch(&of_host, 1, __ATOMIC_RELAXED);

	if (!made)
		return OUT_OF_MEMORY;
	*handle = (CUmemGenericAllocationHandle)made;
	return 0;
}

static int release(unsigned long long address)
{
	if (address < FIRST_HANDLE)
		ledger_freed = (struct block){ NONE, NONE };
	return address < FIRST_HANDLE || ledger_free((long)address) == 0 ? 0 : INVALID_VALUE;
}

static int reserve(CUdeviceptr *p)
{
	static long next = 0x7a0000000000l;

	*p = (CUdeviceptr)__atomic_add_fetch(&next, 1 << 21, __ATOMIC_RELAXED);
	return 0;
}

static int pin_new(void **p, size_t n)
{
	*p = malloc(n < 4096 ? 4096 : n);
	return *p ? host_pin(*p, n) : OUT_OF_MEMORY;
}

/* The page stays: copies may still be made with it. */
static int unpin(void *p)
{
	return host_unpin(p);
}

static int pin(void *p, size_t n)
{
	return host_pin(p, n);
}

static int context_of(CUcontext *context, CUdevice device)
{
	*context = (CUcontext)(0x7b0000000000l + 4096l * device);
	return 0;
}

static int make_current(CUcontext context)
{
	if (context)
		choose_device((int)(((long)context - 0x7b0000000000l) / 4096));
	return 0;
}

/* A new handle each time, as another module would give. */
static int function_named(long *f, const char *name)
{
	struct CUfunc_st *made = malloc(sizeof(*made));

	snprintf(made->name, sizeof(made->name), "%s", name);
	truth_name((long)made, kernel_title(name));
	*f = (long)made;
	return 0;
}

static int function_of_kernel(long *f, long kernel)
{
	return function_named(f, ((struct CUfunc_st *)kernel)->name);
}

/*
 * Real libcuda starts almost all its functions like this: a comparison, a jump that is never taken, and a jump to the
 * code proper.
 */
#if defined(__x86_64__)
#define EXPORT(name)                                                                                                   \
	asm(".pushsection .text\n"                                                                                     \
	    ".globl " #name "\n"                                                                                       \
	    ".type " #name ", @function\n"                                                                             \
	    ".p2align 4\n" #name ":\n"                                                                                 \
	    "	cmpl $0x321cba00, shut_down(%rip)\n"                                                                   \
	    "	je 1f\n"                                                                                               \
	    "	jmp does_" #name "\n"                                                                                  \
	    "1:	mov $4, %eax\n"                                                                                        \
	    "	ret\n"                                                                                                 \
	    ".size " #name ", . - " #name "\n"                                                                         \
	    ".popsection\n");
__attribute__((visibility("hidden"), used)) int shut_down = 7;
#else
#define EXPORT(name) extern __typeof__(does_##name) name __attribute__((alias("does_" #name), visibility("default")));
#endif

/* The first call starts CUDA: a library that somebody wants to have in the process is loaded. */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*initialize)(void) = library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;

	if (initialize)
		initialize();
}

CUresult cuInit(unsigned flags)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)flags;
	pthread_once(&once, inject);
	return CUDA_SUCCESS;
}

#define F(per_thread, kind, name, parameters, arguments, does, sample, ...)                                            \
	__attribute__((visibility("hidden"), used)) CUresult does_##name parameters                                   \
	{                                                                                                              \
		cuInit(0);                                                                                             \
		return (CUresult)(does);                                                                               \
	}                                                                                                              \
	EXPORT(name)
#include "driver.def"

/* A name without version is that of the caller's CUDA: here, before 13 the first one there was. */
CUresult cuGetProcAddress_v2(const char *symbol, void **function, int cuda, unsigned long flags,
			     CUdriverProcAddressQueryResult *result)
{
	static const char *const versions[2][2] = { { "", "_v2" }, { "_v2", "" } };
	static const char *const variants[] = { "_ptsz", "_ptds", "" };
	void *self = dlopen(DRIVER, RTLD_NOW | RTLD_NOLOAD);
	char name[128];

	(void)result;
	*function = NULL;
	for (int variant = flags & 2 ? 0 : 2; variant < 3; variant++) {
		for (int i = 0; i < 2 && !*function; i++) {
			snprintf(name, sizeof(name), "%s%s%s", symbol, versions[cuda >= 13000][i], variants[variant]);
			*function = dlsym(self, name);
		}
	}
	return (CUresult)(*function ? 0 : NOT_FOUND);
}
