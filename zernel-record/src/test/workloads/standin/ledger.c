/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS (1 << 18)
#define CLASSES 64

/* Open addressing; a freed entry keeps its address, so that it can be found again. */
static struct entry {
	long address;
	bool live;
	int class;
	struct block block;
	long next_free;
} entries[SLOTS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long free_list[CLASSES];
static long next_offset = 1 << 20;
static long fail_every, requests;
static long live[DEVICES], allocated, out_of_memory, freed, refused;

__thread struct block ledger_freed;

static struct entry *entry_of(long address)
{
	unsigned long i = (unsigned long)address * 0x9e3779b97f4a7c15ul >> 46;

	while (entries[i].address && entries[i].address != address)
		i = (i + 1) % SLOTS;
	return &entries[i];
}

static void forget(void)
{
	memset(entries, 0, sizeof(entries));
	memset(free_list, 0, sizeof(free_list));
	memset(live, 0, sizeof(live));
	allocated = out_of_memory = freed = refused = 0;
	pthread_mutex_init(&lock, NULL);
}

__attribute__((constructor)) static void start(void)
{
	const char *every = getenv("STANDIN_FAIL_EVERY");

	fail_every = every ? atol(every) : 0;
	pthread_atfork(NULL, NULL, forget);
}

/* Which free list: a power of two, for addresses and for handles. */
static int class_of(long base, long bytes)
{
	int size = 64 - __builtin_clzl((unsigned long)(bytes | 511));

	return base ? size % 32 : 32 + size % 32;
}

long ledger_alloc(long base, long bytes, int device)
{
	int class = class_of(base, bytes);
	long address = 0;

	pthread_mutex_lock(&lock);
	if (fail_every && ++requests % fail_every == 0) {
		out_of_memory++;
	} else {
		bool fresh = bytes % 2 || !free_list[class];

		address = fresh ? base + next_offset : free_list[class];
		struct entry *e = entry_of(address);

		if (fresh)
			next_offset += 1l << (64 - __builtin_clzl((unsigned long)(bytes | 511)));
		else
			free_list[class] = e->next_free;
		*e = (struct entry){ address, true, class, { bytes, device }, 0 };
		live[device] += bytes;
		allocated++;
	}
	pthread_mutex_unlock(&lock);
	return address;
}

int ledger_free(long address)
{
	pthread_mutex_lock(&lock);
	struct entry *e = entry_of(address);
	bool known = e->live;

	if (known) {
		e->live = false;
		ledger_freed = e->block;
		live[e->block.device] -= e->block.bytes;
		freed++;
		if (e->block.bytes % 2 == 0) {
			e->next_free = free_list[e->class];
			free_list[e->class] = address;
		}
	} else {
		refused++;
	}
	pthread_mutex_unlock(&lock);
	return known ? 0 : -1;
}

void ledger_print(void)
{
	printf("{\"case\":\"ledger\",\"pid\":%d,\"allocated\":%ld,\"out_of_memory\":%ld,\"freed\":%ld,\"refused\":%ld,"
	       "\"live\":[",
	       getpid(), allocated, out_of_memory, freed, refused);
	for (int i = 0; i < DEVICES; i++)
		printf("%s%ld", i ? "," : "", live[i]);
	printf("]}\n");
}
