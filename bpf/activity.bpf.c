// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What ran on GPUs, by CUPTI in the job (zernel-record/src/main/native): no programs, only their schema. */
#include "zernel.bpf.h"

#define ACTIVITY_FIELDS                                                                           \
	DEVICE_FIELD;                                                                             \
	STREAM_FIELD;                                                                             \
	z_number correlation DOC("number of the call that launched it, in its process");          \
	z_time_ns launch_ns DOC("when that call began, since the epoch; NULL when it was not "    \
				"seen")

EVENT(gpu_kernel, "a kernel that ran on a GPU; dur_ns is GPU execution time, name the kernel")
{
	EVENT_HEAD;
	ACTIVITY_FIELDS;
	z_count grid_x DOC("blocks in the grid along x");
	z_count grid_y DOC("blocks in the grid along y");
	z_count grid_z DOC("blocks in the grid along z");
	z_count block_x DOC("threads in a block along x");
	z_count block_y DOC("threads in a block along y");
	z_count block_z DOC("threads in a block along z");
};

EVENT(gpu_memcpy, "a copy that a GPU made; dur_ns is GPU execution time")
{
	EVENT_HEAD;
	ACTIVITY_FIELDS;
	BYTES_FIELD;
	z_text copy_kind[1] DOC("direction: HtoH, HtoD, DtoH, DtoD, PtoP, default or memset");
	z_text host_memory[1] DOC("pinned or pageable; NULL when that cannot be known");
	z_text __pad[6];
};

EVENT(gpu_memset, "a fill that a GPU made; dur_ns is GPU execution time")
{
	EVENT_HEAD;
	ACTIVITY_FIELDS;
	BYTES_FIELD;
	z_text copy_kind[1] DOC("direction: HtoH, HtoD, DtoH, DtoD, PtoP, default or memset");
	z_text __pad[7];
};

char LICENSE[] SEC("license") = "Dual BSD/GPL";
