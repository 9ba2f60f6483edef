/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a library only when told to, and calls it only when told to, each by a line on its input:
 *
 *     late LIBRARY SYMBOL COUNT
 *
 * Prints "ready", then "loaded" after the first line, then "called COUNT SUM" after the second.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void await_line(void)
{
	for (int c = getchar(); c != '\n' && c != EOF; c = getchar())
		;
}

static void say(const char *text)
{
	puts(text);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	long (*function)(long, unsigned);
	void *library;
	long count, sum = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: late LIBRARY SYMBOL COUNT\n");
		return 2;
	}
	count = atol(argv[3]);
	say("ready");
	await_line();
	library = dlopen(argv[1], RTLD_NOW);
	function = library ? (long (*)(long, unsigned))dlsym(library, argv[2]) : NULL;
	if (!function) {
		fprintf(stderr, "late: %s\n", dlerror());
		return 1;
	}
	say("loaded");
	await_line();
	for (long i = 0; i < count; i++) {
		function(i, 9);
		sum += i;
	}
	printf("called %ld %ld\n", count, sum);
	return 0;
}
