/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trees of counts. A node is made when it is first counted. */
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

static const char *packet_kind(const struct uerudp_tap_content *content) {
    if (content->is_malformed) {
        return "malformed";
    }
    if (content->is_unsettled) {
        return "generation not settled";
    }
    if (content->is_handshake) {
        return or_unknown(ue_values_name(UE_VALUES_HANDSHAKE_TYPE, content->handshake_type));
    }
    if (content->is_opaque) {
        return "encrypted or compressed";
    }
    return content->bunches.all != 0 ? "with bunches" : "without bunches";
}

/* Nodes whose number is known are found without their names. They are made first, so that all trees number them alike;
   packets of an unknown direction are rare. */
static int sides[] = {[UE_CLIENT_TO_SERVER] = 0, [UE_SERVER_TO_CLIENT] = 0};
static int generations;

static void start_packets(stats_tree *st) {
    int all = stats_tree_create_node(st, "Packets", ROOT, STAT_DT_INT, true);
    for (uint8_t i = UE_CLIENT_TO_SERVER; i < G_N_ELEMENTS(sides); i++) {
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
    const struct ue_bunch_counts *counts = &tap->content(tap)->bunches;
    if (counts->all == 0) {
        return TAP_PACKET_DONT_REDRAW;
    }
    int side =
        add_parent(st, add_parent(st, ROOT, "Bunches", counts->all), direction_name(tap->direction), counts->all);
    add(st, side, "reliable", counts->reliable);
    add(st, side, "unreliable", counts->all - counts->reliable);
    add(st, side, "parts of messages", counts->partial);
    add(st, side, "whole messages", counts->all - counts->partial);
    add(st, side, "open a channel", counts->open);
    add(st, side, "close a channel", counts->close);
    return TAP_PACKET_REDRAW;
}

/* ---- channels ---- */

/* How many of the first of these bunches are of channels with the same name. */
static uint32_t run_length(const struct uerudp_tap_bunch *bunches, uint32_t count) {
    uint32_t length = 1;
    while (length < count && bunches[length].channel_name == bunches->channel_name) {
        length++;
    }
    return length;
}

/* A copy was counted when its first was. */
static void count_change(stats_tree *st, const struct uerudp_tap_bunch *bunch) {
    if ((bunch->flags & UERUDP_ANALYSIS_SEEN_BEFORE) != 0) {
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
    const struct uerudp_tap *tap = data;
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
        count_change(st, &bunches[i]);
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

static uint32_t count_not_delivered(const struct uerudp_tap_analysis *findings) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < findings->verdict_count; i++) {
        count += !findings->verdicts[i].is_delivered;
    }
    return count;
}

static tap_packet_status count_losses(stats_tree *st, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *data,
                                      tap_flags_t flags _U_) {
    const struct uerudp_tap *tap = data;
    const struct uerudp_tap_analysis *findings = tap->findings(tap);
    uint8_t other = (uint8_t)ue_direction_reverse((enum ue_direction)tap->direction);
    add_loss(st, MISSING, tap->direction, findings->missing);
    add_loss(st, OUT_OF_ORDER, tap->direction, (findings->flags & UERUDP_ANALYSIS_OUT_OF_ORDER) != 0);
    add_loss(st, SEEN_TWICE, tap->direction, (findings->flags & UERUDP_ANALYSIS_DUPLICATE) != 0);
    add_loss(st, NOT_DELIVERED, other, count_not_delivered(findings));
    add_loss(st, SENT_AGAIN, tap->direction, findings->resent_count);
    add_loss(st, SENT_NEEDLESSLY, tap->direction, findings->spurious_count);
    return TAP_PACKET_REDRAW;
}

/* ---- registration ---- */

/* Wireshark's window calls what tshark leaves out when it is NULL. */
static void start_empty(stats_tree *st _U_) {}

static void end(stats_tree *st _U_) {}

void uerudp_stats_tree_register(void) {
    static const struct {
        const char *abbreviation, *name;
        stat_tree_packet_cb count;
        stat_tree_init_cb start;
    } trees[] = {
        {"uerudp", MENU "Packets", count_packets, start_packets},
        {"uerudp_bunches", MENU "Bunches", count_bunches, start_empty},
        {"uerudp_channels", MENU "Channels", count_channels, start_empty},
        {"uerudp_losses", MENU "Losses", count_losses, start_losses},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(trees); i++) {
        stats_tree_register_plugin(UERUDP_TAP_NAME, trees[i].abbreviation, trees[i].name, 0, trees[i].count, trees[i].start,
                                   end);
    }
}
