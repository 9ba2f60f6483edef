/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for libcupti.so.12 or .13 (CUPTI): the activity API, of a pretended GPU that runs what the stand-in driver is asked to
 * launch. Records have the sizes and offsets of NVIDIA's headers of 12.8 and 13.0, and rubbish in the fields between.
 *
 * Times are the time of day and STANDIN_CUPTI_SHIFT. What it told is written into the folder STANDIN_GPU, in CLOCK_MONOTONIC, at
 * the end of the process. STANDIN_CUPTI_TAKEN says after how many milliseconds another profiler has subscribed,
 * STANDIN_CUPTI_NOT_YET how many calls of cuptiActivityEnable come before CUDA is there, STANDIN_CUPTI_LATE how many milliseconds
 * after its end an activity is complete.
 */
#define _GNU_SOURCE
#include "calls.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, INVALID_PARAMETER = 1, INVALID_OPERATION = 7, MAX_LIMIT = 12, NOT_INITIALIZED = 15, TAKEN = 39 };
enum { MEMCPY = 1, MEMSET = 2, DRIVER_CALL = 4, RUNTIME_CALL = 5, CONCURRENT_KERNEL = 10, OVERHEAD = 17, PEER = 22, KINDS_ = 64 };

#if CUPTI >= 13
#define VERSION 130001
#define KERNEL_SIZE 216
#else
#define VERSION 26
#define KERNEL_SIZE 208
#endif
#define COPY_SIZE 96
#define FILL_SIZE 88
#define CALL_SIZE 40
#define OVERHEAD_SIZE 56

#define STREAMS 4096
#define PENDING 65536
#define EAGER 8192 /* so many wait to be asked for */
#define FUNCTIONS_ 1024
#define NESTING 16

typedef void buffer_requested(uint8_t **buffer, size_t *size, size_t *most);
typedef void buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

