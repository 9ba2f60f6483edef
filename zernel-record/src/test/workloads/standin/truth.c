/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "truth.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNK 512
#define NAMES 4096
#define PROBED 1024

struct chunk {
	struct chunk *next;
	int used;
	struct called rows[CHUNK];
};

static struct chunk *chunks;
static __thread struct chunk *chunk;
static __thread int depth[KIND_COUNT];
static __thread long calls;

/* Whether anybody wants to know. */
static bool keeps;
static void (*on_begin)(const char *symbol);
static void (*on_end)(const struct called *row, const struct columns *is);
static char *probed[PROBED];
static struct {
	long handle;
	const char *kernel;
} names[NAMES];
static pthread_mutex_t naming = PTHREAD_MUTEX_INITIALIZER;

static unsigned hash(const char *text)
{
	unsigned h = 2166136261u;

	while (*text)
		h = (h ^ (unsigned char)*text++) * 16777619u;
	return h;
}

static char **probed_slot(const char *symbol)
{
	unsigned i = hash(symbol) % PROBED;

	while (probed[i] && strcmp(probed[i], symbol) != 0)
		i = (i + 1) % PROBED;
	return &probed[i];
}

/* A forked child begins an account of its own. */
static void forget(void)
{
	chunks = chunk = NULL;
	memset(depth, 0, sizeof(depth));
	calls = 0;
}

__attribute__((constructor)) static void start(void)
{
	keeps = getenv("STANDIN_TRUTH") != NULL;
	const char *path = getenv("STANDIN_PROBED");
	FILE *file = path ? fopen(path, "r") : NULL;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		*probed_slot(line) = strdup(line);
	}
	if (file)
		fclose(file);
	pthread_atfork(NULL, NULL, forget);
}

void truth_watch(void (*begin)(const char *symbol), void (*end)(const struct called *row, const struct columns *is))
{
	keeps = keeps || begin;
	on_begin = begin;
	on_end = end;
}

struct called *truth_begin(enum kind kind, const char *symbol)
{
	static __thread struct called forgotten;

	if (!keeps)
		return &forgotten;
	if (!chunk || chunk->used == CHUNK) {
		chunk = calloc(1, sizeof(*chunk));
		chunk->next = __atomic_load_n(&chunks, __ATOMIC_RELAXED);
		while (!__atomic_compare_exchange_n(&chunks, &chunk->next, chunk, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			;
	}
	struct called *row = &chunk->rows[chunk->used++];

	row->kind = kind;
	row->symbol = symbol;
	row->probed = *probed_slot(symbol) != NULL;
	row->pid = getpid();
	row->tid = (int)syscall(SYS_gettid);
	row->n = calls++;
	row->depth = row->probed ? depth[kind]++ : 0;
	if (on_begin)
		on_begin(symbol);
	return row;
}

void truth_end(struct called *row, long end_ns, long status, struct columns is)
{
	row->end_ns = end_ns;
	row->status = status;
	row->is = is;
	if (on_end && row->symbol)
		on_end(row, &is);
	if (row->probed)
		depth[row->kind]--;
}

void truth_instant(enum kind kind, const char *symbol, struct columns is)
{
	struct called *row = truth_begin(kind, symbol);

	if (!keeps)
		return;
	row->instant = true;
	row->begin_ns = now_nanos();
	truth_end(row, row->begin_ns, NONE, is);
	row->depth = NONE;
}

void truth_name(long handle, const char *kernel)
{
	unsigned i = (unsigned)(handle >> 4) % NAMES;

	pthread_mutex_lock(&naming);
	while (names[i].handle && names[i].handle != handle)
		i = (i + 1) % NAMES;
	names[i].kernel = kernel;
	__atomic_store_n(&names[i].handle, handle, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&naming);
}

const char *truth_name_of(long handle)
{
	unsigned i = (unsigned)(handle >> 4) % NAMES;

	for (long at; (at = __atomic_load_n(&names[i].handle, __ATOMIC_ACQUIRE)); i = (i + 1) % NAMES) {
		if (at == handle)
			return names[i].kernel;
	}
	return NULL;
}

static void write_number(FILE *file, long value)
{
	if (value == NONE)
		fputs(",", file);
	else
		fprintf(file, ",%ld", value);
}

static void write_row(FILE *file, const struct called *row)
{
#define KIND_NAME(k) #k,
	static const char *const kinds[] = { KINDS(KIND_NAME) };

	fprintf(file, "%s,%s,%d,%d,%d,%ld,%ld", kinds[row->kind], row->symbol, row->probed, row->pid, row->tid, row->n,
		row->begin_ns);
	write_number(file, row->instant ? NONE : row->end_ns - row->begin_ns);
	write_number(file, row->depth);
	write_number(file, row->status);
#define WRITE_NUMBER(c) write_number(file, row->is.c);
#define WRITE_TEXT(c) row->is.c ? fprintf(file, ",\"%s\"", row->is.c) : fputs(",", file);
	NUMBERS(WRITE_NUMBER)
	TEXTS(WRITE_TEXT)
	fputs("\n", file);
}

__attribute__((destructor)) void truth_write(void)
{
	const char *folder = getenv("STANDIN_TRUTH");
	char path[4096];

	if (!folder || !chunks)
		return;
	snprintf(path, sizeof(path), "%s/%d-%ld.csv", folder, getpid(), now_nanos());
	FILE *file = fopen(path, "w");

	if (!file) {
		perror(path);
		_exit(97);
	}
#define COLUMN_NAME(c) "," #c
	fputs("kind,name,probed,pid,tid,n,begin_ns,dur_ns,depth,status" NUMBERS(COLUMN_NAME) TEXTS(COLUMN_NAME) "\n", file);
	for (struct chunk *c = chunks; c; c = c->next) {
		for (int i = 0; i < c->used; i++)
			write_row(file, &c->rows[i]);
	}
	fclose(file);
	forget();
}
