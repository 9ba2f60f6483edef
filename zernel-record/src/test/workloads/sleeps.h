/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SLEEPS_H
#define SLEEPS_H

#include <stdio.h>
#include <sys/types.h>

/* Whether a thread of this process sleeps, in a system call that waits. */
static int sleeps(pid_t tid)
{
	char path[64], state = 0;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	stat = fopen(path, "r");
	if (!stat)
		return 0;
	if (fscanf(stat, "%*d %*s %c", &state) != 1)
		state = 0;
	fclose(stat);
	return state == 'S';
}

#endif
