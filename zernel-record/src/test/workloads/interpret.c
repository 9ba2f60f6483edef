// SPDX-License-Identifier: Apache-2.0
/* Calls the evaluator for `Job.first` once, `Job.second` twice, and for a function whose name is not ASCII. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "interpreter.h"

static void call(const char *name, int ascii)
{
	PyASCIIObject *text = calloc(1, sizeof(*text) + 64);
	PyCodeObject *code = aligned_alloc(16, (sizeof(*code) + 15) / 16 * 16);
	_PyInterpreterFrame frame;

	memset(code, 0x7f, sizeof(*code));
	memset(&frame, 0x7f, sizeof(frame));
	text->state.kind = 1;
	text->state.compact = 1;
	text->state.ascii = ascii;
	strcpy((char *)(text + 1), name);
	code->co_qualname = (PyObject *)text;
#if MINOR == 11
	frame.f_code = code;
#elif MINOR == 14
	frame.f_executable = (uintptr_t)code | 1; /* Py_TAG_REFCNT */
#else
	frame.f_executable = (PyObject *)code;
#endif
	_PyEval_EvalFrameDefault(NULL, &frame, 0);
}

int main(void)
{
	puts("ready");
	fflush(stdout);
	getchar();
	call("Job.first", 1);
	call("Job.second", 1);
	call("Job.second", 1);
	call("x", 0);
	return 0;
}
