/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include <stdlib.h>
#include <string.h>

#define PLACES 8192 /* a power of two */
#define FARTHEST 8
#define LONGEST 4096

/*
 * By the address of the text, which CUPTI keeps for a kernel. Where a module is unloaded another text may come to stand there, so
 * it is compared. What finds no place is sent again each time.
 */
static struct {
	const char *at;
	char *text;
	uint32_t id;
} places[PLACES];
static uint32_t last;

static uint32_t send(struct ring *ring, const char *name, size_t length)
{
	struct record_name *record =
		ring_reserve(ring, (uint32_t)(sizeof(*record) + length), RECORD_NAME);

	if (!record)
		return 0;
	record->name = ++last;
	record->length = (uint32_t)length;
	memcpy(record + 1, name, length);
	ring_commit(ring);
	return last;
}

uint32_t names_id(struct ring *ring, const char *name)
{
	size_t length = strnlen(name, LONGEST);
	unsigned first = (unsigned)((uintptr_t)name * 0x9e3779b97f4a7c15ull >> 51), p = first;
	uint32_t id;

	for (unsigned i = 0; i < FARTHEST; i++) {
		p = (first + i) % PLACES;
		if (!places[p].at || places[p].at == name)
			break;
	}
	if (places[p].at == name && strncmp(places[p].text, name, LONGEST) == 0)
		return places[p].id;
	id = send(ring, name, length);
	if (!id)
		return 0;
	free(places[p].text);
	places[p].text = malloc(length + 1);
	places[p].at = places[p].text ? name : NULL;
	places[p].id = id;
	if (places[p].text) {
		memcpy(places[p].text, name, length);
		places[p].text[length] = 0;
	}
	return id;
}
