/* SPDX-License-Identifier: Apache-2.0 */
/* torch::autograd::profiler::record_function_enter_new and _exit_new as they are called: with a std::string and an intrusive_ptr. */
#include <stddef.h>

struct std_string {
	const char *data;
	size_t length;
	char local[16];
};

void *enter_region(void **handle, const struct std_string *name, const void *arguments)
	asm("_ZN5torch8autograd8profiler25record_function_enter_newERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEERKSt8optionalIS7_E");
void exit_region(void **handle)
	asm("_ZN5torch8autograd8profiler24record_function_exit_newERKN3c1013intrusive_ptrINS1_20PythonRecordFunctionENS2_6detail34intrusive_target_default_null_typeIS4_EEEE");
