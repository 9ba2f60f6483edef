/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for libnccl.so.2: the functions of nccl.def as pnccl..., and nccl... as weak names of the same code. */
#define CALL_NCCL(name) name
#include "calls.h"

#include <stdlib.h>
#include <string.h>

__thread int nccl_groups;

static int enqueue(ncclComm_t comm)
{
	comm->calls++;
	spend(2000);
	return 0;
}

static int group_start(void)
{
	nccl_groups++;
	return 0;
}

static int group_end(void)
{
	if (nccl_groups == 0)
		return 5; /* ncclInvalidUsage */
	nccl_groups--;
	spend(3000);
	return 0;
}

static long mix(long hash, long value)
{
	return (hash ^ value) * 0x100000001b3l & LONG_MAX;
}

static long id_of(const ncclUniqueId *id)
{
	long hash = 17;

	for (size_t i = 0; i < sizeof(id->internal); i++)
		hash = mix(hash, id->internal[i]);
	return hash;
}

static int join(ncclComm_t *comm, int size, long id, int rank)
{
	*comm = malloc(sizeof(**comm));
	**comm = (struct ncclComm){ id, rank, size, rank, size, 0, 0 };
	return 0;
}

static int child(ncclComm_t parent, int color, ncclComm_t *comm)
{
	join(comm, (int)parent->nranks, mix(mix(parent->id, color), 1000 + parent->children++), (int)parent->rank);
	(*comm)->told_rank = (*comm)->told_nranks = NONE;
	return 0;
}

static int grow(ncclComm_t parent, int size, long id, int rank, ncclComm_t *comm)
{
	parent->children++;
	return join(comm, size, id, rank);
}

static int join_all(ncclComm_t *comms, int size)
{
	long id = mix(mix(now_nanos(), (long)comms), size);

	for (int i = 0; i < size; i++)
		join(&comms[i], size, id, i);
	return 0;
}

/* The memory stays, so that no later communicator has the same handle. */
static int leave(ncclComm_t comm)
{
	return comm->nranks > 0 ? 0 : 4;
}

static int tell_rank(ncclComm_t comm, int *rank)
{
	*rank = (int)(comm->told_rank = comm->rank);
	return 0;
}

static int tell_size(ncclComm_t comm, int *size)
{
	*size = (int)(comm->told_nranks = comm->nranks);
	return 0;
}

#define F(per_thread, kind, name, parameters, arguments, does, sample, ...)                                            \
	ncclResult_t pnccl##name parameters;                                                                           \
	ncclResult_t pnccl##name parameters { return (ncclResult_t)(does); }                                           \
	extern __typeof__(pnccl##name) nccl##name __attribute__((weak, alias("pnccl" #name)));
#include "nccl.def"
