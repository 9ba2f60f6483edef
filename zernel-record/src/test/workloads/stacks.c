/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves functions otherwise than by returning from them: coroutines switch stacks, threads are cancelled and exit. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK (1 << 17)
#define TURNS 5
#define PROBED __attribute__((noinline))

static ucontext_t all, one, other;
static volatile int calls;
static int cleaned;
static sem_t never;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

PROBED void stacks_switch(ucontext_t *from, ucontext_t *to)
{
	calls++;
	swapcontext(from, to);
	calls++;
}

static void run_one(void)
{
	for (int i = 0; i < TURNS; i++)
		stacks_switch(&one, &other);
	setcontext(&all);
}

static void run_other(void)
{
	for (;;)
		stacks_switch(&other, &one);
}

/* The kernel sees in a lower stack pointer a deeper call, in a higher one that of a call that has ended. */
static void coroutines(char *stack_of_one, char *stack_of_other)
{
	getcontext(&one);
	one.uc_stack.ss_sp = stack_of_one;
	one.uc_stack.ss_size = STACK;
	makecontext(&one, run_one, 0);
	getcontext(&other);
	other.uc_stack.ss_sp = stack_of_other;
	other.uc_stack.ss_size = STACK;
	makecontext(&other, run_other, 0);
	stacks_switch(&all, &one);
}

static void clean(void *unused)
{
	cleaned++;
}

static void unlock(void *unused)
{
	pthread_mutex_unlock(&mutex);
}

PROBED void stacks_wait(void)
{
	calls++;
	sem_wait(&never);
	calls++;
}

PROBED void stacks_wait_locked(void)
{
	calls++;
	pthread_cond_wait(&condition, &mutex);
	calls++;
}

PROBED void stacks_exit(void)
{
	calls++;
	pthread_exit(NULL);
}

/* What cleans up here is found by unwinding the probed function. */
static void *thread(void *function)
{
	pthread_cleanup_push(clean, NULL);
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, NULL);
	((void (*)(void))function)();
	pthread_cleanup_pop(1);
	pthread_cleanup_pop(1);
	return NULL;
}

static void end_thread(void (*function)(void), int cancelled)
{
	pthread_t id;

	pthread_create(&id, NULL, thread, function);
	if (cancelled) {
		usleep(20000);
		pthread_cancel(id);
	}
	pthread_join(id, NULL);
}

int main(void)
{
	char *memory = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	coroutines(memory, memory + STACK);
	coroutines(memory + STACK, memory);
	for (int i = 0; i < 3; i++) {
		end_thread(stacks_exit, 0);
		end_thread(stacks_wait, 1);
		end_thread(stacks_wait_locked, 1);
	}
	printf("cleaned up %d times\n", cleaned);
	return 0;
}
