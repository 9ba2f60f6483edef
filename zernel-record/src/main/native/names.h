/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernels, sent through the ring once and then known by number. */
#ifndef ZERNEL_NAMES_H
#define ZERNEL_NAMES_H

#include "ring.h"

/* The number of a name, sent before if it is new; 0 where the ring is full. For one thread at a time. */
uint32_t names_id(struct ring *ring, const char *name);

#endif
