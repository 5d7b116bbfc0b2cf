/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Example of a plugin that listens to the taps of uerudp: `tshark -2 -q -r FILE -z resent,uerudp` prints for each
   connection and sender how many packets are missing, how many bunches there are, and how many of these are
   retransmissions. Build it like any Wireshark plugin, with the root of this tree in the include path, and install it
   beside uerudp.so. */
#include "plugin/taps/tap.h"

#include <stdio.h>

#include <epan/stat_tap_ui.h>
#include <ws_symbol_export.h>
#if UERUDP_PLUGIN_DESCRIBES_ITSELF
#include <wsutil/plugins.h>
#endif

WS_DLL_PUBLIC_DEF const char plugin_version[] = "1.0";
WS_DLL_PUBLIC_DEF const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
WS_DLL_PUBLIC_DEF const int plugin_want_minor = WIRESHARK_VERSION_MINOR;

WS_DLL_PUBLIC void plugin_register(void);

#define SENDERS 3 /* values of enum ue_direction */

static const char *const sender_names[SENDERS] = {"unknown", "client", "server"};

struct sums {
    guint packets, missing, bunches, retransmitted;
};

static struct sums *sums_of(GArray *all, const struct uerudp_tap *tap) {
    guint index = tap->stream * SENDERS + tap->direction;
    if (index >= all->len) {
        g_array_set_size(all, index + 1);
    }
    return &g_array_index(all, struct sums, index);
}

static tap_packet_status add(void *user, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *data,
                             tap_flags_t flags _U_) {
    const struct uerudp_tap *tap = data;
    const struct uerudp_tap_analysis *analysis = tap->analysis(tap);
    struct sums *sums = sums_of(user, tap);
    sums->packets++;
    sums->missing += analysis->missing;
    sums->bunches += tap->content(tap)->bunches.all;
    sums->retransmitted += analysis->retransmission_count;
    return TAP_PACKET_REDRAW;
}

static void print(void *user) {
    const GArray *all = user;
    for (guint i = 0; i < all->len; i++) {
        const struct sums *sums = &g_array_index(all, struct sums, i);
        if (sums->packets != 0) {
            printf("connection %u, %s: %u packets, %u missing, %u bunches, %u of them retransmitted\n", i / SENDERS,
                   sender_names[i % SENDERS], sums->packets, sums->missing, sums->bunches, sums->retransmitted);
        }
    }
}

static void start_anew(void *user) {
    g_array_set_size(user, 0);
}

static void finish(void *user) {
    g_array_free(user, TRUE);
}

static bool start_listening(void) {
    GArray *all = g_array_new(FALSE, TRUE, sizeof(struct sums));
    GString *error = register_tap_listener(UERUDP_TAP_NAME, all, NULL, 0, start_anew, add, print, finish);
    if (error != NULL) { /* uerudp.so is not loaded */
        fprintf(stderr, "resent: %s\n", error->str);
        g_string_free(error, TRUE);
        finish(all);
        return false;
    }
    return true;
}

#if UERUDP_STAT_INIT_RETURNS_BOOL
static bool begin(const char *arguments _U_, void *unused _U_) {
    return start_listening();
}
#else
static void begin(const char *arguments _U_, void *unused _U_) {
    start_listening();
}
#endif

static void register_listener(void) {
    static stat_tap_ui ui = {REGISTER_STAT_GROUP_GENERIC, "Retransmitted bunches", "resent,uerudp", begin, 0, NULL};
    register_stat_tap_ui(&ui, NULL);
}

void plugin_register(void) {
    static const tap_plugin retransmitted = {register_listener};
    tap_register_plugin(&retransmitted);
}

#if UERUDP_PLUGIN_DESCRIBES_ITSELF
WS_DLL_PUBLIC uint32_t plugin_describe(void);

uint32_t plugin_describe(void) {
    return WS_PLUGIN_DESC_TAP_LISTENER;
}
#endif
