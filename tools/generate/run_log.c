/* SPDX-License-Identifier: MIT */
#include "tools/generate/run_log.h"

#include <uerudp/history.h>
#include <uerudp/seq.h>
#include <uerudp/time_ns.h>
#include "tools/print/phrase.h"

#define NO_PACKET (-1)
#define NUMBER_BITS 32 /* of a reliable number, which is stored together with its channel */

/* A datagram as it left. */
struct sent_datagram {
    int64_t packet_id;
    struct ue_packet head; /* generations with a history */
    bool is_legacy;
    bool is_known;                        /* its content is known */
    guint acks_begin, acks_end;           /* in acks */
    guint reliables_begin, reliables_end; /* in reliables */
};

enum packet_report { REPORT_NONE, REPORT_DELIVERED, REPORT_LOST };

/* A packet, by its id less the first of its side. */
struct run_packet {
    bool is_seen;                     /* was captured intact */
    uint64_t time_ns;                 /* first */
    enum packet_report sender_report; /* by the endpoint that sent it */
    enum packet_report reported;      /* by captured headers */
};

struct side {
    GArray *sent_datagrams; /* struct sent_datagram, by number of the datagram */
    GArray *acks;           /* int64_t: packets that legacy acks acknowledge, in wire order */
    GArray *reliables;      /* uint64_t: keys of reliable bunches */
    GArray *packets;        /* struct run_packet, by id less first_id */
    int64_t first_id;
    int64_t reported_id;         /* newest that was reported */
    int64_t highest_seen;        /* newest that was captured intact */
    GHashTable *newest_reliable; /* channel to int64_t, its newest reliable number */
    GHashTable *seen;            /* keys of reliable bunches that were captured */
    struct run_log_figures figures;
    bool has_half;
    uint64_t half_ns; /* the newest */
};

struct side_close {
    enum ue_role side;
    bool is_timeout;
};

struct run_log {
    struct side sides[2]; /* [sender] */
    GArray *messages;
    GHashTable *message_indices; /* of messages, by identity */
    GArray *rtts;                /* uint64_t, ns */
    struct side_close closes[2]; /* in the order of time */
    size_t close_count;
};

/* ---- start and end ---- */

static void init_side(struct side *side) {
    side->sent_datagrams = g_array_new(FALSE, FALSE, sizeof(struct sent_datagram));
    side->acks = g_array_new(FALSE, FALSE, sizeof(int64_t));
    side->reliables = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    side->packets = g_array_new(FALSE, TRUE, sizeof(struct run_packet));
    side->newest_reliable = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
    side->seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    side->highest_seen = NO_PACKET;
}

struct run_log *run_log_new(void) {
    struct run_log *run_log = g_new0(struct run_log, 1);
    init_side(&run_log->sides[0]);
    init_side(&run_log->sides[1]);
    run_log->messages = g_array_new(FALSE, FALSE, sizeof(struct run_log_message));
    run_log->message_indices = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    run_log->rtts = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    return run_log;
}

static void clear_side(struct side *side) {
    g_array_unref(side->sent_datagrams);
    g_array_unref(side->acks);
    g_array_unref(side->reliables);
    g_array_unref(side->packets);
    g_hash_table_unref(side->newest_reliable);
    g_hash_table_unref(side->seen);
}

void run_log_free(struct run_log *run_log) {
    if (run_log == NULL) {
        return;
    }
    clear_side(&run_log->sides[0]);
    clear_side(&run_log->sides[1]);
    g_array_unref(run_log->messages);
    g_hash_table_unref(run_log->message_indices);
    g_array_unref(run_log->rtts);
    g_free(run_log);
}

/* ---- datagrams that leave ---- */

static struct run_packet *packet_of(const struct side *side, int64_t id) {
    int64_t place = id - side->first_id;
    return place >= 0 && place < side->packets->len ? &g_array_index(side->packets, struct run_packet, place) : NULL;
}

static void enter_packet(struct side *side, int64_t id) {
    if (side->packets->len == 0) {
        side->first_id = id;
        side->reported_id = id - 1;
    }
    g_array_set_size(side->packets, (guint)(id - side->first_id + 1));
}

/* The key of a reliable bunch with its full number: numbers are used in order, so the nearest one to the newest is
   right. */
static uint64_t reliable_key(struct side *side, const struct ue_context *context, const struct ue_bunch *bunch) {
    gpointer channel = GUINT_TO_POINTER(bunch->channel + 1);
    int64_t *newest = g_hash_table_lookup(side->newest_reliable, channel);
    if (newest == NULL) {
        newest = g_new(int64_t, 1);
        *newest = bunch->ch_seq;
        g_hash_table_insert(side->newest_reliable, channel, newest);
    }
    int64_t full = ue_seq_expand(bunch->ch_seq, *newest, context->ch_seq_bound);
    *newest = full > *newest ? full : *newest;
    return (uint64_t)bunch->channel << NUMBER_BITS | (uint32_t)full;
}