struct pending {
	long ready; /* when it is complete, CLOCK_MONOTONIC */
	int size;
	uint8_t bytes[KERNEL_SIZE];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t delivering = PTHREAD_MUTEX_INITIALIZER;
static struct pending *pending;
static int pending_count;
static long free_at[STREAMS]; /* of a stream of the GPU */
static int enabled[KINDS_];
static uint8_t enabled_calls[2][FUNCTIONS_];
static buffer_requested *request;
static buffer_completed *complete;
static size_t dropped;
static uint32_t correlations;
static void *subscriber;
static long began, shift, late;
static FILE *told;

static __thread struct {
	int depth, function, driver;
	uint32_t correlation;
	long began;
} outer;

/* Functions by number, as cuptiGetCallbackName has them. */
static const char *const functions[2][FUNCTIONS_] = {
	{ NULL,
#define F(per_thread, kind, name, ...) #name "_v7000",
#include "runtime.def"
	},
	{ NULL,
#define F(per_thread, kind, name, ...) #name,
#include "driver.def"
	},
};

static long told_by_environment(const char *name)
{
	return getenv(name) ? atol(getenv(name)) : NONE;
}

static uint64_t time_of(long monotonic)
{
	return (uint64_t)(monotonic + shift);
}

static void put(uint8_t *record, int offset, int width, uint64_t value)
{
	memcpy(record + offset, &value, (size_t)width);
}

static void add(const uint8_t *record, int size, long ready)
{
	pthread_mutex_lock(&lock);
	if (pending_count < PENDING) {
		struct pending *p = &pending[pending_count++];

		p->ready = ready;
		p->size = size;
		memcpy(p->bytes, record, (size_t)size);
	} else {
		dropped++;
	}
	pthread_mutex_unlock(&lock);
}

static void tell(const char *kind, const char *name, long start, long end, const struct columns *is, long stream, long correlation)
{
	if (!told)
		return;
	fprintf(told, "%s,\"%s\",%ld,%ld,%d,%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld,%d\n", kind, name, start, end - start,
		current_device(), stream, is->bytes == NONE ? 0 : is->bytes, is->grid_x, is->grid_y, is->grid_z, is->block_x, is->block_y,
		is->block_z, correlation, outer.began, now_nanos(), getpid());
}

/* Name of a copy as PyTorch's profiler writes it. */
static int direction_of(const char *kind, const char **name)
{
	static const char *const names[] = { "", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP" };

	for (int i = 1; i < 11; i++) {
		if (kind && strcmp(kind, names[i]) == 0) {
			*name = names[i];
			return i;
		}
	}
	*name = "HtoD"; /* cudaMemcpyDefault: whatever it was */
	return 1;
}

/* The GPU runs what was launched: after what is before it in its stream, and 5 us later at the earliest. */
static void run(const struct called *row, const struct columns *is)
{
	uint8_t record[KERNEL_SIZE];
	unsigned stream = is->stream == NONE ? 7 : (unsigned)((unsigned long)is->stream % 1000003);
	long *free = &free_at[stream % STREAMS], latest = now_nanos() + 5000, start, end;
	long took = row->kind == KIND_cuda_launch ? 3000 + 1000 * (is->grid_x % 7) : 2000;
	const char *direction;

	pthread_mutex_lock(&lock);
	start = *free > latest ? *free : latest;
	*free = end = start + took;
	pthread_mutex_unlock(&lock);
	memset(record, 0xaa, sizeof(record));
	if (row->kind == KIND_cuda_launch) {
		if (!enabled[CONCURRENT_KERNEL])
			return;
		static const char *const mangled[] = {
#define MANGLED(number, name, title, stub, rest) name,
			KERNELS(MANGLED)
		};
		static const char *const titles[] = {
#define TITLE(number, name, title, stub, rest) title,
			KERNELS(TITLE)
		};
		unsigned k = 0;

		while (k < KERNEL_COUNT && (!is->kernel || strcmp(titles[k], is->kernel) != 0))
			k++;
		put(record, 0, 4, CONCURRENT_KERNEL);
		put(record, 16, 8, time_of(start));
		put(record, 24, 8, time_of(end));
		put(record, 40, 4, (uint64_t)current_device());
		put(record, 48, 4, stream);
		put(record, 52, 4, (uint64_t)is->grid_x);
		put(record, 56, 4, (uint64_t)is->grid_y);
		put(record, 60, 4, (uint64_t)is->grid_z);
		put(record, 64, 4, (uint64_t)is->block_x);
		put(record, 68, 4, (uint64_t)is->block_y);
		put(record, 72, 4, (uint64_t)is->block_z);
		put(record, 92, 4, outer.correlation);
		put(record, 104, 8, (uint64_t)(uintptr_t)(k < KERNEL_COUNT ? mangled[k] : "_Z5otherv"));
		tell("gpu_kernel", k < KERNEL_COUNT ? titles[k] : "other()", start, end, is, stream, outer.correlation);
		add(record, KERNEL_SIZE, end + late);
		return;
	}
	if (is->copy_kind && strcmp(is->copy_kind, "memset") == 0) {
		if (!enabled[MEMSET])
			return;
		put(record, 0, 4, MEMSET);
		put(record, 50, 2, 3);
		tell("gpu_memset", "Memset (Device)", start, end, is, stream, outer.correlation);
		put(record, 8, 8, is->bytes == NONE ? 0 : (uint64_t)is->bytes);
		put(record, 16, 8, time_of(start));
		put(record, 24, 8, time_of(end));
		put(record, 32, 4, (uint64_t)current_device());
		put(record, 40, 4, stream);
		put(record, 44, 4, outer.correlation);
		add(record, FILL_SIZE, end + late);
		return;
	}
	int way = direction_of(is->copy_kind, &direction), peers = way == 10;

	if (!enabled[peers ? PEER : MEMCPY])
		return;
	int pinned = is->host_memory && strcmp(is->host_memory, "pinned") == 0, host = pinned ? 2 : 1;
	int from = way == 1 || way == 9 ? host : 3, to = way == 2 || way == 9 ? host : 3;
	static const char *const memories[] = { "", "Pageable", "Pinned", "Device" };
	char name[64];

	snprintf(name, sizeof(name), "Memcpy %s (%s -> %s)", direction, memories[from], memories[to]);
	tell("gpu_memcpy", name, start, end, is, stream, outer.correlation);
	put(record, 0, 4, peers ? PEER : MEMCPY);
	put(record, 4, 1, (uint64_t)way);
	put(record, 5, 1, (uint64_t)from);
	put(record, 6, 1, (uint64_t)to);
	put(record, 8, 8, is->bytes == NONE ? 0 : (uint64_t)is->bytes);
	put(record, 16, 8, time_of(start));
	put(record, 24, 8, time_of(end));
	put(record, 32, 4, (uint64_t)current_device());
	put(record, 40, 4, stream);
	put(record, peers ? 60 : 44, 4, outer.correlation);
	add(record, COPY_SIZE, end + late);
}

static int number_of(int driver, const char *symbol)
{
	size_t length = strlen(symbol);

	for (int i = 1; i < FUNCTIONS_ && functions[driver][i]; i++) {
		if (strncmp(functions[driver][i], symbol, length) == 0 && (driver ? functions[1][i][length] == 0 : functions[0][i][length] == '_' && functions[0][i][length + 1] == 'v' && functions[0][i][length + 2] == '7'))
			return i;
	}
	return 0;
}

static int deliver(int everything);

static int is_cuda(const char *symbol)
{
	return strncmp(symbol, "cu", 2) == 0;
}

static void on_begin(const char *symbol)
{
	if (!is_cuda(symbol) || outer.depth++)
		return;
	outer.driver = strncmp(symbol, "cuda", 4) != 0;
	outer.function = number_of(outer.driver, symbol);
	outer.correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
	outer.began = now_nanos();
}

/* Calls inside a call have its number, and no record of their own. */
static void on_end(const struct called *row, const struct columns *is)
{
	if (!is_cuda(row->symbol) || !outer.depth)
		return;
	if (strncmp(row->symbol, "cuda", 4) != 0 && row->status == 0 && (row->kind == KIND_cuda_launch || row->kind == KIND_cuda_copy))
		run(row, is);
	if (--outer.depth)
		return;
	if (enabled[outer.driver ? DRIVER_CALL : RUNTIME_CALL] || enabled_calls[outer.driver][outer.function]) {
		uint8_t record[CALL_SIZE];

		memset(record, 0xaa, sizeof(record));
		put(record, 0, 4, outer.driver ? DRIVER_CALL : RUNTIME_CALL);
		put(record, 4, 4, (uint64_t)outer.function);
		put(record, 8, 8, time_of(outer.began));
		put(record, 16, 8, time_of(now_nanos()));
		put(record, 32, 4, outer.correlation);
		add(record, CALL_SIZE, 0);
	}
	if (pending_count > EAGER)
		deliver(0);
}

static void forget(void)
{
	pthread_mutex_init(&lock, NULL);
	pthread_mutex_init(&delivering, NULL);
	memset(enabled, 0, sizeof(enabled));
	memset(enabled_calls, 0, sizeof(enabled_calls));
	pending_count = 0;
	told = NULL;
}

static void open_told(void)
{
	const char *into = getenv("STANDIN_GPU");
	char path[4096];

	if (!into)
		return;
	snprintf(path, sizeof(path), "%s/%d.csv", into, getpid());
	told = fopen(path, "w");
	if (told)
		setlinebuf(told); /* a forked child has nothing left to write */
	if (told)
		fputs("kind,name,begin_ns,dur_ns,device,stream,bytes,grid_x,grid_y,grid_z,block_x,block_y,block_z,correlation,launch_ns,"
		      "told_ns,pid\n", told);
}

__attribute__((constructor)) static void start(void)
{
	struct timespec t;

	began = now_nanos();
	clock_gettime(CLOCK_REALTIME, &t);
	shift = t.tv_sec * 1000000000l + t.tv_nsec - began;
	if (told_by_environment("STANDIN_CUPTI_SHIFT") != NONE)
		shift += told_by_environment("STANDIN_CUPTI_SHIFT");
	if (told_by_environment("STANDIN_CUPTI_LATE") != NONE)
		late = told_by_environment("STANDIN_CUPTI_LATE") * 1000000;
	pending = calloc(PENDING, sizeof(*pending));
	open_told();
	pthread_atfork(NULL, NULL, forget);
	truth_watch(on_begin, on_end);
}

__attribute__((destructor)) static void end(void)
{
	truth_watch(NULL, NULL);
	if (told)
		fclose(told);
}

/* What is complete, or everything. Only what came back whole is handed over. */
static int deliver(int everything)
{
	uint8_t *buffer = NULL;
	size_t size = 0, most = 0, used = 0;
	int kept = 0, taken;
	static struct pending *now_ready;

	if (!request || !complete)
		return INVALID_OPERATION;
	pthread_mutex_lock(&delivering);
	now_ready = now_ready ? now_ready : calloc(PENDING, sizeof(*now_ready));
	taken = 0;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < pending_count; i++) {
		if (everything || pending[i].ready <= now_nanos())
			now_ready[taken++] = pending[i];
		else
			pending[kept++] = pending[i];
	}
	pending_count = kept;
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < taken; i++) {
		if (buffer && used + (size_t)now_ready[i].size > size) {
			complete(NULL, 0, buffer, size, used);
			buffer = NULL;
		}
		if (!buffer) {
			request(&buffer, &size, &most);
			used = 0;
		}
		if (!buffer) {
			dropped++;
			continue;
		}
		memcpy(buffer + used, now_ready[i].bytes, (size_t)now_ready[i].size);
		used += (size_t)now_ready[i].size;
	}
	if (buffer)
		complete(NULL, 0, buffer, size, used);
	pthread_mutex_unlock(&delivering);
	return OK;
}

