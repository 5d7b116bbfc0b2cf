/* SPDX-License-Identifier: MIT */
#include "tools/generate/run_log.h"

#include <uerudp/history.h>
#include <uerudp/seq.h>
#include "tools/print/phrase.h"

#define NO_PACKET (-1)
#define NS_PER_MS 1e6
#define NUMBER_BITS 32 /* of a full number beside its channel, in a key */

/* A datagram as it left. */
struct speech {
    int64_t packet_id;
    struct ue_packet head; /* generations with a history */
    bool is_legacy;
    bool is_known;                        /* its content is */
    guint acks_begin, acks_end;           /* in acks */
    guint reliables_begin, reliables_end; /* in reliables */
};

enum fate { FATE_OPEN, FATE_DELIVERED, FATE_LOST };

/* A packet by its number, counted from the first of its side. */
struct packet {
    bool is_seen;       /* captured */
    uint64_t time_ns;   /* first */
    enum fate told;     /* by the endpoint that sent it */
    enum fate reported; /* by headers that were captured */
};

struct side {
    GArray *speeches;  /* struct speech by number of the datagram */
    GArray *acks;      /* int64_t: packets that legacy items acknowledge, in wire order */
    GArray *reliables; /* uint64_t: keys of reliable bunches */
    GArray *packets;   /* struct packet by number less first_id */
    int64_t first_id;
    int64_t reported_id;  /* newest with a report */
    int64_t highest_seen; /* captured */
    GHashTable *lanes;    /* channel to int64_t, the newest reliable number said */
    GHashTable *seen;     /* keys of reliable bunches that were captured */
    struct run_log_figures figures;
    bool has_half;
    uint64_t half_ns; /* the newest */
};

struct run_log {
    struct side sides[2]; /* by sender */
    GArray *messages;
    GHashTable *places; /* of messages, by who they are */
    GArray *rtts;       /* uint64_t, ns */
    const char *closed_by;
};

/* ---- life ---- */

static void init_side(struct side *side) {
    side->speeches = g_array_new(FALSE, FALSE, sizeof(struct speech));
    side->acks = g_array_new(FALSE, FALSE, sizeof(int64_t));
    side->reliables = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    side->packets = g_array_new(FALSE, TRUE, sizeof(struct packet));
    side->lanes = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
    side->seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    side->highest_seen = NO_PACKET;
}

struct run_log *run_log_new(void) {
    struct run_log *truth = g_new0(struct run_log, 1);
    init_side(&truth->sides[0]);
    init_side(&truth->sides[1]);
    truth->messages = g_array_new(FALSE, FALSE, sizeof(struct run_log_message));
    truth->places = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    truth->rtts = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    truth->closed_by = "none";
    return truth;
}

static void clear_side(struct side *side) {
    g_array_unref(side->speeches);
    g_array_unref(side->acks);
    g_array_unref(side->reliables);
    g_array_unref(side->packets);
    g_hash_table_unref(side->lanes);
    g_hash_table_unref(side->seen);
}

void run_log_free(struct run_log *truth) {
    if (truth == NULL) {
        return;
    }
    clear_side(&truth->sides[0]);
    clear_side(&truth->sides[1]);
    g_array_unref(truth->messages);
    g_hash_table_unref(truth->places);
    g_array_unref(truth->rtts);
    g_free(truth);
}

/* ---- what leaves ---- */

static struct packet *packet_of(const struct side *side, int64_t id) {
    int64_t place = id - side->first_id;
    return place >= 0 && place < side->packets->len ? &g_array_index(side->packets, struct packet, place) : NULL;
}

static void enter_packet(struct side *side, int64_t id) {
    if (side->packets->len == 0) {
        side->first_id = id;
        side->reported_id = id - 1;
    }
    g_array_set_size(side->packets, (guint)(id - side->first_id + 1));
}

/* Numbers are said in order, so that the next copy's distance from the newest is never large. */
static uint64_t reliable_key(struct side *side, const struct ue_context *context, const struct ue_bunch *bunch) {
    gpointer channel = GUINT_TO_POINTER(bunch->channel + 1);
    int64_t *newest = g_hash_table_lookup(side->lanes, channel);
    if (newest == NULL) {
        newest = g_new(int64_t, 1);
        *newest = bunch->ch_seq;
        g_hash_table_insert(side->lanes, channel, newest);
    }
    int64_t full = ue_seq_expand(bunch->ch_seq, *newest, context->ch_seq_bound);
    *newest = full > *newest ? full : *newest;
    return (uint64_t)bunch->channel << NUMBER_BITS | (uint32_t)full;
}

