/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics trees: packets, bunches, channels and losses. */
#include "plugin/compat.h"

#include <epan/stats_tree.h>

#include "plugin/taps/listeners.h"
#include "plugin/taps/tap.h"

#define MENU "Unreal Engine" UERUDP_STATS_MENU_SEPARATOR
#define ROOT 0

static const char *direction_name(uint8_t direction) {
    return ue_values_name(UE_VALUES_DIRECTION, direction);
}

static const char *or_unknown(const char *name) {
    return name != NULL ? name : "unknown";
}

/* An increment costs some hundred instructions, so a packet's equal counts are added at once. */
static void add(stats_tree *st, int parent, const char *name, uint32_t count) {
    if (count != 0) {
        increase_stat_node(st, name, parent, false, (int)count);
    }
}

static int add_parent(stats_tree *st, int parent, const char *name, uint32_t count) {
    return increase_stat_node(st, name, parent, true, (int)count);
}

/* ---- packets ---- */

static const char *packet_kind(const struct uerudp_tap_content *content) {
    if (content->is_malformed) {
        return "malformed";
    }
    if (content->is_undecided) {
        return "generation not final";
    }
    if (content->is_handshake) {
        return or_unknown(ue_values_name(UE_VALUES_HANDSHAKE_TYPE, content->handshake_type));
    }
    if (content->is_opaque) {
        return "encrypted, compressed or in an unknown format";
    }
    return content->bunches.all != 0 ? "with bunches" : "without bunches";
}

/* Nodes with a known id need no lookup by name. They are created first, so that every tree has the same ids; an unknown
   direction is rare. */
static int sides[] = {[UE_CLIENT_TO_SERVER] = 0, [UE_SERVER_TO_CLIENT] = 0};
static int generations;

static void init_packets(stats_tree *st) {
    int all = stats_tree_create_node(st, "Packets", ROOT, STAT_DT_INT, true);
    for (unsigned i = UE_CLIENT_TO_SERVER; i < G_N_ELEMENTS(sides); i++) {
        sides[i] = stats_tree_create_pivot(st, direction_name(i), all);
    }
    generations = stats_tree_create_pivot(st, "Generations", ROOT);
}

static tap_packet_status count_packets(stats_tree *st, packet_info *pinfo _U_, epan_dissect_t *edt _U_,
                                       const void *data, tap_flags_t flags _U_) {
    const struct uerudp_tap *tap = data;
    int all = add_parent(st, ROOT, "Packets", 1);
    const char *kind = packet_kind(tap->content(tap));
    if (tap->direction == UE_DIRECTION_UNKNOWN) {
        add(st, add_parent(st, all, direction_name(tap->direction), 1), kind, 1);
    } else {
        stats_tree_tick_pivot(st, sides[tap->direction], kind);
    }
    stats_tree_tick_pivot(st, generations, tap->generation);
    return TAP_PACKET_REDRAW;
}

/* ---- bunches ---- */

static tap_packet_status count_bunches(stats_tree *st, packet_info *pinfo _U_, epan_dissect_t *edt _U_,
                                       const void *data, tap_flags_t flags _U_) {
    const struct uerudp_tap *tap = data;
    if (tap->is_other_view) {
        return TAP_PACKET_DONT_REDRAW;
    }
    const struct ue_bunch_counts *counts = &tap->content(tap)->bunches;
    if (counts->all == 0) {
        return TAP_PACKET_DONT_REDRAW;
    }
    int side =
        add_parent(st, add_parent(st, ROOT, "Bunches", counts->all), direction_name(tap->direction), counts->all);
    add(st, side, "reliable", counts->reliable);
    add(st, side, "unreliable", counts->all - counts->reliable);
    add(st, side, "fragments", counts->partial);
    add(st, side, "whole messages", counts->all - counts->partial);
    add(st, side, "open a channel", counts->open);
    add(st, side, "close a channel", counts->close);
    return TAP_PACKET_REDRAW;
}

/* ---- channels ---- */

/* The number of leading bunches with the same channel name. */
static uint32_t run_length(const struct uerudp_tap_bunch *bunches, uint32_t count) {
    uint32_t length = 1;
    while (length < count && bunches[length].channel_name == bunches->channel_name) {
        length++;
    }
    return length;
}

/* A retransmission was counted at its first transmission. */
static void count_open_close(stats_tree *st, const struct uerudp_tap_bunch *bunch) {
    bool is_first = (bunch->flags & UERUDP_ANALYSIS_SEEN_BEFORE) == 0;
    if (bunch->open && is_first) {
        add(st, add_parent(st, ROOT, "Opened", 1), or_unknown(bunch->channel_name), 1);
    }
    if (bunch->close && is_first) {
        const char *reason = ue_values_name(UE_VALUES_CLOSE_REASON, bunch->close_reason);
        add(st, add_parent(st, ROOT, "Closed", 1), or_unknown(reason), 1);
    }
}

static tap_packet_status count_channels(stats_tree *st, packet_info *pinfo _U_, epan_dissect_t *edt _U_,
                                        const void *data, tap_flags_t flags _U_) {
    const struct uerudp_tap *tap = data;
    if (tap->is_other_view) {
        return TAP_PACKET_DONT_REDRAW;
    }
    uint32_t count;
    const struct uerudp_tap_bunch *bunches = tap->bunches(tap, &count);
    if (count == 0) {
        return TAP_PACKET_DONT_REDRAW;
    }
    int all = add_parent(st, ROOT, "Bunches", count);
    for (uint32_t i = 0, length; i < count; i += length) {
        length = run_length(&bunches[i], count - i);
        add(st, all, or_unknown(bunches[i].channel_name), length);
    }
    for (uint32_t i = 0; i < count; i++) {
        count_open_close(st, &bunches[i]);
    }
    return TAP_PACKET_REDRAW;
}