/* The API. */

int cuptiGetVersion(uint32_t *version)
{
	*version = VERSION;
	return OK;
}

int cuptiGetTimestamp(uint64_t *time)
{
	*time = time_of(now_nanos());
	return OK;
}

int cuptiGetResultString(int result, const char **text)
{
	*text = result == TAKEN		  ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" :
		result == NOT_INITIALIZED ? "CUPTI_ERROR_NOT_INITIALIZED" :
					    "CUPTI_ERROR_UNKNOWN";
	return OK;
}

int cuptiSubscribe(void **made, void *called, void *data)
{
	long taken = told_by_environment("STANDIN_CUPTI_TAKEN");

	(void)called, (void)data;
	if (subscriber || (taken != NONE && now_nanos() - began >= taken * 1000000))
		return TAKEN;
	*made = subscriber = &subscriber;
	return OK;
}

int cuptiUnsubscribe(void *made)
{
	if (!made || made != subscriber)
		return INVALID_PARAMETER;
	subscriber = NULL;
	return OK;
}

int cuptiGetCallbackName(int domain, uint32_t function, const char **name)
{
	if ((domain != 1 && domain != 2) || function >= FUNCTIONS_ || !functions[domain == 1][function])
		return INVALID_PARAMETER;
	*name = functions[domain == 1][function];
	return OK;
}

