/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls the functions of libcalls in every way that can go wrong for a call recorder, and prints what it
 * did: one line of JSON per case.
 *
 *     calls COUNT       COUNT calls from each of four threads, then all other cases
 *     calls marker N    one call of calls_marker(N); what the exec case turns into
 */
#include "libcalls.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define SPINS 50

/* Values of calls_inside tell the case: VALUE / 1000. */
enum inside { LONGJMP = 1000, FORK = 2000, EXEC = 3000, EXIT = 4000, PTHREAD_EXIT = 5000, NESTED = 6000 };

struct worker {
	pthread_t thread;
	unsigned number;
	pid_t tid;
	long count;
	long sum;
	long inner[SPINS];
	long outer[SPINS];
};

static char self[4096];
static sigjmp_buf out;

static void *push_many(void *argument)
{
	struct worker *w = argument;

	w->tid = syscall(SYS_gettid);
	for (long i = 0; i < w->count; i++) {
		calls_push(i, w->number);
		w->sum += i;
	}
	return NULL;
}

static void *spin_some(void *argument)
{
	struct worker *w = argument;

	for (long i = 0; i < SPINS; i++) {
		long began, ended, before = now_nanos();

		calls_spin(w->number * SPINS + i, 20000 + 1000 * i, &began, &ended);
		w->outer[i] = now_nanos() - before;
		w->inner[i] = ended - began;
	}
	return NULL;
}

static void on_threads(void *(*body)(void *), struct worker *workers)
{
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i].number = i;
		pthread_create(&workers[i].thread, NULL, body, &workers[i]);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
}

static void push_case(long count)
{
	struct worker workers[THREADS] = { 0 };

	for (int i = 0; i < THREADS; i++)
		workers[i].count = count;
	on_threads(push_many, workers);
	printf("{\"case\":\"push\",\"calls\":%ld,\"threads\":[", THREADS * count);
	for (int i = 0; i < THREADS; i++)
		printf("%s{\"tid\":%d,\"sum\":%ld}", i ? "," : "", workers[i].tid, workers[i].sum);
	printf("]}\n");
}

static void first_instruction_cases(void)
{
	long sum = 0;

	for (long i = 0; i < 1000; i++)
		sum += calls_endbr(i, 1) + calls_stub(i, 2) + calls_lea(i, 3);
	printf("{\"case\":\"first-instructions\",\"calls\":1000,\"returned\":%ld}\n", sum);
}

static void wide_case(void)
{
	/* Through this type every argument fills its register or slot, so narrow ones have garbage above them. */
	long (*volatile wide)(long, long, long, long, long, long, long, long, long) = (void *)calls_wide;
	const long garbage = 0xdeadbeefL << 32;
	long sum = 0;

	for (long i = 0; i < 1000; i++) {
		long b = garbage | (unsigned)-i;
		long c = garbage | 0xabcd0000L | (65535 - i);
		long d = garbage | 0xffff00L | (unsigned char)-(i % 100);
		long h = garbage | (unsigned)(-2 * i);

		sum += wide(i << 33 | i, b, c, d, 5, i * 1000003, -i, h, 1L << 40 | i);
	}
	printf("{\"case\":\"wide\",\"calls\":1000,\"returned\":%ld}\n", sum);
}

static void text_cases(void)
{
	for (long i = 0; i < 100; i++) {
		char text[64], heap[64];
		struct std_string name = { .data = name.inline_bytes };
		struct tensor tensor = { .dimensions = 4, .device = -1, .bytes = i << 32 };
		struct request request = { .id = i, .flags = 0xfff0, .tensor = &tensor, .label = heap };
		long handle;

		snprintf(text, sizeof(text), "text %ld", i);
		snprintf(heap, sizeof(heap), "a longer name for call %ld", i);
		if (i % 2) {
			name.data = heap;
			name.length = strlen(heap);
		} else {
			name.length = snprintf(name.inline_bytes, sizeof(name.inline_bytes), "name %ld", i);
		}
		calls_text(text, i);
		calls_named(&name, i);
		calls_request(&request, &handle);
	}
	printf("{\"case\":\"texts\",\"calls\":100}\n");
}

static void print_spins(const char *name, struct worker *workers, int inner)
{
	printf("\"%s\":[", name);
	for (int i = 0; i < THREADS * SPINS; i++) {
		struct worker *w = &workers[i / SPINS];

		printf("%s%ld", i ? "," : "", (inner ? w->inner : w->outer)[i % SPINS]);
	}
	printf("]");
}

