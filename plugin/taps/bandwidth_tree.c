/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics tree of who used the bandwidth: bits by kind, class and actor, as `uerudp info --bandwidth` counts them.
 */
#include "plugin/compat.h"

#include <epan/stats_tree.h>

#include <uerudp/bandwidth.h>
#include "plugin/taps/listeners.h"
#include "plugin/taps/tap.h"

#define ROOT 0
#define NAME_BYTES 256
#define ALL "All datagrams (bits)"
#define CLASSES "Bunches by class (bits)"
#define ACTORS "Bunches by actor (bits)"
/* A row counts in an int. */
#define FULL "This window counts up to 268 MB; uerudp info --bandwidth counts more"

/* Bits that are counted in each open tree. */
static GHashTable *totals;

static uint64_t *total_of(stats_tree *st) {
    uint64_t *total = g_hash_table_lookup(totals, st);
    if (total == NULL) {
        total = g_new0(uint64_t, 1);
        g_hash_table_insert(totals, st, total);
    }
    return total;
}

/* One datagram. */
struct bandwidth_counting {
    stats_tree *st;
    const struct uerudp_tap *tap;
    const struct uerudp_tap_bunch *bunches;
    uint32_t bunch_count, next;
    int direction; /* its node */
};

static void add(stats_tree *st, int parent, const char *name, uint64_t bits) {
    increase_stat_node(st, name, parent, false, (int)bits);
}

static int add_parent(stats_tree *st, int parent, const char *name, uint64_t bits) {
    return increase_stat_node(st, name, parent, true, (int)bits);
}

static void count_rest(void *user, enum ue_bandwidth_kind kind, uint64_t bits) {
    const struct bandwidth_counting *counting = user;
    add(counting->st, counting->direction, ue_bandwidth_kind_name(kind), bits);
}

/* Items are in the order of bunches; a bunch that is not decoded here has no analysis. */
static struct uerudp_tap_bunch bunch_of(struct bandwidth_counting *counting, uint32_t item,
                                        const struct ue_bunch *header) {
    while (counting->next < counting->bunch_count && counting->bunches[counting->next].item < item) {
        counting->next++;
    }
    bool is_known = counting->next < counting->bunch_count && counting->bunches[counting->next].item == item;
    return is_known ? counting->bunches[counting->next]
                    : (struct uerudp_tap_bunch){.item = item, .channel = header->channel};
}

static void count_owner(const struct bandwidth_counting *counting, const struct uerudp_tap_bunch *bunch,
                        enum ue_bandwidth_kind kind, uint64_t bits) {
    const struct uerudp_tap_actor actor = counting->tap->actor(counting->tap, bunch);
    const char *class_name = actor.name != NULL ? actor.name : ue_bandwidth_unnamed(actor.is_actor);
    add(counting->st, add_parent(counting->st, add_parent(counting->st, ROOT, CLASSES, bits), class_name, bits),
        ue_bandwidth_kind_name(kind), bits);
    char name[NAME_BYTES];
    if (actor.guid != 0) {
        snprintf(name, sizeof name, "%s guid %" PRIu64, class_name, actor.guid);
    } else {
        snprintf(name, sizeof name, "%s channel %" PRIu32, class_name, bunch->channel);
    }
    add(counting->st, add_parent(counting->st, ROOT, ACTORS, bits), name, bits);
}

static void count_bunch(void *user, uint32_t item, const struct ue_bunch *header, uint64_t bits, uint64_t header_bits) {
    struct bandwidth_counting *counting = user;
    struct uerudp_tap_bunch bunch = bunch_of(counting, item, header);
    (void)header_bits;
    const struct ue_bandwidth_bunch known = {.channel = bunch.kind,
                                             .is_opening = bunch.is_opening,
                                             .is_retransmission = (bunch.flags & UERUDP_ANALYSIS_RETRANSMISSION) != 0,
                                             .is_duplicate = (bunch.flags & UERUDP_ANALYSIS_DUPLICATE) != 0};
    enum ue_bandwidth_kind kind = ue_bandwidth_kind_of(header, &known);
    add(counting->st, counting->direction, ue_bandwidth_kind_name(kind), bits);
    count_owner(counting, &bunch, kind, bits);
}

static tap_packet_status count(stats_tree *st, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *data,
                               tap_flags_t flags _U_) {
    const struct uerudp_tap *tap = data;
    uint64_t bits = 8 * (uint64_t)tap->size_bytes;
    uint64_t *total = total_of(st);
    struct bandwidth_counting counting = {.st = st, .tap = tap};
    if (tap->is_other_view) {
        return TAP_PACKET_DONT_REDRAW;
    }
    if (*total + bits > INT_MAX) {
        increase_stat_node(st, FULL, ROOT, false, 1);
        return TAP_PACKET_REDRAW;
    }
    *total += bits;
    const char *direction = ue_values_name(UE_VALUES_DIRECTION, tap->direction);
    counting.direction = add_parent(st, add_parent(st, ROOT, ALL, bits), direction, bits);
    counting.bunches = tap->bunches(tap, &counting.bunch_count);
    tap->split(tap, &(const struct ue_bandwidth_parts){count_bunch, count_rest, &counting});
    return TAP_PACKET_REDRAW;
}

static void init(stats_tree *st) {
    if (totals == NULL) {
        totals = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    }
    *total_of(st) = 0;
}

static void end(stats_tree *st) {
    g_hash_table_remove(totals, st);
}

void uerudp_bandwidth_tree_register(void) {
    stats_tree_register_plugin(UERUDP_TAP_NAME, "uerudp_bandwidth",
                               "Unreal Engine" UERUDP_STATS_MENU_SEPARATOR "Bandwidth", 0, count, init, end);
}
