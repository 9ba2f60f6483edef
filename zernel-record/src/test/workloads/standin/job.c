/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls the stand-ins at random from several threads; they write down what is called (STANDIN_TRUTH is the folder).
 *
 *     job all THREADS ROUNDS SEED    every function, so often in every thread; then the same in a forked child
 *     job alloc THREADS CALLS SEED   allocates and frees, some of it twice or never allocated
 *     job launch THREADS CALLS SEED  launches kernels
 *
 * More arguments are other builds of this program, to be run at the same time with the same arguments. Each says
 * "waiting" when it has loaded its libraries, and begins when it reads a line.
 */
#define _GNU_SOURCE
#define CALL_DRIVER(name) name
#define CALL_RUNTIME(name) name
#define CALL_NCCL(name) name
#include "c10_cuda.h"
#include "calls.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define STREAMS 4
#define POOL 64
#define PAGES 8

/* Where a function under test puts the handle it makes, and where the next function takes one from. */
enum pool { NOWHERE, MEMORY, HANDLES, GRAPHS, EXECS, PINNED, COMMS, ENDING, TORCH, POOLS };

static __thread struct {
	unsigned long random;
	int number;
	long streams[STREAMS];
	long pool[POOLS][POOL];
	int in_pool[POOLS];
	enum pool target;
	long out;
	ncclComm_t communicators[2];
	char *pages[PAGES];
} my;

static size_t ignored __attribute__((unused));

static unsigned long dice(unsigned long sides)
{
	my.random ^= my.random << 13;
	my.random ^= my.random >> 7;
	my.random ^= my.random << 17;
	return (my.random >> 16) % sides;
}

static void keep(enum pool pool, long handle)
{
	if (my.in_pool[pool] < POOL)
		my.pool[pool][my.in_pool[pool]++] = handle;
}

static long any_of(enum pool pool)
{
	return my.in_pool[pool] ? my.pool[pool][dice((unsigned long)my.in_pool[pool])] : 0;
}

static long take(enum pool pool)
{
	if (!my.in_pool[pool])
		return 0;
	int i = (int)dice((unsigned long)my.in_pool[pool]);
	long handle = my.pool[pool][i];

	my.pool[pool][i] = my.pool[pool][--my.in_pool[pool]];
	return handle;
}

static void *out(enum pool pool)
{
	my.target = pool;
	my.out = 0;
	return &my.out;
}

/* After a call: what it made is kept for others. */
static void settle(void)
{
	if (my.target != NOWHERE && my.out)
		keep(my.target, my.out);
	my.target = NOWHERE;
}

/* Arguments. */

static unsigned a_size(void)
{
	return 1 + (unsigned)dice(60000);
}

static unsigned a_block(void)
{
	return 1 + (unsigned)dice(40); /* two of them sometimes make more threads than a block may have */
}

static size_t a_memory(void)
{
	return 1 + dice(1u << (4 + dice(18)));
}

static CUstream a_stream(void)
{
	return (CUstream)(dice(8) ? my.streams[dice(STREAMS)] : (long)dice(3));
}

static CUevent an_event(void)
{
	return (CUevent)(0x5e0000000000l + 64 * (long)dice(1000));
}

static CUdeviceptr on_device(void)
{
	return 0x7c0000000000ul + 256 * dice(1 << 20);
}

static void *on_host(void)
{
	long pinned = dice(4) ? 0 : any_of(PINNED);

	return pinned ? (void *)pinned : my.pages[dice(PAGES)] + dice(4096);
}

static CUdeviceptr anywhere(void)
{
	return dice(2) ? on_device() : (CUdeviceptr)on_host();
}

static void *a_page(void)
{
	return my.pages[dice(PAGES / 2)];
}

#define a_registered_page a_page

static int a_device(void)
{
	return (int)dice(DEVICES);
}

static long an_exec(void)
{
	return any_of(EXECS);
}

static long a_graph(void)
{
	return any_of(GRAPHS);
}