static void add_item(struct side *side, const struct side *other, const struct ue_context *context,
                     const struct ue_item *item) {
    if (item->is_ack) {
        int64_t newest = other->first_id + other->packets->len - 1;
        int64_t id = ue_seq_expand(item->ack.ack_id, newest, UE_PACKET_SEQ_MAX);
        g_array_append_val(side->acks, id);
    } else if (item->bunch.reliable && !context->settings.internal_ack) { /* a replay has no sequences */
        uint64_t key = reliable_key(side, context, &item->bunch);
        g_array_append_val(side->reliables, key);
    }
}

void run_log_add_datagram(struct run_log *run_log, const struct sim_datagram *datagram) {
    struct side *side = &run_log->sides[datagram->from];
    struct sent_datagram sent_datagram = {
        .packet_id = datagram->packet_id, .acks_begin = side->acks->len, .reliables_begin = side->reliables->len};
    if (sent_datagram.packet_id != NO_PACKET) {
        enter_packet(side, sent_datagram.packet_id);
    }
    if (datagram->content != NULL && sent_datagram.packet_id != NO_PACKET) {
        sent_datagram.is_known = true;
        sent_datagram.is_legacy = datagram->context->profile.packet == UE_PACKET_LEGACY;
        sent_datagram.head = datagram->content->packet;
        for (size_t i = 0; i < datagram->content->item_count; i++) {
            add_item(side, &run_log->sides[!datagram->from], datagram->context, &datagram->content->items[i]);
        }
    }
    sent_datagram.acks_end = side->acks->len;
    sent_datagram.reliables_end = side->reliables->len;
    g_array_append_val(side->sent_datagrams, sent_datagram);
}

/* ---- messages, acks, close ---- */

static int64_t message_key(enum ue_role from, uint32_t channel, bool reliable, uint64_t number) {
    return (int64_t)((uint64_t)from << 63 | (uint64_t)reliable << 62 | (uint64_t)channel << 40 | number);
}

void run_log_add_message(struct run_log *run_log, const struct sim_message *sent) {
    int64_t key = message_key(sent->from, sent->channel, sent->reliable, sent->number);
    struct run_log_message message = {.sent = *sent};
    g_hash_table_insert(run_log->message_indices, g_memdup2(&key, sizeof key),
                        GUINT_TO_POINTER(run_log->messages->len));
    g_array_append_val(run_log->messages, message);
}

void run_log_add_delivery(struct run_log *run_log, const struct sim_delivery *delivery) {
    int64_t key = message_key(delivery->from, delivery->channel, delivery->reliable, delivery->number);
    gpointer place;
    if (g_hash_table_lookup_extended(run_log->message_indices, &key, NULL, &place)) {
        struct run_log_message *message =
            &g_array_index(run_log->messages, struct run_log_message, GPOINTER_TO_UINT(place));
        message->is_delivered = true;
        message->delivered_ns = delivery->now_ns;
    }
}

void run_log_add_ack(struct run_log *run_log, enum ue_role side, int64_t packet_id, bool delivered) {
    struct run_packet *packet = packet_of(&run_log->sides[side], packet_id);
    if (packet != NULL) {
        packet->sender_report = delivered ? REPORT_DELIVERED : REPORT_LOST;
    }
}

void run_log_add_close(struct run_log *run_log, enum ue_role side, enum ue_close_reason reason) {
    if (run_log->close_count < G_N_ELEMENTS(run_log->closes)) {
        run_log->closes[run_log->close_count++] =
            (struct side_close){.side = side, .is_timeout = reason == UE_CLOSE_CONNECTION_TIMEOUT};
    }
}

bool run_log_is_reported(const struct run_log *run_log, enum ue_role from, int64_t packet_id, bool *is_delivered) {
    const struct run_packet *packet = packet_of(&run_log->sides[from], packet_id);
    *is_delivered = packet != NULL && packet->sender_report == REPORT_DELIVERED;
    return packet != NULL && packet->sender_report != REPORT_NONE;
}

/* A side that has sent no packet told nobody that it closed. */
const char *run_log_closed_by(const struct run_log *run_log) {
    for (size_t i = 0; i < run_log->close_count; i++) {
        const struct side_close *close = &run_log->closes[i];
        if (close->is_timeout || run_log->sides[close->side].packets->len > 0) {
            return close->is_timeout ? "timeout" : phrase_side(close->side);
        }
    }
    return "none";
}

const GArray *run_log_messages(const struct run_log *run_log) {
    return run_log->messages;
}

/* ---- captured datagrams ---- */

/* A half is the time from a packet to the one that acknowledges it; with the newest half of the other direction it
   gives a round-trip time. */
static void add_half(struct run_log *run_log, enum ue_role of, uint64_t half_ns) {
    const struct side *other = &run_log->sides[!of];
    run_log->sides[of].has_half = true;
    run_log->sides[of].half_ns = half_ns;
    if (other->has_half) {
        uint64_t loop_ns = half_ns + other->half_ns;
        g_array_append_val(run_log->rtts, loop_ns);
    }
}

