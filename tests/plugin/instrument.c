/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A preloaded library that lets callgrind count from where tshark reads the first packet to where it closes the
 * capture: what is before and after takes most of the time of an instrumented run. It also gives tshark's hash tables a
 * fixed seed, so that equal runs count equally many instructions. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "plugin/compat.h"

#include <dlfcn.h>
#include <valgrind/callgrind.h>
#include <wiretap/wtap.h>
#include <ws_symbol_export.h>

#define SEED 0x9e3779b1 /* the tables multiply by it */

#if UERUDP_WIRESHARK_BEFORE(4, 6)
#define BUFFER_PARAMETER Buffer *buffer,
#define BUFFER buffer,
#else
#define BUFFER_PARAMETER
#define BUFFER
#endif

uerudp_callback_bool wtap_read(wtap *capture, wtap_rec *record, BUFFER_PARAMETER int *error, char **error_text,
                               int64_t *offset) {
    static __typeof__(wtap_read) *next;
    if (next == NULL) {
        next = (__typeof__(wtap_read) *)dlsym(RTLD_NEXT, "wtap_read");
        CALLGRIND_START_INSTRUMENTATION;
    }
    return next(capture, record, BUFFER error, error_text, offset);
}

void wtap_close(wtap *capture) {
    void *next = dlsym(RTLD_NEXT, "wtap_close");
    CALLGRIND_STOP_INSTRUMENTATION;
    ((__typeof__(wtap_close) *)next)(capture);
}

WS_DLL_PUBLIC_DEF guint32 g_random_int(void) {
    return SEED;
}
