// SPDX-License-Identifier: Apache-2.0
/* An evaluator that does nothing, with the symbols of CPython 3.MINOR. */
#include "interpreter.h"

const unsigned long Py_Version = 0x03000000 | MINOR << 16 | 0x01f0;

PyObject *_PyEval_EvalFrameDefault(void *tstate, _PyInterpreterFrame *frame, int throwflag)
{
	(void)tstate;
	(void)throwflag;
	return (PyObject *)frame;
}
