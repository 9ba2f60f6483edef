/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions for the recorder's tests to probe. They come in a shared library of their own, so that a test
 * can also load it late, copy it or replace it. Built without optimisation and without endbr64: every
 * function starts with a push, unless said otherwise.
 */
#ifndef LIBCALLS_H
#define LIBCALLS_H

#include <stddef.h>

struct tensor {
	unsigned dimensions;
	int device;
	long bytes;
};

struct request {
	long id;
	unsigned short flags;
	struct tensor *tensor;
	const char *label;
};

/* A std::string as libstdc++ lays it out, for a library that is C. */
struct std_string {
	const char *data;
	size_t length;
	char inline_bytes[16];
};

/* First instruction: push; endbr64; the cmpl of libcuda's exports; lea. */
long calls_push(long value, unsigned thread);
long calls_endbr(long value, unsigned thread);
long calls_stub(long value, unsigned thread);
long calls_lea(long value, unsigned thread);

/* Nine integers: three of them come on the stack, and three are narrower than their registers. */
long calls_wide(long a, int b, unsigned short c, signed char d, long e, long f, long g, int h, long i);
int calls_text(const char *text, long i);
int calls_named(const struct std_string *name, long i);
/* Fills *handle. */
int calls_request(const struct request *request, long *handle);
void calls_spin(long i, long nanos, long *began, long *ended);
long calls_recurse(int depth, long leaf_nanos);
/* Jumps straight into calls_behind: both have the same return address on the stack. */
long calls_before(long value);
long calls_behind(long value);

/* Runs `inside` in the middle of the call, which may never come back: longjmp, fork, exec, exit. */
long calls_inside(long (*inside)(long), long value);
long calls_marker(long value);
void calls_last(long i);

long now_nanos(void);
void spin_until(long nanos);

#endif
