/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A preloaded library that starts callgrind's instrumentation when tshark opens a capture. Before that, tshark only
 * registers its dissectors, which takes most of the time of an instrumented run. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <epan/epan.h>
#include <valgrind/callgrind.h>

epan_t *epan_new(struct packet_provider_data *provider, const struct packet_provider_funcs *functions) {
    void *next = dlsym(RTLD_NEXT, "epan_new");
    CALLGRIND_START_INSTRUMENTATION;
    return ((__typeof__(epan_new) *)next)(provider, functions);
}