static void spin_case(void)
{
	struct worker workers[THREADS] = { 0 };

	on_threads(spin_some, workers);
	printf("{\"case\":\"spin\",\"calls\":%d,", THREADS * SPINS);
	print_spins("inner_ns", workers, 1);
	printf(",");
	print_spins("outer_ns", workers, 0);
	printf("}\n");
}

static void recursion_cases(void)
{
	for (int i = 0; i < 20; i++)
		calls_recurse(50, 50000);
	/* More returns pending than the kernel keeps for one thread. */
	calls_recurse(99, 1);
	printf("{\"case\":\"recursion\",\"calls\":%d}\n", 20 * 51 + 100);
}

static void tail_jump_case(void)
{
	for (long i = 0; i < 100; i++)
		calls_before(i);
	printf("{\"case\":\"tail-jump\",\"calls\":100}\n");
}

static long come_back(long value)
{
	return value;
}

static long jump_out(long value)
{
	siglongjmp(out, (int)value);
}

static long jump_out_of_both(long value)
{
	return calls_inside(jump_out, NESTED + value - LONGJMP);
}

static void longjmp_case(void)
{
	static volatile int jumps;

	for (volatile long i = 0; i < 1000; i++) {
		if (sigsetjmp(out, 0) == 0)
			calls_inside(i % 2 ? come_back : i % 4 ? jump_out : jump_out_of_both, LONGJMP + i);
		else
			jumps++;
	}
	printf("{\"case\":\"longjmp\",\"jumps\":%d}\n", jumps);
}

static long fork_here(long value)
{
	pid_t child = fork();

	if (child)
		waitpid(child, NULL, 0);
	return child ? value : 0;
}

static long exec_here(long value)
{
	char number[16];

	snprintf(number, sizeof(number), "%ld", value);
	execl(self, self, "marker", number, (char *)NULL);
	_exit(99);
}

static long exit_here(long value)
{
	_exit((int)value % 1000);
}

/* Both sides come back from the call; the child then calls the marker. */
static void fork_case(void)
{
	for (long i = 0; i < 20; i++) {
		if (calls_inside(fork_here, FORK + i) == 1) {
			calls_marker(FORK + i);
			_exit(0);
		}
	}
	printf("{\"case\":\"fork\",\"calls\":20}\n");
}

static void in_child(const char *name, long (*inside)(long), long base, int times)
{
	int right = 0;

	for (int i = 0; i < times; i++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			calls_inside(inside, base + i);
			_exit(98);
		}
		waitpid(child, &status, 0);
		right += WIFEXITED(status) && WEXITSTATUS(status) == (base == EXIT ? i : 0);
	}
	printf("{\"case\":\"%s\",\"calls\":%d,\"right\":%d}\n", name, times, right);
}

static long leave_thread(long value)
{
	pthread_exit((void *)value);
}

static void *enter_and_leave(void *value)
{
	calls_inside(leave_thread, (long)value);
	return NULL;
}

static void thread_exit_case(void)
{
	int right = 0;

	for (long i = 0; i < 100; i++) {
		pthread_t thread;
		void *result;

		pthread_create(&thread, NULL, enter_and_leave, (void *)(PTHREAD_EXIT + i));
		pthread_join(thread, &result);
		right += (long)result == PTHREAD_EXIT + i;
	}
	printf("{\"case\":\"pthread-exit\",\"calls\":100,\"right\":%d}\n", right);
}

int main(int argc, char **argv)
{
	long length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (argc == 3 && strcmp(argv[1], "marker") == 0) {
		calls_marker(atol(argv[2]));
		return 0;
	}
	if (argc != 2 || length < 0) {
		fprintf(stderr, "usage: calls COUNT | calls marker N\n");
		return 2;
	}
	/* Line by line, so that no child prints again what its parent has buffered. */
	setvbuf(stdout, NULL, _IOLBF, 1 << 16);
	push_case(atol(argv[1]));
	/* What comes now must not find the ring full of that. */
	sleep(2);
	first_instruction_cases();
	wide_case();
	text_cases();
	spin_case();
	recursion_cases();
	tail_jump_case();
	longjmp_case();
	fork_case();
	in_child("exec", exec_here, EXEC, 10);
	in_child("exit", exit_here, EXIT, 10);
	thread_exit_case();
	/* The last calls before the end, with no time for anybody to notice. */
	for (long i = 0; i < 7; i++)
		calls_last(i);
	_exit(5);
}