/* A header reports a packet of the other side. */
static void report(struct run_log *run_log, enum ue_role of, int64_t id, bool delivered, uint64_t now_ns) {
    struct run_packet *packet = packet_of(&run_log->sides[of], id);
    if (packet == NULL) {
        return;
    }
    packet->reported = delivered ? REPORT_DELIVERED : REPORT_LOST;
    if (delivered && packet->is_seen) {
        add_half(run_log, of, now_ns - packet->time_ns);
    }
}

/* A header that acknowledges a packet that was never sent is ignored (protocol.md 6). */
static void report_history(struct run_log *run_log, enum ue_role of, const struct ue_packet *head, uint64_t now_ns) {
    struct side *side = &run_log->sides[of];
    int64_t last_id = side->first_id + side->packets->len - 1;
    int64_t newest = ue_seq_expand(head->ack, last_id, UE_PACKET_SEQ_MAX);
    if (newest > last_id) {
        return;
    }
    for (int64_t id = side->reported_id + 1; id <= newest; id++) {
        report(run_log, of, id, ue_history_reports(head, (uint32_t)(newest - id)), now_ns);
    }
    side->reported_id = newest > side->reported_id ? newest : side->reported_id;
}

/* A legacy ack reports the packets that it skips as lost. */
static void report_acks(struct run_log *run_log, enum ue_role of, const struct sent_datagram *sent_datagram,
                        uint64_t now_ns) {
    struct side *side = &run_log->sides[of];
    for (guint i = sent_datagram->acks_begin; i < sent_datagram->acks_end; i++) {
        int64_t acked = g_array_index(run_log->sides[!of].acks, int64_t, i);
        for (int64_t id = side->reported_id + 1; id <= acked; id++) {
            report(run_log, of, id, id == acked, now_ns);
        }
        side->reported_id = acked > side->reported_id ? acked : side->reported_id;
    }
}

static void see_reliables(struct side *side, const struct sent_datagram *sent_datagram) {
    for (guint i = sent_datagram->reliables_begin; i < sent_datagram->reliables_end; i++) {
        const uint64_t *key = &g_array_index(side->reliables, uint64_t, i);
        side->figures.resends += !g_hash_table_add(side->seen, g_memdup2(key, sizeof *key));
    }
}

static void see_packet(struct run_log *run_log, const struct run_log_frame *captured,
                       const struct sent_datagram *sent_datagram) {
    struct side *side = &run_log->sides[captured->from];
    struct run_packet *packet = packet_of(side, sent_datagram->packet_id);
    if (packet->is_seen) {
        return; /* a duplicate made by the network reports nothing new */
    }
    packet->is_seen = true;
    packet->time_ns = captured->time_ns;
    side->highest_seen = sent_datagram->packet_id > side->highest_seen ? sent_datagram->packet_id : side->highest_seen;
    if (sent_datagram->is_legacy) {
        report_acks(run_log, !captured->from, sent_datagram, captured->time_ns);
    } else if (sent_datagram->is_known && run_log->sides[!captured->from].packets->len > 0) {
        report_history(run_log, !captured->from, &sent_datagram->head, captured->time_ns);
    }
    see_reliables(side, sent_datagram);
}

void run_log_add_frame(struct run_log *run_log, const struct run_log_frame *captured) {
    struct side *side = &run_log->sides[captured->from];
    const struct sent_datagram *sent_datagram =
        &g_array_index(side->sent_datagrams, struct sent_datagram, captured->number);
    side->figures.packets++;
    side->figures.bytes += captured->size_bytes;
    if (sent_datagram->packet_id != NO_PACKET && !captured->is_corrupted) {
        see_packet(run_log, captured, sent_datagram);
    }
}

/* ---- figures ---- */

/* The sender's own report counts; for packets that it did not learn about, the captured headers. */
static bool is_not_acked(const struct run_packet *packet) {
    return (packet->sender_report != REPORT_NONE ? packet->sender_report : packet->reported) == REPORT_LOST;
}

void run_log_compute_figures(const struct run_log *run_log, enum ue_role from, struct run_log_figures *figures) {
    const struct side *side = &run_log->sides[from];
    *figures = side->figures;
    for (guint i = 0; i < side->packets->len; i++) {
        const struct run_packet *packet = &g_array_index(side->packets, struct run_packet, i);
        figures->not_acked += is_not_acked(packet);
        figures->missing += !packet->is_seen && side->first_id + i < side->highest_seen;
    }
}

static gint compare(gconstpointer a, gconstpointer b) {
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool run_log_rtt_ms(const struct run_log *run_log, unsigned percent, double *ms) {
    uint64_t count = run_log->rtts->len;
    if (count == 0) {
        return false;
    }
    g_array_sort(run_log->rtts, compare);
    uint64_t rank = (count * percent + 99) / 100;
    *ms = (double)g_array_index(run_log->rtts, uint64_t, rank - 1) / UE_NS_PER_MS;
    return true;
}
