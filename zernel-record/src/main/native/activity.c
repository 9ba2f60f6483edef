/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records what the GPU does for the process that this library is in, by CUPTI, and hands it to the recorder through a ring.
 * The CUDA driver loads it where CUDA_INJECTION64_PATH names it, and calls InitializeInjection() when the program starts CUDA.
 *
 * The job never waits for it: a full ring or a lack of buffers is counted as a loss. A thread switches recording on and off as
 * the recorder says, and has CUPTI hand over what it has. It ends by itself when the recorder is gone, and gives way for good to
 * another profiler in the process, since CUPTI has one user only.
 */
#define _GNU_SOURCE
#include "cupti.h"
#include "libc.h"
#include "names.h"
#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BUFFERS 32
#define BUFFER_BYTES (1 << 20)
#define MOST_FUNCTIONS 2048 /* of a domain of callbacks */
#define FLUSH_NS 200000000l
#define REST_NS 1000000000l
#define LATE_NS                                                                                   \
	3000000000l    /* so long what was launched before it was switched off may still run */
#define MOST_TRIES 300 /* until CUDA is there */

static struct cupti cupti;
static struct ring *ring;
static const volatile struct control *control;
static char folder[256];
static int inert; /* in a forked child, which has no GPU */
static int switching;
static long off_since;
static int hides_others; /* where CUPTI takes what we record for another profiler */
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *buffers[BUFFERS];
static int in_use[BUFFERS];
/* Calls that may launch something, by callback id: runtime and driver. */
static uint8_t launches[2][MOST_FUNCTIONS];

static const int kinds[] = { KIND_CONCURRENT_KERNEL, KIND_MEMCPY, KIND_MEMSET, KIND_MEMCPY_PEER,
			     KIND_OVERHEAD };
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
#define NEEDED_KINDS 3

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000l + t.tv_nsec;
}

static enum ring_state state(void)
{
	return (enum ring_state)__atomic_load_n(&ring->state, __ATOMIC_ACQUIRE);
}

static void become(enum ring_state next)
{
	__atomic_store_n(&ring->state, (uint32_t)next, __ATOMIC_RELEASE);
}

static int is_over(void)
{
	return state() >= RING_ASIDE;
}

/* It is off, and what was launched before may be complete only now. */
static int is_late(void)
{
	return off_since && now() - off_since < LATE_NS;
}

static void lose(enum lost_what what, uint64_t count)
{
	__atomic_fetch_add(&ring->lost[what], count, __ATOMIC_RELAXED);
}

/* Records. */

static void write_kernel(const struct activity_kernel *kernel)
{
	struct record_kernel *record;
	uint32_t name = names_id(ring, kernel->name ? kernel->name : "");

	record = name ? ring_reserve(ring, sizeof(*record), RECORD_KERNEL) : NULL;
	if (!record) {
		lose(LOST_KERNELS, 1);
		return;
	}
	record->start = kernel->start;
	record->end = kernel->end;
	record->device = kernel->device;
	record->stream = kernel->stream;
	record->correlation = kernel->correlation;
	record->name = name;
	memcpy(record->grid, kernel->grid, sizeof(record->grid));
	memcpy(record->block, kernel->block, sizeof(record->block));
	ring_commit(ring);
}

static void write_copy(const struct activity_copy *copy)
{
	struct record_copy *record = ring_reserve(ring, sizeof(*record), RECORD_COPY);

	if (!record) {
		lose(LOST_COPIES, 1);
		return;
	}
	record->start = copy->start;
	record->end = copy->end;
	record->device = copy->device;
	record->stream = copy->stream;
	record->correlation =
		copy->kind == KIND_MEMCPY_PEER ? copy->correlation_of_peers : copy->correlation;
	record->direction = copy->direction;
	record->from = copy->from;
	record->to = copy->to;
	record->unused = 0;
	record->bytes = copy->bytes;
	ring_commit(ring);
}

static void write_fill(const struct activity_fill *fill)
{
	struct record_fill *record = ring_reserve(ring, sizeof(*record), RECORD_FILL);

	if (!record) {
		lose(LOST_FILLS, 1);
		return;
	}
	record->start = fill->start;
	record->end = fill->end;
	record->device = fill->device;
	record->stream = fill->stream;
	record->correlation = fill->correlation;
	record->memory = fill->memory;
	record->bytes = fill->bytes;
	ring_commit(ring);
}