/* ---- losses ---- */

/* Rows by direction of the packets. Wireshark's percentage is the share of the row above, so each row is a part of it:
   a packet that is missing is none of those captured, and one that is reported may be neither. */
enum loss_whole { CAPTURED, SENT, REPORTED, RELIABLE, WHOLE_COUNT };
enum loss { OUT_OF_ORDER, DUPLICATED, MISSING, NOT_DELIVERED, RETRANSMITTED, SPURIOUS, LOSS_COUNT };

static const char *const whole_names[] = {
    [CAPTURED] = "Packets captured",
    [SENT] = "Packets captured or missing",
    [REPORTED] = "Packets reported",
    [RELIABLE] = "Reliable bunches",
};

static const struct {
    enum loss_whole whole;
    const char *name;
} losses[] = {
    [OUT_OF_ORDER] = {CAPTURED, "out of order"},
    [DUPLICATED] = {CAPTURED, "duplicate"},
    [MISSING] = {SENT, "missing"},
    [NOT_DELIVERED] = {REPORTED, "reported as not delivered"},
    [RETRANSMITTED] = {RELIABLE, "retransmitted"},
    [SPURIOUS] = {RELIABLE, "retransmitted although delivered"},
};

static int nodes_of_wholes[WHOLE_COUNT], nodes_of_sides[WHOLE_COUNT][UE_SERVER_TO_CLIENT + 1];

/* A row with 0 shows that there was no loss. */
static void init_losses(stats_tree *st) {
    for (int whole = 0; whole < WHOLE_COUNT; whole++) {
        int node = nodes_of_wholes[whole] = stats_tree_create_node(st, whole_names[whole], ROOT, STAT_DT_INT, true);
        for (unsigned side = UE_CLIENT_TO_SERVER; side <= UE_SERVER_TO_CLIENT; side++) {
            nodes_of_sides[whole][side] =
                stats_tree_create_node(st, direction_name((uint8_t)side), node, STAT_DT_INT, true);
        }
    }
    for (int loss = 0; loss < LOSS_COUNT; loss++) {
        for (unsigned side = UE_CLIENT_TO_SERVER; side <= UE_SERVER_TO_CLIENT; side++) {
            stats_tree_create_node(st, losses[loss].name, nodes_of_sides[losses[loss].whole][side], STAT_DT_INT, false);
        }
    }
}

static void add_loss(stats_tree *st, enum loss loss, uint8_t sender, uint32_t count) {
    add(st, nodes_of_sides[losses[loss].whole][sender], losses[loss].name, count);
}

static void add_whole(stats_tree *st, enum loss_whole whole, uint8_t sender, uint32_t count) {
    add(st, ROOT, whole_names[whole], count);
    add(st, nodes_of_wholes[whole], direction_name(sender), count);
}

static uint32_t count_not_delivered(const struct uerudp_tap_analysis *analysis) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < analysis->ack_count; i++) {
        count += !analysis->acks[i].is_delivered;
    }
    return count;
}

static void count_packet(stats_tree *st, uint8_t sender, const struct uerudp_tap_analysis *analysis) {
    bool is_late = (analysis->flags & UERUDP_ANALYSIS_OUT_OF_ORDER) != 0; /* it was counted as missing */
    bool is_duplicate = (analysis->flags & UERUDP_ANALYSIS_DUPLICATE) != 0;
    add_whole(st, CAPTURED, sender, 1);
    add_whole(st, SENT, sender, analysis->missing + (!is_late && !is_duplicate));
    add_loss(st, OUT_OF_ORDER, sender, is_late);
    add_loss(st, DUPLICATED, sender, is_duplicate);
    add_loss(st, MISSING, sender, analysis->missing);
}

static tap_packet_status count_losses(stats_tree *st, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *data,
                                      tap_flags_t flags _U_) {
    const struct uerudp_tap *tap = data;
    if (tap->packet_id < 0 || tap->direction == UE_DIRECTION_UNKNOWN || tap->is_other_view) {
        return TAP_PACKET_DONT_REDRAW;
    }
    const struct uerudp_tap_analysis *analysis = tap->analysis(tap);
    uint8_t sender = tap->direction;
    uint8_t other = (uint8_t)ue_direction_reverse((enum ue_direction)tap->direction);
    count_packet(st, sender, analysis);
    add_whole(st, REPORTED, other, analysis->ack_count);
    add_loss(st, NOT_DELIVERED, other, count_not_delivered(analysis));
    add_whole(st, RELIABLE, sender, tap->content(tap)->bunches.reliable);
    add_loss(st, RETRANSMITTED, sender, analysis->retransmission_count);
    add_loss(st, SPURIOUS, sender, analysis->spurious_count);
    return TAP_PACKET_REDRAW;
}

/* ---- registration ---- */

/* Wireshark's window calls these functions without a check for NULL. */
static void init_empty(stats_tree *st _U_) {}

static void end(stats_tree *st _U_) {}

void uerudp_stats_tree_register(void) {
    static const struct {
        const char *abbreviation, *name;
        stat_tree_packet_cb count;
        stat_tree_init_cb init;
    } trees[] = {
        {"uerudp", MENU "Packets", count_packets, init_packets},
        {"uerudp_bunches", MENU "Bunches", count_bunches, init_empty},
        {"uerudp_channels", MENU "Channels", count_channels, init_empty},
        {"uerudp_losses", MENU "Losses", count_losses, init_losses},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(trees); i++) {
        stats_tree_register_plugin(UERUDP_TAP_NAME, trees[i].abbreviation, trees[i].name, 0, trees[i].count,
                                   trees[i].init, end);
    }
}
