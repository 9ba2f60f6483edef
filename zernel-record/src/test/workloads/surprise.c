/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the library that the environment variable SURPRISE names and calls it at once:
 *
 *     surprise COUNT              COUNT calls of calls_push, and COUNT of surprise_call
 *     surprise COUNT PROCESSES    the same in so many processes, four at a time
 *     surprise COUNT until LINE   the same, then waits for a line on its input
 *     surprise COUNT after SECONDS  sets itself up for so long before it does
 *
 * Prints "called COUNT".
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_A_TIME 4

__attribute__((noinline, noclone)) long surprise_call(long value)
{
	__asm__ volatile("" : "+r"(value));
	return value + 1;
}

static int call(long count)
{
	void *library;
	long (*function)(long, unsigned);

	for (long i = 0; i < count; i++)
		surprise_call(i);
	library = dlopen(getenv("SURPRISE"), RTLD_NOW);
	function = library ? (long (*)(long, unsigned))dlsym(library, "calls_push") : NULL;
	if (!function) {
		fprintf(stderr, "surprise: %s\n", dlerror());
		return 1;
	}
	for (long i = 0; i < count; i++)
		function(i, 9);
	return 0;
}

static int call_in_children(long count, long processes)
{
	int status, failed = 0;

	for (long i = 0; i < processes + AT_A_TIME; i++) {
		if (i >= AT_A_TIME && (wait(&status) < 0 || status))
			failed = 1;
		if (i < processes && fork() == 0)
			_exit(call(count));
	}
	return failed;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 0;
	int waits = argc > 2 && !strcmp(argv[2], "until");
	int begins = argc > 3 && !strcmp(argv[2], "after");

	if (begins)
		sleep(atoi(argv[3]));
	if (argc > 2 && !waits && !begins ? call_in_children(count, atol(argv[2])) : call(count))
		return 1;
	printf("called %ld\n", count);
	fflush(stdout);
	while (waits && getchar() != '\n')
		;
	return 0;
}
