/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The job may run on an older libc than that of the machine where this was built, as in a container. So of functions
 * that have moved since, the versions are bound that every x86-64 has; check.sh looks for newer ones.
 */
#ifndef ZERNEL_LIBC_H
#define ZERNEL_LIBC_H

#ifdef __x86_64__
__asm__(".symver dlopen, dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
__asm__(".symver pthread_create, pthread_create@GLIBC_2.2.5");
#endif

#endif
