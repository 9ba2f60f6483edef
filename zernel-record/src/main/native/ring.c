/* SPDX-License-Identifier: Apache-2.0 */
#include "ring.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LEAST_BYTES (1ull << 16)
#define MOST_BYTES (1ull << 30)

/* Of this process, beyond ring->head. */
static uint64_t reserved;

/* All of its memory is taken at once: a full /dev/shm is an error here and not a signal later. */
struct ring *ring_make(const char *folder, uint64_t bytes)
{
	char path[512], unfinished[520];
	struct ring *ring;
	int file;

	if (bytes < LEAST_BYTES || bytes > MOST_BYTES || (bytes & (bytes - 1)))
		return NULL;
	snprintf(path, sizeof(path), "%s/%d", folder, getpid());
	snprintf(unfinished, sizeof(unfinished), "%s.new", path);
	file = open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		return NULL;
	ring = MAP_FAILED;
	if (posix_fallocate(file, 0, (off_t)(RING_HEADER + bytes)) == 0)
		ring = mmap(NULL, RING_HEADER + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
			    0);
	close(file);
	if (ring != MAP_FAILED) {
		ring->pid = (uint32_t)getpid();
		ring->size = bytes;
		__atomic_store_n(&ring->magic, ACTIVITY_MAGIC, __ATOMIC_RELEASE);
		if (rename(unfinished, path) == 0)
			return ring;
		munmap(ring, RING_HEADER + bytes);
	}
	unlink(unfinished);
	return NULL;
}

void *ring_reserve(struct ring *ring, uint32_t size, enum record_type type)
{
	uint64_t head = ring->head, tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	uint64_t at = head & (ring->size - 1), pad = 0;
	uint8_t *data = (uint8_t *)ring + RING_HEADER;
	struct record *record;

	size = (size + 7) & ~7u;
	if (ring->size - at < size)
		pad = ring->size - at;
	/* A reader that is out of its mind makes it full. */
	if (head - tail > ring->size || ring->size - (head - tail) < pad + size)
		return NULL;
	if (pad) {
		record = (struct record *)(data + at);
		record->size = (uint32_t)pad;
		record->type = RECORD_PAD;
		at = 0;
	}
	record = (struct record *)(data + at);
	record->size = size;
	record->type = type;
	reserved = pad + size;
	return record;
}

void ring_commit(struct ring *ring)
{
	__atomic_store_n(&ring->head, ring->head + reserved, __ATOMIC_RELEASE);
}
