/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trees of counts. A node is made when it is first counted. */
#include "plugin/compat.h"

#include <epan/stats_tree.h>

#include "plugin/listeners.h"
#include "plugin/tap.h"

#define MENU "Unreal Engine" UE_STATS_MENU_SEPARATOR
#define ROOT 0

static const char *direction_name(uint8_t direction) {
    return ue_values_name(UE_VALUES_DIRECTION, direction);
}

static const char *or_unknown(const char *name) {
    return name != NULL ? name : "unknown";
}

/* A copy was counted when its first was. */
static bool is_copy(const struct ue_tap *tap, const struct ue_tap_bunch *bunch) {
    return (tap->flags & UE_ANALYSIS_DUPLICATE) != 0 || (bunch->flags & UE_ANALYSIS_RETRANSMISSION) != 0;
}

static void tick(stats_tree *st, int parent, const char *name, bool is_so) {
    if (is_so) {
        tick_stat_node(st, name, parent, false);
    }
}

/* Below the root, only nodes that may have children are found again. */
static void add_to_average(stats_tree *st, const char *name, uint32_t value) {
    avg_stat_node_add_value_int(st, name, ROOT, true, (int)value);
}

/* ---- packets ---- */

static const char *packet_kind(const struct ue_tap *tap) {
    if (tap->is_malformed) {
        return "malformed";
    }
    if (tap->is_handshake) {
        return or_unknown(ue_values_name(UE_VALUES_HANDSHAKE_TYPE, tap->handshake_type));
    }
    if (tap->is_opaque) {
        return "encrypted or compressed";
    }
    return tap->bunch_count != 0 ? "with bunches" : "without bunches";
}

static tap_packet_status count_packets(stats_tree *st, packet_info *pinfo _U_, epan_dissect_t *edt _U_,
                                       const void *data, tap_flags_t flags _U_) {
    const struct ue_tap *tap = data;
    int all = tick_stat_node(st, "Packets", ROOT, true);
    int side = tick_stat_node(st, direction_name(tap->direction), all, true);
    tick_stat_node(st, packet_kind(tap), side, false);
    tick_stat_node(st, tap->generation, tick_stat_node(st, "Generations", ROOT, true), false);
    add_to_average(st, "Bytes", tap->size_bytes);
    return TAP_PACKET_REDRAW;
}

/* ---- bunches ---- */

static void count_bunch(stats_tree *st, const struct ue_tap *tap, const struct ue_tap_bunch *bunch) {
    int all = tick_stat_node(st, "Bunches", ROOT, true);
    int side = tick_stat_node(st, direction_name(tap->direction), all, true);
    tick_stat_node(st, bunch->reliable ? "reliable" : "unreliable", side, false);
    tick_stat_node(st, bunch->partial ? "parts of messages" : "whole messages", side, false);
    tick(st, side, "open a channel", bunch->open);
    tick(st, side, "close a channel", bunch->close);
    add_to_average(st, "Payload bits", bunch->data_bits);
}

static tap_packet_status count_bunches(stats_tree *st, packet_info *pinfo _U_, epan_dissect_t *edt _U_,
                                       const void *data, tap_flags_t flags _U_) {
    const struct ue_tap *tap = data;
    for (uint32_t i = 0; i < tap->bunch_count; i++) {
        count_bunch(st, tap, &tap->bunches[i]);
    }
    return TAP_PACKET_REDRAW;
}

/* ---- channels ---- */

static void count_channel(stats_tree *st, const struct ue_tap *tap, const struct ue_tap_bunch *bunch) {
    char text[32];
    int all = tick_stat_node(st, "Bunches by channel", ROOT, true);
    int kind = tick_stat_node(st, or_unknown(bunch->channel_name), all, true);
    g_snprintf(text, sizeof text, "stream %u, channel %u", tap->stream, bunch->channel);
    tick_stat_node(st, text, kind, false);
    if (bunch->open && !is_copy(tap, bunch)) {
        int opened = tick_stat_node(st, "Opened", ROOT, true);
        tick_stat_node(st, or_unknown(bunch->channel_name), opened, false);
    }
    if (bunch->close && !is_copy(tap, bunch)) {
        int closed = tick_stat_node(st, "Closed", ROOT, true);
        tick_stat_node(st, or_unknown(ue_values_name(UE_VALUES_CLOSE_REASON, bunch->close_reason)), closed, false);
    }
}

