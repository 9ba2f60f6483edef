// SPDX-License-Identifier: Apache-2.0
//
// What `zernel demo` records where no PyTorch is installed: a training process and its loader processes, with one deliberate flaw.
//
// A loader gets a sample from a store that answers after STORE_NS, which stands for a remote one: it sleeps. The training process asks
// for a batch when it needs it, so each step is the store's time and then its own. With `prefetch` it asks for the next batch before it
// computes with this one, and the store answers meanwhile. Most of the computing is a device's, for which it sleeps too: so it hardly
// matters how busy the CPUs are. It knows nothing of Zernel, and at the end says what it measured itself.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 150, LOADERS = 2, BATCH = 4096, STORE_NS = 9000000, DEVICE_NS = 8000000, COMPUTE_NS = 2000000 };

// Functions that probes find by name: called as they stand, never inlined.
#define PART __attribute__((noinline, used, visibility("default")))

struct loader {
	pid_t pid;
	int requests;
	int batches;
};

static struct loader loaders[LOADERS];
static float batch[BATCH], weights[BATCH], gradient[BATCH];

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

// CPU time of this thread: the same work whoever else uses the CPUs.
static long cpu_ns(void)
{
	struct timespec used;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return used.tv_sec * 1000000000L + used.tv_nsec;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void transfer(ssize_t (*call)(int, void *, size_t), int fd, void *data, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t some = call(fd, (char *)data + done, bytes - done);
		if (some <= 0)
			exit(some < 0); // the other side has gone
		done += some;
	}
}

static ssize_t send_some(int fd, void *data, size_t bytes)
{
	return write(fd, data, bytes);
}

static void sleep_ns(long ns)
{
	struct timespec time = { 0, ns };
	nanosleep(&time, NULL);
}

PART void load_sample(float *sample, int index)
{
	sleep_ns(STORE_NS);
	for (int i = 0; i < BATCH; i++)
		sample[i] = (float)((index * 31 + i * 17) % 255) / 255;
}

static void loader(int requests, int batches)
{
	static float sample[BATCH];
	prctl(PR_SET_NAME, "demo-loader");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int index;
		transfer(read, requests, &index, sizeof(index));
		load_sample(sample, index);
		transfer(send_some, batches, sample, sizeof(sample));
	}
}

static void start_loader(struct loader *started)
{
	int requests[2], batches[2];
	if (pipe(requests) || pipe(batches))
		fail("pipe");
	started->pid = fork();
	if (started->pid < 0)
		fail("fork");
	if (started->pid == 0)
		loader(requests[0], batches[1]);
	started->requests = requests[1];
	started->batches = batches[0];
}

static void request(int index)
{
	transfer(send_some, loaders[index % LOADERS].requests, &index, sizeof(index));
}

PART void next_batch(int index, int prefetch)
{
	if (!prefetch)
		request(index);
	transfer(read, loaders[index % LOADERS].batches, batch, sizeof(batch));
}

PART float forward_backward(void)
{
	float loss = 0;
	long until = cpu_ns() + COMPUTE_NS;
	do {
		loss = 0;
		for (int i = 0; i < BATCH; i++) {
			float wrong = weights[i] * batch[i] - batch[(i * 7) % BATCH];
			gradient[i] = wrong * batch[i];
			loss += wrong * wrong;
		}
	} while (cpu_ns() < until);
	return loss / BATCH;
}

PART void wait_for_device(void)
{
	sleep_ns(DEVICE_NS);
}

PART void optimizer_step(void)
{
	for (int i = 0; i < BATCH; i++)
		weights[i] -= 0.1f * gradient[i];
}

static int train(int prefetch)
{
	for (int i = 0; i < LOADERS; i++)
		start_loader(&loaders[i]);
	double begin = seconds(), waited = 0;
	float loss = 0;
	if (prefetch)
		request(0);
	for (int step = 0; step < STEPS; step++) {
		double asked = seconds();
		next_batch(step, prefetch);
		waited += seconds() - asked;
		if (prefetch && step + 1 < STEPS)
			request(step + 1);
		loss = forward_backward();
		wait_for_device();
		optimizer_step();
	}
	double took = seconds() - begin;
	for (int i = 0; i < LOADERS; i++) {
		kill(loaders[i].pid, SIGKILL);
		waitpid(loaders[i].pid, NULL, 0);
	}
	printf("the job measured itself: %d steps in %.2f s, %.2f s of it waiting for data, last loss %.3f\n", STEPS, took, waited, loss);
	return 0;
}

int main(int count, char **arguments)
{
	return train(count > 1 && strcmp(arguments[1], "prefetch") == 0);
}

// Without the start files of a C compiler, which differ from machine to machine: the loader has initialised libc already.
__attribute__((used)) static void begin(long *stack)
{
	exit(main((int)stack[0], (char **)(stack + 1)));
}

__asm__(".globl _start\n"
	"_start:\n"
	"	xor %ebp, %ebp\n"
	"	mov %rsp, %rdi\n"
	"	and $-16, %rsp\n"
	"	call begin\n");
