/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training in C: roles STEPS. A step waits 12 ms for its batch, computes 4 ms and updates 2 ms; every 20th is followed
 * by a checkpoint of 60 ms. Prints what each part took by the program's own clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

long next_batch(long us);
long compute(long us);
long update(long us);
long save(long us);

static long waited, computed, updated, saved;

__attribute__((noinline, noclone, visibility("default"))) void train_step(void)
{
	waited += next_batch(12000);
	computed += compute(4000);
	updated += update(2000);
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 60;
	int saves = 0;

	for (int i = 0; i < steps; i++) {
		train_step();
		if (i % 20 == 19) {
			saved += save(60000);
			saves++;
		}
	}
	printf("{\"pid\": %d, \"steps\": %d, \"saves\": %d, \"waited\": %ld, \"computed\": %ld, \"updated\": %ld, \"saved\": %ld}\n",
	       getpid(), steps, saves, waited, computed, updated, saved);
	return 0;
}
