/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the recorder and the library inside the job share: a folder in memory (ZERNEL_ACTIVITY) with one file `control`, which
 * the recorder writes, and for each process a file of its pid: a ring that the process writes and the recorder reads. The
 * recorder unlinks a ring as soon as it has mapped it. Java's side is ActivityRing; both say the same offsets.
 */
#ifndef ZERNEL_RING_H
#define ZERNEL_RING_H

#include <stddef.h>
#include <stdint.h>

#define ACTIVITY_FOLDER "ZERNEL_ACTIVITY"
#define ACTIVITY_MAGIC 0x31474c4e52455aull /* "ZERNLG1" */

struct control {
	uint64_t magic;
	uint32_t wanted; /* 1 while activity is to be recorded; a futex */
	uint32_t unused;
	uint64_t ring_bytes; /* of a ring, a power of two */
};

enum ring_state {
	RING_STARTING = 0,
	RING_OFF = 1,
	RING_ON = 2,
	RING_ASIDE = 3,	 /* another profiler is there: for good */
	RING_FAILED = 4, /* for good */
	RING_ENDED = 5	 /* the process has ended, everything is in the ring */
};

enum lost_what {
	LOST_KERNELS,
	LOST_COPIES,
	LOST_FILLS,
	LOST_CALLS,
	LOST_BY_CUPTI,
	LOST_UNTIMED,
	LOST_WHATS
};

#define RING_HEADER 4096

struct ring {
	uint64_t magic;
	uint32_t pid;
	uint32_t state;
	uint64_t size;
	uint32_t version; /* of CUPTI's interface */
	uint32_t unused;
	_Alignas(64) uint64_t head; /* bytes written; by the process */
	_Alignas(64) uint64_t tail; /* bytes read; by the recorder */
	_Alignas(64) uint64_t lost[LOST_WHATS];
	_Alignas(64) uint64_t overhead_ns; /* that CUPTI says it took */
	uint64_t overheads;
	_Alignas(64) char why[256]; /* it is aside, or has failed */
	char library[512];
};

_Static_assert(offsetof(struct ring, state) == 12, "read by ActivityRing");
_Static_assert(offsetof(struct ring, size) == 16, "read by ActivityRing");
_Static_assert(offsetof(struct ring, version) == 24, "read by ActivityRing");
_Static_assert(offsetof(struct ring, head) == 64, "read by ActivityRing");
_Static_assert(offsetof(struct ring, tail) == 128, "read by ActivityRing");
_Static_assert(offsetof(struct ring, lost) == 192, "read by ActivityRing");
_Static_assert(offsetof(struct ring, overhead_ns) == 256, "read by ActivityRing");
_Static_assert(offsetof(struct ring, why) == 320, "read by ActivityRing");
_Static_assert(offsetof(struct ring, library) == 576, "read by ActivityRing");
_Static_assert(sizeof(struct ring) <= RING_HEADER, "data begins behind it");

/* Records begin at multiples of 8 and do not go over the end: a PAD fills it. */
enum record_type {
	RECORD_PAD = 0,
	RECORD_KERNEL = 1,
	RECORD_COPY = 2,
	RECORD_FILL = 3,
	RECORD_CALL = 4,
	RECORD_NAME = 5,
	RECORD_CLOCK = 6,
	RECORD_SWITCH = 7
};

struct record {
	uint32_t size;
	uint32_t type;
};

/* Times of kernels, copies, fills and calls are CUPTI's. */
struct record_kernel {
	struct record head;
	uint64_t start;
	uint64_t end;
	uint32_t device;
	uint32_t stream;
	uint32_t correlation;
	uint32_t name;
	int32_t grid[3];
	int32_t block[3];
};

struct record_copy {
	struct record head;
	uint64_t start;
	uint64_t end;
	uint32_t device;
	uint32_t stream;
	uint32_t correlation;
	uint8_t direction;
	uint8_t from;
	uint8_t to;
	uint8_t unused;
	uint64_t bytes;
};

struct record_fill {
	struct record head;
	uint64_t start;
	uint64_t end;
	uint32_t device;
	uint32_t stream;
	uint32_t correlation;
	uint32_t memory;
	uint64_t bytes;
};

/* A call of CUDA that may have launched something. */
struct record_call {
	struct record head;
	uint64_t start;
	uint32_t correlation;
	uint32_t thread;
};

struct record_name {
	struct record head;
	uint32_t name;
	uint32_t length; /* of the text behind it */
};

/* Everything that CUPTI had complete before this moment is in the ring. */
struct record_clock {
	struct record head;
	uint64_t monotonic;
	uint64_t cupti;
	uint64_t error; /* by which the two may be apart */
};

struct record_switch {
	struct record head;
	uint64_t monotonic; /* before it was switched on, or after it was switched off */
	uint32_t on;
	uint32_t unused;
};

/*
 * Makes the ring of this process in the folder. Returns NULL where it cannot. All following functions are for one thread at
 * a time and never wait.
 */
struct ring *ring_make(const char *folder, uint64_t bytes);
/* Room for a record, or NULL when the ring is full. What is not committed was not written. */
void *ring_reserve(struct ring *ring, uint32_t size, enum record_type type);
void ring_commit(struct ring *ring);

#endif
