/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of pretended GPUs: which addresses are allocated, how large, on which device. */
#ifndef STANDIN_LEDGER_H
#define STANDIN_LEDGER_H

#define DEVICES 4

struct block {
	long bytes;
	long device;
};

/*
 * A new address above `base`, or 0: every n-th request fails when STANDIN_FAIL_EVERY=n. Freed addresses are given out
 * again, but not those of blocks with an odd number of bytes: they can be freed twice without freeing another's block.
 */
long ledger_alloc(long base, long bytes, int device);
/* 0, or -1 when nothing is allocated there; ledger_freed is what this thread freed last. */
int ledger_free(long address);
extern __thread struct block ledger_freed;
/* One line of JSON: live bytes per device, and how often what happened. */
void ledger_print(void);

#endif
