/* SPDX-License-Identifier: Apache-2.0 */
/* c10::cuda::CUDACachingAllocator::raw_alloc_with_stream(unsigned long, cudaStream_t) and raw_delete(void *). */
#include <stddef.h>

void *c10_alloc(size_t bytes, void *stream)
	asm("_ZN3c104cuda20CUDACachingAllocator21raw_alloc_with_streamEmP11CUstream_st");
void c10_delete(void *p) asm("_ZN3c104cuda20CUDACachingAllocator10raw_deleteEPv");