static void keep_item(struct side *side, const struct side *other, const struct ue_context *context,
                      const struct ue_item *item) {
    if (item->is_ack) {
        int64_t newest = other->first_id + other->packets->len - 1;
        int64_t id = ue_seq_expand(item->ack.ack_id, newest, UE_PACKET_SEQ_MAX);
        g_array_append_val(side->acks, id);
    } else if (item->bunch.reliable) {
        uint64_t key = reliable_key(side, context, &item->bunch);
        g_array_append_val(side->reliables, key);
    }
}

void run_log_add_datagram(struct run_log *truth, const struct sim_datagram *datagram) {
    struct side *side = &truth->sides[datagram->from];
    struct speech speech = {
        .packet_id = datagram->packet_id, .acks_begin = side->acks->len, .reliables_begin = side->reliables->len};
    if (speech.packet_id != NO_PACKET) {
        enter_packet(side, speech.packet_id);
    }
    if (datagram->content != NULL && speech.packet_id != NO_PACKET) {
        speech.is_known = true;
        speech.is_legacy = datagram->context->profile.packet == UE_PACKET_LEGACY;
        speech.head = datagram->content->packet;
        for (size_t i = 0; i < datagram->content->item_count; i++) {
            keep_item(side, &truth->sides[!datagram->from], datagram->context, &datagram->content->items[i]);
        }
    }
    speech.acks_end = side->acks->len;
    speech.reliables_end = side->reliables->len;
    g_array_append_val(side->speeches, speech);
}

/* ---- messages, verdicts, the end ---- */

static int64_t message_key(enum ue_role from, uint32_t channel, bool reliable, uint64_t number) {
    return (int64_t)((uint64_t)from << 63 | (uint64_t)reliable << 62 | (uint64_t)channel << 40 | number);
}

void run_log_add_message(struct run_log *truth, const struct sim_message *saying) {
    int64_t key = message_key(saying->from, saying->channel, saying->reliable, saying->number);
    struct run_log_message message = {.said = *saying};
    g_hash_table_insert(truth->places, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(truth->messages->len));
    g_array_append_val(truth->messages, message);
}

void run_log_add_delivery(struct run_log *truth, const struct sim_delivery *delivery) {
    int64_t key = message_key(delivery->from, delivery->channel, delivery->reliable, delivery->number);
    gpointer place;
    if (g_hash_table_lookup_extended(truth->places, &key, NULL, &place)) {
        struct run_log_message *message =
            &g_array_index(truth->messages, struct run_log_message, GPOINTER_TO_UINT(place));
        message->is_delivered = true;
        message->delivered_ns = delivery->now_ns;
    }
}

void run_log_add_ack(struct run_log *truth, enum ue_role side, int64_t packet_id, bool delivered) {
    struct packet *packet = packet_of(&truth->sides[side], packet_id);
    if (packet != NULL) {
        packet->told = delivered ? FATE_DELIVERED : FATE_LOST;
    }
}

void run_log_add_close(struct run_log *truth, enum ue_role side, enum ue_close_reason reason) {
    if (truth->closed_by[0] == 'n') {
        truth->closed_by = reason == UE_CLOSE_CONNECTION_TIMEOUT ? "timeout" : phrase_side(side);
    }
}

const char *run_log_closed_by(const struct run_log *truth) {
    return truth->closed_by;
}

const GArray *run_log_messages(const struct run_log *truth) {
    return truth->messages;
}

/* ---- what is captured ---- */

/* A half is the time from a packet to the one that acknowledges it; with the newest one of the other direction it makes
   a loop. */
static void take_half(struct run_log *truth, enum ue_role of, uint64_t half_ns) {
    const struct side *other = &truth->sides[!of];
    truth->sides[of].has_half = true;
    truth->sides[of].half_ns = half_ns;
    if (other->has_half) {
        uint64_t loop_ns = half_ns + other->half_ns;
        g_array_append_val(truth->rtts, loop_ns);
    }
}

