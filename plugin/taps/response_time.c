/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Response times: between the messages of a handshake, and from a packet to its ack or nak. */
#include "plugin/compat.h"

#include <epan/srt_table.h>

#include <uerudp/handshake.h>
#include <uerudp/time_ns.h>
#include "plugin/taps/listeners.h"
#include "plugin/taps/tap.h"

enum { TABLE_HANDSHAKE, TABLE_ACKED, TABLE_NACKED, TABLE_COUNT };

/* tshark prints only the title of the first column, with 22 places, and the rows, not the name of the table. */
#define HANDSHAKE_TITLE "Handshake answer"
#define ACKED_TITLE "Reported as delivered"
#define NACKED_TITLE "Reported not delivered"

static const char *const reporters[] = {"by unknown side", "by the client", "by the server"};

static void init_handshake(GArray *tables) {
    srt_stat_table *table = init_srt_table("Unreal Engine handshake", "Handshake", tables, UE_HANDSHAKE_TYPE_UNKNOWN,
                                           HANDSHAKE_TITLE, "uerudp.handshake.type", NULL);
    for (int type = 0; type < UE_HANDSHAKE_TYPE_UNKNOWN; type++) {
        init_srt_table_row(table, type, ue_values_name(UE_VALUES_HANDSHAKE_TYPE, (uint64_t)type));
    }
}

/* A row for each direction of the packet that carries the ack. */
static void init_acks(GArray *tables, const char *name, const char *short_name, const char *title) {
    int count = (int)G_N_ELEMENTS(reporters);
    srt_stat_table *table = init_srt_table(name, short_name, tables, count, title, "uerudp.direction", NULL);
    for (int i = 0; i < count; i++) {
        init_srt_table_row(table, i, reporters[i]);
    }
}

static void init(struct register_srt *srt _U_, GArray *tables) {
    init_handshake(tables);
    init_acks(tables, "Unreal Engine packets reported as delivered", "Acks", ACKED_TITLE);
    init_acks(tables, "Unreal Engine packets reported as not delivered", "Naks", NACKED_TITLE);
}

/* Wireshark expects the time of the request. */
static void add(const srt_data_t *data, unsigned table, int row, int64_t span_ns, packet_info *pinfo) {
    const nstime_t span = {.secs = span_ns / UE_NS_PER_S, .nsecs = (int)(span_ns % UE_NS_PER_S)};
    nstime_t request;
    if (span_ns >= 0) {
        nstime_delta(&request, &pinfo->abs_ts, &span);
        add_srt_table_data(g_array_index(data->srt_array, srt_stat_table *, table), row, &request, pinfo);
    }
}

static void add_handshake(const srt_data_t *data, const struct uerudp_tap_content *content, int64_t span_ns,
                          packet_info *pinfo) {
    if (content->is_handshake && content->handshake_type < UE_HANDSHAKE_TYPE_UNKNOWN) {
        add(data, TABLE_HANDSHAKE, content->handshake_type, span_ns, pinfo);
    }
}

static tap_packet_status add_times(void *user, packet_info *pinfo, epan_dissect_t *edt _U_, const void *tapped,
                                   tap_flags_t flags _U_) {
    const srt_data_t *data = user;
    const struct uerudp_tap *tap = tapped;
    const struct uerudp_tap_analysis *analysis = tap->analysis(tap);
    if (analysis->handshake_span_ns >= 0) {
        add_handshake(data, tap->content(tap), analysis->handshake_span_ns, pinfo);
    }
    for (uint32_t i = 0; i < analysis->ack_count; i++) {
        const struct uerudp_tap_ack *decoded = &analysis->acks[i];
        add(data, decoded->is_delivered ? TABLE_ACKED : TABLE_NACKED, tap->direction, decoded->span_ns, pinfo);
    }
    return TAP_PACKET_REDRAW;
}

void uerudp_response_time_register(int proto) {
    register_srt_table(proto, UERUDP_TAP_NAME, TABLE_COUNT, add_times, init, NULL);
}