static void write_call(const struct activity_call *call)
{
	uint32_t function = call->function;
	struct record_call *record;

	if (function >= MOST_FUNCTIONS || !launches[call->kind == KIND_DRIVER][function])
		return;
	record = ring_reserve(ring, sizeof(*record), RECORD_CALL);
	if (!record) {
		lose(LOST_CALLS, 1);
		return;
	}
	record->start = call->start;
	record->correlation = call->correlation;
	record->thread = call->thread;
	ring_commit(ring);
}

/* CUPTI gives 0 where it could not find out. */
static int is_timed(uint64_t start, uint64_t end)
{
	if (start && end >= start)
		return 1;
	lose(LOST_UNTIMED, 1);
	return 0;
}

static void write_activity(const void *activity)
{
	const struct activity_kernel *kernel = activity;
	const struct activity_copy *copy = activity;
	const struct activity_fill *fill = activity;
	const struct activity_overhead *overhead = activity;

	switch (kernel->kind) {
	case KIND_KERNEL:
	case KIND_CONCURRENT_KERNEL:
		if (is_timed(kernel->start, kernel->end))
			write_kernel(kernel);
		break;
	case KIND_MEMCPY:
	case KIND_MEMCPY_PEER:
		if (is_timed(copy->start, copy->end))
			write_copy(copy);
		break;
	case KIND_MEMSET:
		if (is_timed(fill->start, fill->end))
			write_fill(fill);
		break;
	case KIND_DRIVER:
	case KIND_RUNTIME:
		write_call(activity);
		break;
	case KIND_OVERHEAD:
		ring->overheads++;
		if (overhead->end > overhead->start)
			ring->overhead_ns += overhead->end - overhead->start;
		break;
	}
}

/* Buffers. CUPTI takes them in threads of the job, so there is a fixed number, and no lock. */

static void requested(uint8_t **buffer, size_t *size, size_t *most_records)
{
	*buffer = NULL;
	*size = 0;
	*most_records = 0;
	for (int i = 0; i < BUFFERS && !inert; i++) {
		if (__atomic_exchange_n(&in_use[i], 1, __ATOMIC_ACQUIRE))
			continue;
		if (!buffers[i])
			buffers[i] = malloc(BUFFER_BYTES);
		*buffer = buffers[i];
		*size = buffers[i] ? BUFFER_BYTES : 0;
		if (!buffers[i])
			__atomic_store_n(&in_use[i], 0, __ATOMIC_RELEASE);
		return;
	}
}

static void give_back(const uint8_t *buffer)
{
	for (int i = 0; i < BUFFERS; i++) {
		if (buffers[i] == buffer)
			__atomic_store_n(&in_use[i], 0, __ATOMIC_RELEASE);
	}
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	void *activity = NULL;
	size_t dropped = 0;

	(void)size;
	if (inert)
		return;
	pthread_mutex_lock(&writing);
	while (buffer && valid &&
	       cupti.cuptiActivityGetNextRecord(buffer, valid, &activity) == CUPTI_OK)
		write_activity(activity);
	if (cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_OK)
		lose(LOST_BY_CUPTI, dropped);
	pthread_mutex_unlock(&writing);
	give_back(buffer);
}

/* The clock: the moment at which CUPTI said a time is between two readings of ours; the closest of some. */
static void write_clock(void)
{
	uint64_t monotonic = 0, time = 0, error = UINT64_MAX;
	struct record_clock *record;

	for (int i = 0; i < 5; i++) {
		uint64_t said = 0, before = (uint64_t)now(), after;

		if (cupti.cuptiGetTimestamp(&said) != CUPTI_OK)
			return;
		after = (uint64_t)now();
		if (after - before < error) {
			error = after - before;
			monotonic = before + error / 2;
			time = said;
		}
	}
	pthread_mutex_lock(&writing);
	record = ring_reserve(ring, sizeof(*record), RECORD_CLOCK);
	if (record) {
		record->monotonic = monotonic;
		record->cupti = time;
		record->error = (error + 1) / 2;
		ring_commit(ring);
	}
	pthread_mutex_unlock(&writing);
}

static void write_switch(int on, long at)
{
	struct record_switch *record;

	pthread_mutex_lock(&writing);
	record = ring_reserve(ring, sizeof(*record), RECORD_SWITCH);
	if (record) {
		record->monotonic = (uint64_t)at;
		record->on = (uint32_t)on;
		record->unused = 0;
		ring_commit(ring);
	}
	pthread_mutex_unlock(&writing);
}

/* Switching. */

