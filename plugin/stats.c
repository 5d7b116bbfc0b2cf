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

/* Each count costs some hundred instructions, so those of a packet are put together. */
static void add(stats_tree *st, int parent, const char *name, uint32_t count) {
    if (count != 0) {
        increase_stat_node(st, name, parent, false, (int)count);
    }
}

static int add_parent(stats_tree *st, int parent, const char *name, uint32_t count) {
    return increase_stat_node(st, name, parent, true, (int)count);
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
    int all = add_parent(st, ROOT, "Packets", 1);
    int side = add_parent(st, all, direction_name(tap->direction), 1);
    add(st, side, packet_kind(tap), 1);
    add(st, add_parent(st, ROOT, "Generations", 1), tap->generation, 1);
    return TAP_PACKET_REDRAW;
}

/* ---- bunches ---- */

struct bunch_counts {
    uint32_t reliable, partial, open, close;
};

static struct bunch_counts sum_bunches(const struct ue_tap *tap) {
    struct bunch_counts sum = {0};
    for (uint32_t i = 0; i < tap->bunch_count; i++) {
        sum.reliable += tap->bunches[i].reliable;
        sum.partial += tap->bunches[i].partial;
        sum.open += tap->bunches[i].open;
        sum.close += tap->bunches[i].close;
    }
    return sum;
}

static tap_packet_status count_bunches(stats_tree *st, packet_info *pinfo _U_, epan_dissect_t *edt _U_,
                                       const void *data, tap_flags_t flags _U_) {
    const struct ue_tap *tap = data;
    struct bunch_counts sum = sum_bunches(tap);
    if (tap->bunch_count == 0) {
        return TAP_PACKET_DONT_REDRAW;
    }
    int all = add_parent(st, ROOT, "Bunches", tap->bunch_count);
    int side = add_parent(st, all, direction_name(tap->direction), tap->bunch_count);
    add(st, side, "reliable", sum.reliable);
    add(st, side, "unreliable", tap->bunch_count - sum.reliable);
    add(st, side, "parts of messages", sum.partial);
    add(st, side, "whole messages", tap->bunch_count - sum.partial);
    add(st, side, "open a channel", sum.open);
    add(st, side, "close a channel", sum.close);
    return TAP_PACKET_REDRAW;
}

/* ---- channels ---- */

/* How many bunches from this one on are of channels with the same name. */
static uint32_t run_length(const struct ue_tap *tap, uint32_t first) {
    uint32_t end = first + 1;
    while (end < tap->bunch_count && tap->bunches[end].channel_name == tap->bunches[first].channel_name) {
        end++;
    }
    return end - first;
}

/* A copy was counted when its first was. */
static void count_change(stats_tree *st, const struct ue_tap_bunch *bunch) {
    if ((bunch->flags & UE_ANALYSIS_SEEN_BEFORE) != 0) {
        return;
    }
    if (bunch->open) {
        add(st, add_parent(st, ROOT, "Opened", 1), or_unknown(bunch->channel_name), 1);
    }
    if (bunch->close) {
        const char *reason = ue_values_name(UE_VALUES_CLOSE_REASON, bunch->close_reason);
        add(st, add_parent(st, ROOT, "Closed", 1), or_unknown(reason), 1);
    }
}

static tap_packet_status count_channels(stats_tree *st, packet_info *pinfo _U_, epan_dissect_t *edt _U_,
                                        const void *data, tap_flags_t flags _U_) {
    const struct ue_tap *tap = data;
    if (tap->bunch_count == 0) {
        return TAP_PACKET_DONT_REDRAW;
    }
    int all = add_parent(st, ROOT, "Bunches", tap->bunch_count);
    for (uint32_t i = 0, count; i < tap->bunch_count; i += count) {
        count = run_length(tap, i);
        add(st, all, or_unknown(tap->bunches[i].channel_name), count);
    }
    for (uint32_t i = 0; i < tap->bunch_count; i++) {
        count_change(st, &tap->bunches[i]);
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
        add(st, add_parent(st, ROOT, loss_names[loss], count), direction_name(sender), count);
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
