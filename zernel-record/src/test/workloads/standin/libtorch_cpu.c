/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for PyTorch's libtorch_cpu.so: regions that are entered and left. */
#include "libtorch_cpu.h"

static long regions;

/* The handle is returned in memory: its place is the first argument, and what the function returns. */
void *enter_region(void **handle, const struct std_string *name, const void *arguments)
{
	(void)name;
	(void)arguments;
	*handle = (void *)(0x560000000000l + 64 * __atomic_add_fetch(&regions, 1, __ATOMIC_RELAXED));
	return handle;
}

void exit_region(void **handle)
{
	*handle = NULL;
}