static void give_up(enum ring_state how, const char *doing, int result)
{
	if (result)
		snprintf(ring->why, sizeof(ring->why), "%s: %s (%d)", doing,
			 cupti_text(&cupti, result), result);
	else
		snprintf(ring->why, sizeof(ring->why), "%s", doing);
	become(how);
}

static void called(void *data, int domain, uint32_t function, const void *info)
{
	(void)data, (void)domain, (void)function, (void)info;
}

/*
 * Whether a profiler uses CUPTI in this process: then it has subscribed. We do so for a moment only: PyTorch's profiler tries
 * it once, and shows no GPU for the rest of the process where somebody else has subscribed then.
 */
static int is_taken(void)
{
	void *subscriber = NULL;
	int result = cupti.cuptiSubscribe(&subscriber, called, NULL);

	if (result == CUPTI_OK)
		cupti.cuptiUnsubscribe(subscriber);
	return result == CUPTI_SUBSCRIBED || result == CUPTI_LIMIT;
}

/* The same while we record. */
static int comes_another(void)
{
	return !hides_others && is_taken();
}

static void step_aside(void)
{
	give_up(RING_ASIDE, "another profiler uses CUPTI in this process", 0);
}

static int is_launch(const char *name)
{
	if (strstr(name, "Graph"))
		return strstr(name, "GraphLaunch") != NULL;
	return strstr(name, "Memcpy") || strstr(name, "Memset") ||
	       (strstr(name, "Launch") && !strstr(name, "HostFunc"));
}

/* By their names, which stay the same where numbers are added. */
static void find_launches(void)
{
	for (int driver = 0; driver < 2; driver++) {
		for (uint32_t f = 1; f < MOST_FUNCTIONS; f++) {
			const char *name = NULL;
			int domain = driver ? DOMAIN_DRIVER : DOMAIN_RUNTIME;

			if (cupti.cuptiGetCallbackName(domain, f, &name) == CUPTI_OK && name &&
			    is_launch(name))
				launches[driver][f] = 1;
		}
	}
}

/* Of calls, only those that launch, where CUPTI can choose (12.6 and newer). */
static void enable_calls(uint8_t on)
{
	if (!cupti.cuptiActivityEnableDriverApi || !cupti.cuptiActivityEnableRuntimeApi) {
		(on ? cupti.cuptiActivityEnable : cupti.cuptiActivityDisable)(KIND_RUNTIME);
		(on ? cupti.cuptiActivityEnable : cupti.cuptiActivityDisable)(KIND_DRIVER);
		return;
	}
	for (uint32_t f = 1; f < MOST_FUNCTIONS; f++) {
		if (launches[0][f])
			cupti.cuptiActivityEnableRuntimeApi(f, on);
		if (launches[1][f])
			cupti.cuptiActivityEnableDriverApi(f, on);
	}
}

/* In cuInit() some versions of CUPTI are not ready yet, and say so in different ways: then it is tried again. */
static void switch_on(void)
{
	static int tries;
	long began = now();
	int result;

	if (is_taken()) {
		step_aside();
		return;
	}
	result = cupti.cuptiActivityRegisterCallbacks(requested, completed);
	for (unsigned i = 0; i < NEEDED_KINDS && result == CUPTI_OK; i++)
		result = cupti.cuptiActivityEnable(kinds[i]);
	if (result == CUPTI_SUBSCRIBED) {
		step_aside();
		return;
	}
	if (result != CUPTI_OK) {
		give_up(++tries < MOST_TRIES ? RING_OFF : RING_FAILED, "enabling activity records",
			result);
		return;
	}
	ring->why[0] = 0;
	for (unsigned i = NEEDED_KINDS; i < KINDS; i++)
		cupti.cuptiActivityEnable(kinds[i]);
	hides_others = is_taken();
	find_launches();
	enable_calls(1);
	write_clock();
	write_switch(1, began);
	become(RING_ON);
}

static void disable(void)
{
	enable_calls(0);
	for (unsigned i = 0; i < KINDS; i++)
		cupti.cuptiActivityDisable(kinds[i]);
}

static void flush(uint32_t flags)
{
	cupti.cuptiActivityFlushAll(flags);
	write_clock();
}

/* What the other profiler has enabled by now is left alone. */
static void switch_off(void)
{
	if (comes_another()) {
		step_aside();
		return;
	}
	disable();
	write_switch(0, now());
	flush(0);
	off_since = now();
	become(RING_OFF);
}

