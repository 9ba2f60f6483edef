/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for PyTorch's libc10_cuda.so: an allocator that keeps what is freed, with the tracepoints pytorch:malloc and
 * pytorch:free behind semaphores.
 */
#include "c10_cuda.h"

#define CALL_RUNTIME(name) name
#include "calls.h"

#include <pthread.h>

#define SEGMENT (2l << 20)
#define BLOCKS 4096

/* What sys/sdt.h writes, for a system that has none. */
#define TRACEPOINT(name, arguments, ...)                                                                               \
	asm volatile("990:	nop\n"                                                                                 \
		     ".pushsection .note.stapsdt, \"\", \"note\"\n"                                                    \
		     ".balign 4\n"                                                                                     \
		     ".4byte 992f - 991f, 994f - 993f, 3\n"                                                            \
		     "991: .asciz \"stapsdt\"\n"                                                                       \
		     "992: .balign 4\n"                                                                                \
		     "993: .8byte 990b, 0, torch_sdt_semaphore_pytorch_" name "\n"                                     \
		     ".asciz \"pytorch\"\n"                                                                            \
		     ".asciz \"" name "\"\n"                                                                           \
		     ".asciz \"" arguments "\"\n"                                                                      \
		     "994: .balign 4\n"                                                                                \
		     ".popsection\n"                                                                                   \
		     :                                                                                                 \
		     : __VA_ARGS__)

/* The kernel counts its listeners in them. */
#define SEMAPHORE __attribute__((section(".probes"), visibility("hidden"), used)) volatile unsigned short
SEMAPHORE torch_sdt_semaphore_pytorch_malloc = 0;
SEMAPHORE torch_sdt_semaphore_pytorch_free = 0;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cached {
	long address, room, bytes, device;
	bool used;
} blocks[BLOCKS];
static long segment[DEVICES], segment_left[DEVICES];

static struct cached *cached_block(long room, int device)
{
	struct cached *b = blocks;

	while (b->room && (b->used || b->room != room || b->device != device))
		b++;
	return b;
}

static long carve(long room, int device)
{
	if (segment_left[device] < room) {
		if (call_cudaMalloc((void **)&segment[device], SEGMENT))
			return 0;
		segment_left[device] = SEGMENT;
	}
	segment_left[device] -= room;
	return segment[device] + segment_left[device];
}

static long take_block(long bytes, int device)
{
	long room = (bytes + 511) / 512 * 512;

	pthread_mutex_lock(&lock);
	struct cached *b = cached_block(room, device);
	long address = b->room ? b->address : carve(room, device);

	if (address)
		*b = (struct cached){ address, room, bytes, device, true };
	pthread_mutex_unlock(&lock);
	return address;
}

void *c10_alloc(size_t bytes, void *stream)
{
	int device = current_device();
	long address = take_block((long)bytes, device);

	if (!address)
		return NULL;
	if (torch_sdt_semaphore_pytorch_malloc) {
		/* The compiler puts the arguments elsewhere in the second, as it did in the real library. */
		if (bytes % 2)
			TRACEPOINT("malloc", "-8@%0 -1@%1 -8@%2 -8@%3", "r"(address), "r"((signed char)device), "r"(bytes),
				   "m"(stream));
		else
			TRACEPOINT("malloc", "-8@%0 -1@%1 -8@%2 -8@%3", "a"(address), "d"((signed char)device), "r"(bytes),
				   "c"(stream));
	}
	truth_instant(KIND_torch_alloc, "pytorch:malloc",
		      COLUMNS(.addr = address, .device = device, .bytes = (long)bytes, .stream = (long)stream));
	return (void *)address;
}

void c10_delete(void *p)
{
	struct cached *b = blocks;

	if (torch_sdt_semaphore_pytorch_free)
		TRACEPOINT("free", "-8@%0", "D"(p));
	pthread_mutex_lock(&lock);
	while (b->room && b->address != (long)p)
		b++;
	truth_instant(KIND_torch_free, "pytorch:free", COLUMNS(.addr = (long)p, .device = b->device, .bytes = b->bytes));
	b->used = false;
	pthread_mutex_unlock(&lock);
}