int cuptiActivityRegisterCallbacks(buffer_requested *requested, buffer_completed *completed)
{
	if (!requested || !completed)
		return INVALID_PARAMETER;
	request = requested;
	complete = completed;
	return OK;
}

int cuptiActivityEnable(int kind)
{
	static long calls;
	long not_yet = told_by_environment("STANDIN_CUPTI_NOT_YET");

	if (not_yet != NONE && calls++ < not_yet)
		return NOT_INITIALIZED;
	if (kind == OVERHEAD) {
		uint8_t record[OVERHEAD_SIZE];

		memset(record, 0xaa, sizeof(record));
		put(record, 0, 4, OVERHEAD);
		put(record, 24, 8, time_of(began));
		put(record, 32, 8, time_of(began) + 12345);
		add(record, OVERHEAD_SIZE, 0);
	}
	enabled[kind] = 1;
	return OK;
}

int cuptiActivityDisable(int kind)
{
	enabled[kind] = 0;
	return OK;
}

#if CUPTI >= 13
int cuptiActivityEnableDriverApi(uint32_t function, uint8_t enable)
{
	enabled_calls[1][function] = enable;
	return OK;
}

int cuptiActivityEnableRuntimeApi(uint32_t function, uint8_t enable)
{
	enabled_calls[0][function] = enable;
	return OK;
}
#endif

int cuptiActivityFlushAll(uint32_t flag)
{
	return deliver(flag == 1);
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
	static const int sizes[KINDS_] = { [MEMCPY] = COPY_SIZE,	    [MEMSET] = FILL_SIZE,   [DRIVER_CALL] = CALL_SIZE,
					   [RUNTIME_CALL] = CALL_SIZE,	    [OVERHEAD] = OVERHEAD_SIZE,
					   [CONCURRENT_KERNEL] = KERNEL_SIZE, [PEER] = COPY_SIZE };
	uint8_t *next = buffer;

	if (*record) {
		uint32_t kind;

		memcpy(&kind, *record, 4);
		next = (uint8_t *)*record + sizes[kind];
	}
	if (next >= buffer + valid)
		return MAX_LIMIT;
	*record = next;
	return OK;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count)
{
	(void)context, (void)stream;
	*count = __atomic_exchange_n(&dropped, 0, __ATOMIC_RELAXED);
	return OK;
}