static CUfunction a_function(void)
{
	static const char *const names[] = {
#define NAME(number, name, title, stub, rest) name,
		KERNELS(NAME)
	};
	static __thread CUfunction loaded_functions[KERNEL_COUNT];
	unsigned i = (unsigned)dice(KERNEL_COUNT);

	if (!loaded_functions[i])
		call_cuModuleGetFunction(&loaded_functions[i], NULL, names[i]);
	return loaded_functions[i];
}

static CUlaunchConfig *a_config(void)
{
	static __thread CUlaunchConfig config;

	config = (CUlaunchConfig){ a_size(), a_size(), a_size(), a_block(), a_block(), 1, a_size(), a_stream(), NULL, 0 };
	return &config;
}

static dim3 a_grid(void)
{
	return (dim3){ a_size(), a_size(), a_size() };
}

static dim3 a_block_of_threads(void)
{
	return (dim3){ a_block(), a_block(), 1 };
}

static cudaLaunchConfig_t *a_runtime_config(void)
{
	static __thread cudaLaunchConfig_t config;

	config = (cudaLaunchConfig_t){ a_grid(), a_block_of_threads(), a_size(), a_stream(), NULL, 0 };
	return &config;
}

static CUDA_MEMCPY2D *some_rows(void)
{
	static __thread CUDA_MEMCPY2D rows;

	rows.WidthInBytes = a_size();
	rows.Height = a_size();
	return &rows;
}

static CUmemAllocationProp *some_properties(void)
{
	static __thread CUmemAllocationProp properties;

	properties = (CUmemAllocationProp){ .type = 1, .location = { 1, a_device() } };
	return &properties;
}

static enum cudaMemcpyKind a_copy_kind(void)
{
	return (enum cudaMemcpyKind)dice(5);
}

static void *copy_to(enum cudaMemcpyKind kind)
{
	return kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost || (kind == cudaMemcpyDefault && dice(2))
		       ? on_host()
		       : (void *)on_device();
}

static void *copy_from(enum cudaMemcpyKind kind)
{
	return kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice || (kind == cudaMemcpyDefault && dice(2))
		       ? on_host()
		       : (void *)on_device();
}

/* The kind is needed for two arguments before it, so it is chosen when the first one is. */
static __thread enum cudaMemcpyKind direction;
#define TO_AND_FROM(kind, ...)                                                                                         \
	(copy_to(direction), copy_from(direction), FIRST(__VA_ARGS__), direction REST(__VA_ARGS__))
#define ROWS_TO_AND_FROM(kind, width, ...)                                                                             \
	(copy_to(direction), 4096, copy_from(direction), 4096, width, FIRST(__VA_ARGS__), direction REST(__VA_ARGS__))
#define FIRST(first, ...) first
#define REST(first, ...) __VA_OPT__(, ) __VA_ARGS__

static ncclDataType_t a_type(void)
{
	return (ncclDataType_t)dice(ncclNumTypes);
}

static ncclRedOp_t an_operation(void)
{
	return (ncclRedOp_t)dice(ncclNumOps);
}

static int a_peer(void)
{
	return (int)dice(8);
}

static int a_color(void)
{
	return (int)dice(3);
}

static ncclUniqueId *some_ids(void)
{
	static __thread ncclUniqueId id;

	for (size_t i = 0; i < sizeof(id.internal); i++)
		id.internal[i] = (char)i;
	id.internal[dice(2) ? 0 : 127] = (char)dice(100);
	return &id;
}

static ncclUniqueId an_id(void)
{
	return *some_ids();
}

/* One that is used all the time, or one made on the way. */
static ncclComm_t a_communicator(void)
{
	long spare = dice(4) ? 0 : any_of(COMMS);

	return spare ? (ncclComm_t)spare : my.communicators[dice(2)];
}

/* Stays, as in a real program: the recorder reads it some time later. */
static ncclComm_t *new_communicators(void)
{
	return calloc(2, sizeof(ncclComm_t));
}

