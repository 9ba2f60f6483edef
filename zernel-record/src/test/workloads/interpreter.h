/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of CPython 3.MINOR that lead from a frame to its function's name, member by member as in its headers. */
#include <stdint.h>
#include <stddef.h>

typedef struct { intptr_t ob_refcnt; void *ob_type; } PyObject;
typedef struct { PyObject ob_base; intptr_t ob_size; } PyVarObject;

/* Include/cpython/unicodeobject.h */
typedef struct {
	PyObject ob_base;
	intptr_t length;
	intptr_t hash;
	struct {
		unsigned int interned : 2;
		unsigned int kind : 3;
		unsigned int compact : 1;
		unsigned int ascii : 1;
		unsigned int ready_or_statically_allocated : 1;
	} state;
#if MINOR == 11
	wchar_t *wstr;
#endif
} PyASCIIObject;

/* Include/cpython/code.h */
typedef struct {
	PyVarObject ob_base;
	PyObject *co_consts, *co_names, *co_exceptiontable;
	int co_flags;
#if MINOR == 11
	short co_warmup, _co_linearray_entry_size;
#endif
	int co_argcount, co_posonlyargcount, co_kwonlyargcount, co_stacksize, co_firstlineno, co_nlocalsplus;
#if MINOR == 11
	int co_nlocals, co_nplaincellvars, co_ncellvars, co_nfreevars;
#else
	int co_framesize, co_nlocals, co_ncellvars, co_nfreevars;
	uint32_t co_version;
#endif
	PyObject *co_localsplusnames, *co_localspluskinds, *co_filename, *co_name, *co_qualname;
} PyCodeObject;

/* Include/internal/pycore_frame.h, pycore_interpframe_structs.h */
typedef struct _PyInterpreterFrame {
#if MINOR == 11
	PyObject *f_func, *f_globals, *f_builtins, *f_locals;
	PyCodeObject *f_code;
	PyObject *frame_obj;
	struct _PyInterpreterFrame *previous;
#elif MINOR == 14
	uintptr_t f_executable; /* _PyStackRef */
	struct _PyInterpreterFrame *previous;
#else
	PyObject *f_executable; /* f_code in 3.12 */
	struct _PyInterpreterFrame *previous;
#endif
} _PyInterpreterFrame;

PyObject *_PyEval_EvalFrameDefault(void *tstate, _PyInterpreterFrame *frame, int throwflag);
