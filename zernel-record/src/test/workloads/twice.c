// SPDX-License-Identifier: Apache-2.0
/* Calls functions that return twice. */
#include <setjmp.h>
#include <stdio.h>
#include <ucontext.h>

static jmp_buf plain;
static sigjmp_buf with_signals;

__attribute__((noinline)) static void leave(void)
{
	longjmp(plain, 1);
}

int main(void)
{
	volatile int resumed = 0;
	ucontext_t here;

	if (!setjmp(plain))
		leave();
	if (!sigsetjmp(with_signals, 1))
		siglongjmp(with_signals, 1);
	getcontext(&here);
	if (!resumed++)
		setcontext(&here);
	puts("went on");
	return 0;
}
