/* SPDX-License-Identifier: Apache-2.0 */
#include "libcalls.h"

#include <time.h>

/* Keeps a call a call: the compiler must neither inline it nor see through it. */
#define PROBED __attribute__((noinline, noclone, visibility("default")))

long now_nanos(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

void spin_until(long nanos)
{
	while (now_nanos() < nanos)
		;
}

PROBED long calls_push(long value, unsigned thread)
{
	return value * 3 + thread;
}

__attribute__((noinline, visibility("hidden"))) long stub_body(long value, unsigned thread)
{
	return value * 3 + thread;
}

/*
 * What a compiler does not emit on request. calls_stub is how real libcuda starts about 99 % of its functions; the
 * jump behind the cmpl tells whether its flags survive a probe. calls_lea starts with an instruction that the kernel
 * has to single-step.
 */
#if defined(__x86_64__)
asm(".text\n"
    ".globl calls_endbr, calls_stub, calls_lea\n"
    ".type calls_endbr, @function\n"
    ".type calls_stub, @function\n"
    ".type calls_lea, @function\n"
    ".p2align 4\n"
    "calls_endbr:\n"
    "	endbr64\n"
    "	push %rbp\n"
    "	mov %rsp, %rbp\n"
    "	call stub_body\n"
    "	pop %rbp\n"
    "	ret\n"
    ".size calls_endbr, . - calls_endbr\n"
    ".p2align 4\n"
    "calls_stub:\n"
    "	cmpl $0x321cba00, stub_state(%rip)\n"
    "	je 1f\n"
    "	jmp stub_body\n"
    "1:	mov $-1, %rax\n"
    "	ret\n"
    ".size calls_stub, . - calls_stub\n"
    ".p2align 4\n"
    "calls_lea:\n"
    "	lea (%rdi,%rdi,2), %rax\n"
    "	mov %esi, %esi\n"
    "	add %rsi, %rax\n"
    "	ret\n"
    ".size calls_lea, . - calls_lea\n"
    ".data\n"
    ".p2align 2\n"
    "stub_state: .long 7\n"
    ".text\n");
#else
PROBED long calls_endbr(long value, unsigned thread) { return stub_body(value, thread); }
PROBED long calls_stub(long value, unsigned thread) { return stub_body(value, thread); }
PROBED long calls_lea(long value, unsigned thread) { return stub_body(value, thread); }
#endif

PROBED long calls_wide(long a, int b, unsigned short c, signed char d, long e, long f, long g, int h, long i)
{
	return a + b + c + d + e + f + g + h + i;
}

PROBED int calls_text(const char *text, long i)
{
	return text[0] - (int)i;
}

PROBED int calls_named(const struct std_string *name, long i)
{
	return name->data[0] - (int)i;
}

PROBED int calls_request(const struct request *request, long *handle)
{
	*handle = request->id * 7;
	return -(int)request->id;
}

PROBED void calls_spin(long i, long nanos, long *began, long *ended)
{
	*began = now_nanos();
	spin_until(*began + nanos);
	*ended = now_nanos();
	asm volatile("" : : "r"(i));
}

PROBED long calls_recurse(int depth, long leaf_nanos)
{
	if (depth == 0) {
		spin_until(now_nanos() + leaf_nanos);
		return 0;
	}
	return 1 + calls_recurse(depth - 1, leaf_nanos);
}

PROBED long calls_behind(long value)
{
	return value + 1;
}

#if defined(__x86_64__)
asm(".text\n"
    ".globl calls_before\n"
    ".type calls_before, @function\n"
    ".p2align 4\n"
    "calls_before:\n"
    "	push %rbp\n"
    "	pop %rbp\n"
    "	jmp calls_behind@PLT\n"
    ".size calls_before, . - calls_before\n");
#else
PROBED long calls_before(long value) { return calls_behind(value); }
#endif

PROBED long calls_inside(long (*inside)(long), long value)
{
	return inside(value) + 1;
}

PROBED long calls_marker(long value)
{
	return -value;
}

PROBED void calls_last(long i)
{
	asm volatile("" : : "r"(i));
}