static ncclComm_t a_communicator_to_end(void)
{
	long spare = take(COMMS);

	if (!spare) {
		call_ncclCommInitRank((ncclComm_t *)out(NOWHERE), 4, an_id(), 3);
		spare = my.out;
	}
	keep(ENDING, spare);
	return (ncclComm_t)spare;
}

/* Most are finalized before. */
static ncclComm_t an_ending_communicator(void)
{
	if (!my.in_pool[ENDING] || dice(4) == 0)
		a_communicator_to_end();
	return (ncclComm_t)take(ENDING);
}

/* What nvcc makes of three kernels: a stub for each, and since CUDA 13 the stub's handle in a static variable. */
#define STUB(number, name, title, stub, rest)                                                                          \
	void stub_##number(void) asm(name);                                                                            \
	void stub_##number(void)                                                                                       \
	{                                                                                                              \
		call_cudaLaunchKernel((const void *)stub_##number, a_grid(), a_block_of_threads(), NULL, 0, a_stream());   \
	}                                                                                                              \
	static cudaKernel_t handle_##number asm("_ZZL" stub rest "E8__handle") __attribute__((used));
KERNELS(STUB)

static const void *a_stub(void)
{
	static void (*const stubs[])(void) = { stub_0, stub_1, stub_2 };

	return (const void *)stubs[dice(KERNEL_COUNT)];
}

void __cudaRegisterFunction(void **fatbin, const char *stub, char *device_stub, const char *name, int limit, void *tid,
			    void *bid, void *block, void *grid, int *width);

/* What nvcc's code does once for each kernel when a program is loaded; again is no harm. */
static void register_kernel(unsigned long kernel)
{
#define REGISTER(number, name, title, stub, rest)                                                                      \
	if (kernel == number) {                                                                                        \
		truth_name((long)stub_##number, title);                                                                \
		__cudaRegisterFunction(NULL, (const char *)stub_##number, name, name, -1, NULL, NULL, NULL, NULL, NULL); \
	}
	KERNELS(REGISTER)
}

static void op_register(void)
{
	CALL(KIND_none, "__cudaRegisterFunction", (register_kernel(dice(KERNEL_COUNT)), 0), );
}

#if CUDART >= 13
cudaError_t __cudaLaunchKernel(cudaKernel_t f, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t s);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t f, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t s);

static cudaKernel_t a_handle(void)
{
#define HANDLE(number, name, title, stub, rest) { &handle_##number, (const void *)stub_##number },
	static const struct {
		cudaKernel_t *handle;
		const void *stub;
	} handles[] = { KERNELS(HANDLE) };
	unsigned i = (unsigned)dice(KERNEL_COUNT);
	cudaKernel_t handle = *handles[i].handle;

	if (!handle) {
		call___cudaGetKernel(&handle, handles[i].stub);
		*handles[i].handle = handle;
	}
	return handle;
}

static const void *a_kernel(void)
{
	return dice(2) ? (const void *)a_handle() : a_stub();
}

/* The one jumps to the other, which is a call of both. */
#define LAUNCH_BY_HANDLE(name)                                                                                         \
	static void op___##name(void)                                                                                  \
	{                                                                                                              \
		cudaKernel_t f = a_handle();                                                                           \
		dim3 grid = a_grid(), block = a_block_of_threads();                                                    \
		unsigned shared = a_size();                                                                            \
		CUstream s = a_stream();                                                                               \
                                                                                                                       \
		CALL(KIND_cuda_launch, "__" #name,                                                                     \
		     CALL(KIND_cuda_launch, #name, (int)__##name(f, grid, block, NULL, shared, s), KERNEL(f, s, shared), \
			  DIMENSIONS(grid, block)),                                                                    \
		     KERNEL(f, s, shared), DIMENSIONS(grid, block));                                                   \
	}
LAUNCH_BY_HANDLE(cudaLaunchKernel)
LAUNCH_BY_HANDLE(cudaLaunchKernel_ptsz)
#else
#define a_kernel a_stub
#endif

static void op_stub(void)
{
	((void (*)(void))a_stub())();
}

static void op_torch_alloc(void)
{
	void *p = c10_alloc(a_memory(), a_stream());

	if (p)
		keep(TORCH, (long)p);
}

static void op_torch_free(void)
{
	long p = take(TORCH);

	if (p)
		c10_delete((void *)p);
}

#define OP(name, sample)                                                                                               \
	static void op_##name(void)                                                                                    \
	{                                                                                                              \
		direction = a_copy_kind();                                                                             \
		call_##name sample;                                                                                    \
		settle();                                                                                              \
	}
#define F(per_thread, kind, name, parameters, arguments, does, sample, ...) OP(name, sample)
#include "driver.def"
#define F(per_thread, kind, name, parameters, arguments, does, sample, ...) OP(name, sample)
#include "runtime.def"
#define F(per_thread, kind, name, parameters, arguments, does, sample, ...) OP(nccl##name, sample)
#include "nccl.def"

static void (*const operations_of_all[])(void) = {
#ifndef ONLY_RUNTIME
#define F(per_thread, kind, name, ...) op_##name,
#include "driver.def"
#endif
#define F(per_thread, kind, name, ...) op_##name,
#include "runtime.def"
#define F(per_thread, kind, name, ...) op_nccl##name,
#include "nccl.def"
#if CUDART >= 13
	op___cudaLaunchKernel, op___cudaLaunchKernel_ptsz,
#endif
	op_stub, op_register, op_torch_alloc, op_torch_free,
};

#define OPERATIONS (sizeof(operations_of_all) / sizeof(operations_of_all[0]))

static void all(long rounds)
{
	unsigned order[OPERATIONS];

	for (unsigned i = 0; i < OPERATIONS; i++)
		order[i] = i;
	for (long round = 0; round < rounds; round++) {
		for (unsigned i = OPERATIONS - 1; i > 0; i--) {
			unsigned j = (unsigned)dice(i + 1), other = order[i];

			order[i] = order[j];
			order[j] = other;
		}
		for (unsigned i = 0; i < OPERATIONS; i++)
			operations_of_all[order[i]]();
	}
	sleep_for(200000000); /* the recorder reads what ncclCommInitAll made in the memory of the process */
}

/* Memory that any thread may free, by how it has to be freed. */
static long shared_memory[2][1024];

static void free_memory(int handle, long p)
{
	if (handle)
		call_cuMemRelease((CUmemGenericAllocationHandle)p);
	else if (dice(3) == 0)
		call_cudaFree((void *)p);
	else if (dice(2))
		call_cuMemFree_v2((CUdeviceptr)p);
	else
		call_cudaFreeAsync((void *)p, a_stream());
}

static long allocate_memory(int handle, size_t n)
{
	long p = 0;

	if (handle)
		call_cuMemCreate((CUmemGenericAllocationHandle *)&p, n, some_properties(), 0);
	else if (dice(3) == 0)
		call_cudaMalloc((void **)&p, n);
	else if (dice(2))
		call_cuMemAlloc_v2((CUdeviceptr *)&p, n);
	else
		call_cudaMallocAsync((void **)&p, n, a_stream());
	return p;
}

/* As NCCL has it: of no device, whatever its number says. */
static void use_host_memory(size_t n)
{
	CUmemAllocationProp of_a_node = { .type = 1, .location = { 3, 1 } };
	CUmemGenericAllocationHandle handle = 0;

	CALL(KIND_none, "cuMemCreate", (int)cuMemCreate(&handle, n, &of_a_node, 0), );
	call_cuMemRelease(handle);
}

static void alloc(long count)
{
	/* Addresses that were freed and are not given out again: those of blocks with an odd size. */
	long retired[16] = { 0 };

	for (long i = 0; i < count; i++) {
		if (i % 10 == 0)
			sleep_for(4000000); /* far more than a training does, but not all that a processor can */
		int handle = dice(5) == 0;
		long *place = &shared_memory[handle][dice(1024)];
		size_t n = a_memory();
		long p = 0;

		if (dice(200) == 0)
			call_cudaSetDevice(a_device());
		switch (dice(20)) {
		case 0:
			if ((p = retired[dice(16)]))
				call_cudaFree((void *)p);
			else
				call_cuMemFree_v2(0x123450000000ul);
			break;
		case 1:
			call_cuMemFree_v2(on_device());
			break;
		case 2:
			if ((p = allocate_memory(0, n | 1))) {
				free_memory(0, p);
				retired[dice(16)] = p;
			}
			break;
		case 3:
			use_host_memory(n);
			break;
		default:
			if (dice(2))
				p = allocate_memory(handle, n);
			p = __atomic_exchange_n(place, p, __ATOMIC_ACQ_REL);
			if (p)
				free_memory(handle, p);
		}
	}
}

static void launch(long count)
{
	for (long i = 0; i < count; i++) {
#if CUDART >= 13
		if (i % 2) {
			__cudaLaunchKernel(a_handle(), a_grid(), (dim3){ 32, 1, 1 }, NULL, 0, (CUstream)my.streams[i % STREAMS]);
			continue;
		}
#endif
		call_cudaLaunchKernel(a_stub(), a_grid(), (dim3){ 32, 1, 1 }, NULL, 0, (CUstream)my.streams[i % STREAMS]);
	}
}

static struct task {
	void (*run)(long);
	long count, seed;
} task;

static void *on_thread(void *number)
{
	memset(&my, 0, sizeof(my));
	my.number = (int)(long)number;
	my.random = 0x9e3779b97f4a7c15ul * (unsigned long)(task.seed + 1000 * my.number + 1);
	for (int i = 0; i < STREAMS; i++)
		my.streams[i] = 0x5a0000000000l + 4096 * my.number + 64 * i;
	for (int i = 0; i < PAGES; i++)
		my.pages[i] = aligned_alloc(4096, 8192);
	call_cudaSetDevice(my.number % DEVICES);
	if (task.run == all) {
		for (int i = 0; i < 2; i++)
			call_ncclCommInitRankConfig(&my.communicators[i], 8, an_id(), my.number, NULL);
	}
	task.run(task.count);
	return NULL;
}

static void run(int threads)
{
	pthread_t thread[64];

	for (long i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, on_thread, (void *)i);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	ledger_print();
	fflush(stdout);
}

static void await_line(void)
{
	char c = 0;

	while (c != '\n' && read(0, &c, 1) == 1)
		;
}

static void start_others(char **argv, int others)
{
	char path[4096];

	for (int i = 5; i < 5 + others; i++) {
		snprintf(path, sizeof(path), "%.*s/%s", (int)(strrchr(argv[0], '/') - argv[0]), argv[0], argv[i]);
		if (fork() == 0) {
			execl(path, path, argv[1], argv[2], argv[3], argv[4], (char *)NULL);
			perror(path);
			_exit(98);
		}
	}
}

int main(int argc, char **argv)
{
	int threads = argc >= 5 ? atoi(argv[2]) : 0;

	if (argc >= 5)
		task = (struct task){ strcmp(argv[1], "all") == 0     ? all
				      : strcmp(argv[1], "alloc") == 0 ? alloc
								      : launch,
				      atol(argv[3]), atol(argv[4]) };
	if (threads < 1 || threads > 64) {
		fprintf(stderr, "usage: job all|alloc|launch THREADS COUNT SEED [JOB...]\n");
		return 2;
	}
	printf("waiting %d\n", getpid());
	fflush(stdout);
	start_others(argv, argc - 5);
	await_line();
	for (unsigned i = 0; i < KERNEL_COUNT; i++)
		CALL(KIND_none, "__cudaRegisterFunction", (register_kernel(i), 0), );
	run(threads);
	if (task.run == all) {
		pid_t child = fork();

		if (child == 0) {
			task.seed += 500;
			run(threads);
			return 0;
		}
	}
	int status = 0, failed = 0;

	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
