// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Calls of the CUDA runtime and driver: only the schema, functions.bpf.c sends them. dur_ns is time on the
 * CPU: enqueuing, allocating or blocked, never the execution on the GPU. */
#include "zernel.bpf.h"

EVENT(cuda_launch, "a kernel launch; dur_ns is the time to enqueue it, of one in 16 calls of the "
		   "driver, NULL of "
		   "others")
{
	EVENT_HEAD;
	STATUS_FIELD;
	DEPTH_FIELD;
	z_addr func DOC("handle of a kernel: host stub, cudaKernel_t or CUfunction");
	STREAM_FIELD;
	z_count grid_x DOC("blocks in the grid along x");
	z_count grid_y DOC("blocks in the grid along y");
	z_count grid_z DOC("blocks in the grid along z");
	z_count block_x DOC("threads in a block along x");
	z_count block_y DOC("threads in a block along y");
	z_count block_z DOC("threads in a block along z");
	z_bytes shared_bytes DOC("dynamic shared memory of a block");
	z_text kernel[1] DOC("name of the kernel, demangled");
	COUNT_FIELD;
};

EVENT(cuda_graph, "capture, instantiation or launch of a CUDA graph; count is the kernel launches "
		  "captured in it")
{
	EVENT_HEAD;
	STATUS_FIELD;
	DEPTH_FIELD;
	STREAM_FIELD;
	ADDRESS_FIELD;
	COUNT_FIELD;
};

EVENT(cuda_copy, "a copy or fill of memory; dur_ns is the time to enqueue it or, when it is not "
		 "async, to wait for it")
{
	EVENT_HEAD;
	STATUS_FIELD;
	DEPTH_FIELD;
	BYTES_FIELD;
	ADDRESS_FIELD;
	z_addr src DOC("address copied from");
	z_text copy_kind[1] DOC("direction: HtoH, HtoD, DtoH, DtoD, PtoP, default or memset");
	z_number async DOC("1 when the call is asynchronous by its name, 0 when it waits");
	STREAM_FIELD;
	z_text host_memory[1] DOC("pinned or pageable; NULL when that cannot be known");
	STACK_FIELD;
};

EVENT(cuda_sync, "a thread blocked until a stream, event or device is done")
{
	EVENT_HEAD;
	STATUS_FIELD;
	DEPTH_FIELD;
	STREAM_FIELD;
	ADDRESS_FIELD;
	STACK_FIELD;
};

EVENT(gpu_alloc, "device memory allocated; failed when status is not 0")
{
	EVENT_HEAD;
	STATUS_FIELD;
	DEPTH_FIELD;
	BYTES_FIELD;
	ADDRESS_FIELD;
	DEVICE_FIELD;
	STREAM_FIELD;
	STACK_FIELD;
};

EVENT(gpu_free, "device memory freed; bytes and device are those of its allocation, NULL when "
		"that was not seen")
{
	EVENT_HEAD;
	STATUS_FIELD;
	DEPTH_FIELD;
	BYTES_FIELD;
	ADDRESS_FIELD;
	DEVICE_FIELD;
	STREAM_FIELD;
};

EVENT(gpu_map,
      "address space of the driver reserved, mapped or unmapped; it holds no memory of its own")
{
	EVENT_HEAD;
	STATUS_FIELD;
	DEPTH_FIELD;
	BYTES_FIELD;
	ADDRESS_FIELD;
};

char LICENSE[] SEC("license") = "Dual BSD/GPL";