/* It holds a lock on the file as long as it lives, and removes it at its end. */
static int recorder_lives(void)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	char path[300];
	int file, answer;

	snprintf(path, sizeof(path), "%s/control", folder);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return errno != ENOENT;
	answer = fcntl(file, F_GETLK, &lock);
	close(file);
	return answer < 0 || lock.l_type != F_UNLCK;
}

/* One thread at a time switches, flushes or ends. Returns whether it is this one's turn. */
static int take_turn(void)
{
	for (int i = 0; i < 2000; i++) {
		struct timespec pause = { 0, 1000000 };

		if (!__atomic_exchange_n(&switching, 1, __ATOMIC_ACQUIRE))
			return 1;
		nanosleep(&pause, NULL);
	}
	return 0;
}

static void end_turn(void)
{
	__atomic_store_n(&switching, 0, __ATOMIC_RELEASE);
}

static void tick(void)
{
	static long looked;
	int on = state() == RING_ON;

	if (now() - looked >= REST_NS) {
		looked = now();
		if (!recorder_lives()) {
			if (on && !comes_another())
				disable();
			become(RING_ENDED);
			/* Nobody reads it any more. */
			pthread_mutex_lock(&writing);
			madvise((uint8_t *)ring + RING_HEADER, ring->size, MADV_REMOVE);
			pthread_mutex_unlock(&writing);
			return;
		}
		if (on && comes_another()) {
			step_aside();
			return;
		}
	}
	if (!on && control->wanted)
		switch_on();
	else if (on && !control->wanted)
		switch_off();
	else if (on || is_late())
		flush(0);
}

/* Sleeps until the recorder wants something else, or there may be something to hand over. */
static void rest(uint32_t wanted)
{
	int on = state() == RING_ON, waits = !on && wanted;
	long nanos = on || is_late() ? FLUSH_NS : REST_NS;
	struct timespec time = { 0, waits ? 20000000 : nanos };

	if (time.tv_nsec >= 1000000000l)
		time = (struct timespec){ 1, 0 };
	syscall(SYS_futex, &control->wanted, FUTEX_WAIT, wanted, &time, NULL, 0);
}

static void *run(void *unused)
{
	prctl(PR_SET_NAME, "zernel-activity");
	while (!is_over()) {
		uint32_t wanted = control->wanted;

		rest(wanted);
		if (take_turn()) {
			if (!is_over())
				tick();
			end_turn();
		}
	}
	return unused;
}

/* Without signals: those are the job's. */
static int start_thread(void)
{
	pthread_attr_t detached;
	pthread_t thread;
	sigset_t all, before;
	int result;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	result = pthread_create(&thread, &detached, run, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&detached);
	return result;
}

static void at_exit(void *unused)
{
	int on;

	(void)unused;
	if (inert || is_over() || !take_turn())
		return;
	on = state() == RING_ON;
	/* What another profiler has enabled since is left to it. */
	if (on || (is_late() && !comes_another()))
		flush(FLUSH_FORCED);
	if (on)
		write_switch(0, now());
	become(RING_ENDED);
	end_turn();
}

static void in_child(void)
{
	inert = 1;
}

static int open_control(void)
{
	const char *said = getenv(ACTIVITY_FOLDER);
	char path[300];
	void *at;
	int file;

	if (!said || strlen(said) >= sizeof(folder))
		return -1;
	strcpy(folder, said);
	snprintf(path, sizeof(path), "%s/control", folder);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return -1;
	at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	close(file);
	control = at;
	return at == MAP_FAILED || control->magic != ACTIVITY_MAGIC ? -1 : 0;
}

extern int __cxa_atexit(void (*function)(void *), void *argument, void *library);
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *library);

/* Called by the CUDA driver in cuInit(). */
__attribute__((visibility("default"))) int InitializeInjection(void)
{
	static int begun;
	const char *why;

	if (__atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL) || open_control() ||
	    !recorder_lives())
		return 1;
	ring = ring_make(folder, control->ring_bytes);
	if (!ring)
		return 1;
	why = cupti_open(&cupti);
	if (why) {
		give_up(RING_FAILED, why, 0);
		return 1;
	}
	snprintf(ring->library, sizeof(ring->library), "%s", cupti.path);
	ring->version = cupti.version;
	__register_atfork(NULL, NULL, in_child, NULL);
	__cxa_atexit(at_exit, NULL, NULL);
	become(RING_OFF);
	if (control->wanted)
		switch_on();
	if (!is_over() && start_thread())
		give_up(RING_FAILED, "no thread could be started", 0);
	return 1;
}
