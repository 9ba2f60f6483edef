/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"

#include "truth.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define PLACES 65536
#define RANGES 256

enum { INVALID_VALUE = 1, ILLEGAL_STATE = 401, CAPTURE_UNSUPPORTED = 900, ALREADY_REGISTERED = 712, NOT_REGISTERED = 713 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Streams being captured, graphs and executables: what each handle counts. */
static struct place {
	long handle;
	bool counts;
	long launches;
} places[PLACES];
static long graphs;
static struct range {
	const char *start;
	size_t bytes;
} pinned[RANGES];
static __thread int device;

/* A forked child has no GPU until it makes itself one. */
static void forget(void)
{
	memset(places, 0, sizeof(places));
	memset(pinned, 0, sizeof(pinned));
	pthread_mutex_init(&lock, NULL);
}

__attribute__((constructor)) static void start(void)
{
	pthread_atfork(NULL, NULL, forget);
}

static struct place *place_of(long handle)
{
	unsigned i = (unsigned)((unsigned long)handle * 0x9e3779b97f4a7c15ul >> 48);

	while (places[i].handle && places[i].handle != handle)
		i = (i + 1) % PLACES;
	places[i].handle = handle;
	return &places[i];
}

const char *kernel_title(const char *mangled)
{
#define TITLE(number, name, title, stub, rest)                                                                         \
	if (strcmp(mangled, name) == 0)                                                                                \
		return title;
	KERNELS(TITLE)
	return NULL;
}

static long new_graph(long launches)
{
	long graph = 0x600000000000l + 64 * ++graphs;

	*place_of(graph) = (struct place){ graph, true, launches };
	return graph;
}

int capture_begin(long stream)
{
	int status = ILLEGAL_STATE;

	if (stream < 3)
		return CAPTURE_UNSUPPORTED; /* one of the default streams, which all threads share */
	pthread_mutex_lock(&lock);
	struct place *place = place_of(stream);

	if (!place->counts) {
		*place = (struct place){ stream, true, 0 };
		status = 0;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

int capture_end(long stream, long *graph)
{
	int status = ILLEGAL_STATE;

	pthread_mutex_lock(&lock);
	struct place *place = place_of(stream);

	if (place->counts) {
		place->counts = false;
		*graph = new_graph(place->launches);
		status = 0;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

void capture_launch(long stream)
{
	pthread_mutex_lock(&lock);
	place_of(stream)->launches++;
	pthread_mutex_unlock(&lock);
}

int capture_instantiate(long graph, long *exec)
{
	long launches = capture_count(graph);

	if (launches == NONE)
		return INVALID_VALUE;
	pthread_mutex_lock(&lock);
	*exec = new_graph(launches);
	pthread_mutex_unlock(&lock);
	return 0;
}

long capture_count(long handle)
{
	pthread_mutex_lock(&lock);
	struct place *place = place_of(handle);
	long launches = place->counts ? place->launches : NONE;

	pthread_mutex_unlock(&lock);
	return launches;
}

int host_pin(void *address, size_t bytes)
{
	struct range *free = NULL;
	int status = 0;

	pthread_mutex_lock(&lock);
	for (struct range *r = pinned; r < pinned + RANGES; r++) {
		if (r->start == address)
			status = ALREADY_REGISTERED;
		if (!r->start && !free)
			free = r;
	}
	if (!status && free)
		*free = (struct range){ address, bytes };
	pthread_mutex_unlock(&lock);
	return status ? status : free ? 0 : INVALID_VALUE;
}

int host_unpin(void *address)
{
	int status = NOT_REGISTERED;

	pthread_mutex_lock(&lock);
	for (struct range *r = pinned; address && r < pinned + RANGES; r++) {
		if (r->start == address) {
			*r = (struct range){ 0 };
			status = 0;
		}
	}
	pthread_mutex_unlock(&lock);
	return status;
}

const char *pinned_name(const void *address)
{
	const char *name = "pageable";

	pthread_mutex_lock(&lock);
	for (struct range *r = pinned; r < pinned + RANGES; r++) {
		if (r->start && (const char *)address >= r->start && (const char *)address < r->start + r->bytes)
			name = "pinned";
	}
	pthread_mutex_unlock(&lock);
	return name;
}

int current_device(void)
{
	return device;
}

void choose_device(int chosen)
{
	device = chosen;
}

void spend(long nanos)
{
	long end = now_nanos() + nanos;

	while (now_nanos() < end)
		;
}

void sleep_for(long nanos)
{
	nanosleep(&(struct timespec){ 0, nanos }, NULL);
}