static tap_packet_status count_channels(stats_tree *st, packet_info *pinfo _U_, epan_dissect_t *edt _U_,
                                        const void *data, tap_flags_t flags _U_) {
    const struct ue_tap *tap = data;
    for (uint32_t i = 0; i < tap->bunch_count; i++) {
        count_channel(st, tap, &tap->bunches[i]);
    }
    return TAP_PACKET_REDRAW;
}

/* ---- losses ---- */

enum loss { MISSING, OUT_OF_ORDER, SEEN_TWICE, NOT_DELIVERED, SENT_AGAIN, SENT_NEEDLESSLY, LOSS_COUNT };

static const char *const loss_names[] = {
    "Packets missing",
    "Packets out of order",
    "Packets seen twice",
    "Packets reported as not delivered",
    "Reliable bunches sent again",
    "Reliable bunches sent again needlessly",
};

/* That there was no loss is worth a row. */
static void start_losses(stats_tree *st) {
    for (int i = 0; i < LOSS_COUNT; i++) {
        stats_tree_create_node(st, loss_names[i], ROOT, STAT_DT_INT, true);
    }
}

static void add_loss(stats_tree *st, enum loss loss, uint8_t sender, uint32_t count) {
    if (count != 0) {
        int parent = increase_stat_node(st, loss_names[loss], ROOT, true, (int)count);
        increase_stat_node(st, direction_name(sender), parent, false, (int)count);
    }
}

static void count_verdicts(stats_tree *st, const struct ue_tap *tap) {
    uint8_t sender = (uint8_t)ue_direction_reverse((enum ue_direction)tap->direction);
    for (uint32_t i = 0; i < tap->verdict_count; i++) {
        add_loss(st, NOT_DELIVERED, sender, !tap->verdicts[i].is_delivered);
    }
}

static void count_copies(stats_tree *st, const struct ue_tap *tap) {
    for (uint32_t i = 0; i < tap->bunch_count; i++) {
        uint32_t flags = tap->bunches[i].flags;
        add_loss(st, SENT_AGAIN, tap->direction, (flags & UE_ANALYSIS_RETRANSMISSION) != 0);
        add_loss(st, SENT_NEEDLESSLY, tap->direction, (flags & UE_ANALYSIS_SPURIOUS_RETRANSMISSION) != 0);
    }
}

static tap_packet_status count_losses(stats_tree *st, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *data,
                                      tap_flags_t flags _U_) {
    const struct ue_tap *tap = data;
    add_loss(st, MISSING, tap->direction, tap->missing);
    add_loss(st, OUT_OF_ORDER, tap->direction, (tap->flags & UE_ANALYSIS_OUT_OF_ORDER) != 0);
    add_loss(st, SEEN_TWICE, tap->direction, (tap->flags & UE_ANALYSIS_DUPLICATE) != 0);
    count_verdicts(st, tap);
    count_copies(st, tap);
    return TAP_PACKET_REDRAW;
}

void ue_stats_register(void) {
    static const struct {
        const char *abbreviation, *name;
        stat_tree_packet_cb count;
        stat_tree_init_cb start;
    } trees[] = {
        {"uerudp", MENU "Packets", count_packets, NULL},
        {"uerudp_bunches", MENU "Bunches", count_bunches, NULL},
        {"uerudp_channels", MENU "Channels", count_channels, NULL},
        {"uerudp_losses", MENU "Losses", count_losses, start_losses},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(trees); i++) {
        stats_tree_register_plugin(UE_TAP_NAME, trees[i].abbreviation, trees[i].name, 0, trees[i].count, trees[i].start,
                                   NULL);
    }
}
