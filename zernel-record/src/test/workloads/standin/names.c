/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches kernels whose names a probe of the call that says them cannot read, or not whole:
 *
 *     names
 *
 * As in NVIDIA's libraries, most of the names are in pages of the program that nobody has touched before the driver looks a
 * name up. Says "waiting" and begins when it reads a line.
 */
#define _GNU_SOURCE
#define CALL_DRIVER(name) name
#include "calls.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096
#define TEN(c) c c c c c c c c c c
#define LONG_NAME TEN(TEN("ab"))

#define PAGE_OF(variable, text) static const char variable[PAGE] __attribute__((aligned(PAGE))) = text
PAGE_OF(cold, "_Z4coldPf");
PAGE_OF(colder, "_Z6colderPf");
PAGE_OF(lengthy, "_Z203" LONG_NAME "lngPf");
PAGE_OF(warm, "_Z4warmPf");

static void launch(CUfunction f)
{
	for (int i = 0; i < 10; i++)
		call_cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

/* As if nothing had been read of the page yet. */
static const char *untouched(const char *page)
{
	if (madvise((void *)page, PAGE, MADV_DONTNEED))
		perror("madvise");
	return page;
}

static CUfunction of_module(const char *name)
{
	CUfunction f = NULL;

	call_cuModuleGetFunction(&f, NULL, name);
	return f;
}

static CUfunction of_library(const char *name)
{
	CUkernel kernel = NULL;
	CUfunction f = NULL;

	call_cuLibraryGetKernel(&kernel, NULL, name);
	call_cuKernelGetFunction(&f, kernel);
	return f;
}

int main(void)
{
	static volatile char touched;
	char passing[300] = LONG_NAME "_of_a_text_that_is_gone";
	CUfunction f;

	printf("waiting %d\n", getpid());
	fflush(stdout);
	for (char c = 0; c != '\n' && read(0, &c, 1) == 1;)
		;
	launch(of_module(untouched(cold)));
	launch(of_library(untouched(colder)));
	touched = lengthy[0];
	launch(of_module(lengthy));
	touched = warm[0];
	launch(of_module(warm));
	f = of_module(passing);
	memset(passing, '-', sizeof(passing) - 1);
	launch(f);
	usleep(500000); /* the recorder reads names in the memory of the process */
	return 0;
}