/* A header reports a packet of the other side. */
static void report(struct run_log *truth, enum ue_role of, int64_t id, bool delivered, uint64_t now_ns) {
    struct packet *packet = packet_of(&truth->sides[of], id);
    if (packet == NULL) {
        return;
    }
    packet->reported = delivered ? FATE_DELIVERED : FATE_LOST;
    if (delivered && packet->is_seen) {
        take_half(truth, of, now_ns - packet->time_ns);
    }
}

/* Whoever never sent what a header acknowledges ignores all of it (protocol.md 6). */
static void report_history(struct run_log *truth, enum ue_role of, const struct ue_packet *head, uint64_t now_ns) {
    struct side *side = &truth->sides[of];
    int64_t last_id = side->first_id + side->packets->len - 1;
    int64_t newest = ue_seq_expand(head->ack, last_id, UE_PACKET_SEQ_MAX);
    if (newest > last_id) {
        return;
    }
    for (int64_t id = side->reported_id + 1; id <= newest; id++) {
        report(truth, of, id, ue_history_reports(head, (uint32_t)(newest - id)), now_ns);
    }
    side->reported_id = newest > side->reported_id ? newest : side->reported_id;
}

/* What an ack skips did not arrive. */
static void report_acks(struct run_log *truth, enum ue_role of, const struct speech *speech, uint64_t now_ns) {
    struct side *side = &truth->sides[of];
    for (guint i = speech->acks_begin; i < speech->acks_end; i++) {
        int64_t acked = g_array_index(truth->sides[!of].acks, int64_t, i);
        for (int64_t id = side->reported_id + 1; id <= acked; id++) {
            report(truth, of, id, id == acked, now_ns);
        }
        side->reported_id = acked > side->reported_id ? acked : side->reported_id;
    }
}

static void see_reliables(struct side *side, const struct speech *speech) {
    for (guint i = speech->reliables_begin; i < speech->reliables_end; i++) {
        const uint64_t *key = &g_array_index(side->reliables, uint64_t, i);
        side->figures.resends += !g_hash_table_add(side->seen, g_memdup2(key, sizeof *key));
    }
}

static void see_packet(struct run_log *truth, const struct run_log_frame *sight, const struct speech *speech) {
    struct side *side = &truth->sides[sight->from];
    struct packet *packet = packet_of(side, speech->packet_id);
    if (packet->is_seen) {
        return; /* a copy made by the network says nothing new */
    }
    packet->is_seen = true;
    packet->time_ns = sight->time_ns;
    side->highest_seen = speech->packet_id > side->highest_seen ? speech->packet_id : side->highest_seen;
    if (speech->is_legacy) {
        report_acks(truth, !sight->from, speech, sight->time_ns);
    } else if (speech->is_known && truth->sides[!sight->from].packets->len > 0) {
        report_history(truth, !sight->from, &speech->head, sight->time_ns);
    }
    see_reliables(side, speech);
}

void run_log_add_frame(struct run_log *truth, const struct run_log_frame *sight) {
    struct side *side = &truth->sides[sight->from];
    const struct speech *speech = &g_array_index(side->speeches, struct speech, sight->number);
    side->figures.packets++;
    side->figures.bytes += sight->size_bytes;
    if (speech->packet_id != NO_PACKET && !sight->is_corrupted) {
        see_packet(truth, sight, speech);
    }
}

/* ---- figures ---- */

/* The sender's own verdict counts; what it did not live to hear, as the captured headers say. */
static bool is_not_acked(const struct packet *packet) {
    return (packet->told != FATE_OPEN ? packet->told : packet->reported) == FATE_LOST;
}

void run_log_figures(const struct run_log *truth, enum ue_role from, struct run_log_figures *figures) {
    const struct side *side = &truth->sides[from];
    *figures = side->figures;
    for (guint i = 0; i < side->packets->len; i++) {
        const struct packet *packet = &g_array_index(side->packets, struct packet, i);
        figures->not_acked += is_not_acked(packet);
        figures->missing += !packet->is_seen && side->first_id + i < side->highest_seen;
    }
}

static gint compare(gconstpointer a, gconstpointer b) {
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool run_log_rtt_ms(const struct run_log *truth, unsigned percent, double *ms) {
    uint64_t count = truth->rtts->len;
    if (count == 0) {
        return false;
    }
    g_array_sort(truth->rtts, compare);
    uint64_t rank = (count * percent + 99) / 100;
    *ms = (double)g_array_index(truth->rtts, uint64_t, rank - 1) / NS_PER_MS;
    return true;
}
