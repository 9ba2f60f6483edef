// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the NVIDIA driver says through NVML, asked by the recorder: no programs, only their schema. */
#include "zernel.bpf.h"

EVENT(gpu_sample, "a value of a GPU at ts_ns, as the driver gives it; device is the index of NVML")
{
	EVENT_HEAD;
	DEVICE_FIELD;
	z_number value DOC("what was measured");
	z_text unit[8] DOC("unit of value");
	z_text object[1] DOC("the MIG instance that the value is of; NULL for the whole GPU");
};

EVENT(gpu_process, "a value of a process on a GPU at ts_ns; device is the index of NVML")
{
	EVENT_HEAD;
	DEVICE_FIELD;
	z_number value DOC("what was measured");
	z_text unit[8] DOC("unit of value");
};

char LICENSE[] SEC("license") = "Dual BSD/GPL";
