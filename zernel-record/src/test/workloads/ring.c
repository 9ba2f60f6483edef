// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The ring of calls as C reads it, for RingBenchmark: libbpf's loop with a callback that does nothing, and two loops over
 * the mapped ring that store the columns the recorder stores. The records are those of bpf/functions.bpf.c.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define BUSY 0x80000000u
#define DISCARDED 0x40000000u
#define RETURNED 0x8000
#define PUBLISH (256 << 10)
#define ROWS 32768
#define THREADS 1024 /* a power of two, and more than there are */
#define FRAMES 64
#define COMMS 256

enum { KIND, NAME, TS, DUR, PID, TID, CPU, COMM, ARGUMENT, RESULT, COLUMNS };

struct head {
	uint64_t time, sp;
	uint32_t pid, tid, cpu;
	uint16_t call, function;
};

struct entry { /* or a whole call */
	struct head head;
	uint64_t comm[2];
	uint64_t slot[];
};

struct returned {
	struct head head;
	uint64_t slot[];
};

struct frame {
	uint64_t sp, start, comm[2], argument;
	uint32_t pid, tid, cpu;
	uint16_t function, bad;
};

struct thread {
	uint32_t tid, depth;
	struct frame frame[FRAMES];
};

/* libbpf/libbpf.h, which need not be installed */
struct ring_buffer;
struct ring_buffer *ring_buffer__new(int map, int (*sample)(void *, void *, size_t), void *context,
				     const void *options);
int ring_buffer__consume(struct ring_buffer *ring);

/* Not static: the compiler must not think that nobody reads them. */
int64_t column[COLUMNS][ROWS];
uint64_t present[ROWS];

static struct thread thread[THREADS];
static struct thread *last;
static uint64_t comm_key[COMMS][2];
static int comms;
static int row;
static long stored;
static struct ring_buffer *ring;
static volatile uint64_t *consumer, *producer;
static char *data;
static uint64_t size;

static int take_nothing(void *context, void *record, size_t length)
{
	(void)context, (void)record, (void)length;
	return 0;
}

int open_ring(int map, uint64_t bytes)
{
	long page = sysconf(_SC_PAGESIZE);
	char *rest;

	size = bytes;
	ring = ring_buffer__new(map, take_nothing, NULL, NULL);
	consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	rest = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, map, page);
	if (!ring || consumer == MAP_FAILED || rest == MAP_FAILED)
		return -1;
	producer = (uint64_t *)rest;
	data = rest + page;
	return 0;
}

/* Records read by libbpf. */
long read_by_callback(void)
{
	return ring_buffer__consume(ring);
}

static inline __attribute__((always_inline)) long walk(void (*take)(const struct head *))
{
	uint64_t position = *consumer, published = position;
	uint64_t until = __atomic_load_n(producer, __ATOMIC_ACQUIRE);

	stored = 0;
	while (position < until) {
		char *at = data + (position & (size - 1));
		uint32_t header = __atomic_load_n((uint32_t *)at, __ATOMIC_ACQUIRE);

		if (header & BUSY)
			break;
		if (!(header & DISCARDED))
			take((struct head *)(at + 8));
		position += ((header & ~DISCARDED) + 15) & ~7ull;
		if (position - published >= PUBLISH)
			__atomic_store_n(consumer, published = position, __ATOMIC_RELEASE);
	}
	__atomic_store_n(consumer, position, __ATOMIC_RELEASE);
	return stored;
}

static inline int comm_id(uint64_t low, uint64_t high)
{
	for (int i = 0; i < comms; i++)
		if (comm_key[i][0] == low && comm_key[i][1] == high)
			return i;
	if (comms == COMMS)
		return 0;
	comm_key[comms][0] = low;
	comm_key[comms][1] = high;
	return comms++;
}

static inline void store(const struct frame *f, uint64_t end, uint32_t cpu, uint64_t result,
			 uint16_t bad, int has_argument)
{
	if (row == ROWS)
		row = 0;
	column[KIND][row] = 1;
	column[NAME][row] = f->function;
	column[TS][row] = f->start;
	column[DUR][row] = end - f->start;
	column[PID][row] = f->pid;
	column[TID][row] = f->tid;
	column[CPU][row] = cpu;
	column[COMM][row] = comm_id(f->comm[0], f->comm[1]);
	column[ARGUMENT][row] = f->argument;
	column[RESULT][row] = result;
	present[row] = 0xff | (uint64_t)(has_argument && !(f->bad & 1)) << ARGUMENT |
		       (uint64_t)!(bad & 1) << RESULT;
	row++;
	stored++;
}

static inline void enter(struct frame *f, const struct head *head)
{
	const struct entry *entry = (const struct entry *)head;

	f->sp = head->sp;
	f->start = head->time;
	f->pid = head->pid;
	f->tid = head->tid;
	f->cpu = head->cpu;
	f->function = head->function;
	f->bad = head->call;
	f->comm[0] = entry->comm[0];
	f->comm[1] = entry->comm[1];
	f->argument = entry->slot[0];
}

/* A whole call has its end where others have the stack pointer. */
static inline void store_whole(const struct head *head)
{
	struct frame f;

	enter(&f, head);
	store(&f, head->sp, head->cpu, f.argument, head->call, 0);
}

static inline struct thread *thread_of(uint32_t tid)
{
	uint32_t at = tid;

	if (last && last->tid == tid)
		return last;
	while (thread[at % THREADS].tid && thread[at % THREADS].tid != tid)
		at++;
	last = &thread[at % THREADS];
	last->tid = tid;
	return last;
}

static inline void join(const struct head *head, int sends_entry)
{
	struct thread *t;
	uint32_t i;

	if (!sends_entry) {
		store_whole(head);
		return;
	}
	t = thread_of(head->tid);
	for (i = t->depth; i > 0; i--)
		if (t->frame[i - 1].sp == head->sp && t->frame[i - 1].function == head->function)
			break;
	if (!(head->call & RETURNED)) {
		if (i > 0)
			t->depth = i - 1;
		if (t->depth < FRAMES)
			enter(&t->frame[t->depth++], head);
	} else if (i > 0) {
		store(&t->frame[i - 1], head->time, head->cpu,
		      ((const struct returned *)head)->slot[0], head->call, 1);
		t->depth = i - 1;
	}
}

static inline void join_entry(const struct head *head)
{
	join(head, 1);
}

static inline void join_whole(const struct head *head)
{
	join(head, 0);
}

/* Rows stored; calls are found by thread, function and stack pointer, as the recorder does. */
long read_and_join(int sends_entry)
{
	return sends_entry ? walk(join_entry) : walk(join_whole);
}

static inline void copy_entry(const struct head *head)
{
	static struct frame f;

	if (!(head->call & RETURNED))
		enter(&f, head);
	else
		store(&f, head->time, head->cpu, ((const struct returned *)head)->slot[0],
		      head->call, 1);
}

/* The same, believing that the return of a call is the next record: wrong for any other calls than those measured. */
long read_and_copy(int sends_entry)
{
	return sends_entry ? walk(copy_entry) : walk(join_whole);
}
