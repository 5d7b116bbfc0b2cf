/* SPDX-License-Identifier: MIT */
#include "tools/impair/proxy_direction.h"

#include <string.h>

#include "tools/impair/datagram_comment.h"

/* most datagrams that rules hold back; the link holds as many */
#define HELD_MAX SIM_LINK_DATAGRAMS_MAX

/* A datagram in this direction. */
struct transit {
    uint64_t number; /* in the link */
    uint64_t serial; /* of the datagram that arrived; copies that rules make have the same */
    uint64_t came_ns;
    uint64_t due_ns;   /* a rule delays it until then */
    bool is_held_back; /* a rule holds it until the next one has overtaken it */
    unsigned copies;   /* in the link */
    bool is_over;      /* sweep must check it */
    struct impair_record *record;
    char *rules; /* names of those that applied */
    struct rules_outcome outcome;
    size_t size_bytes;
    uint8_t bytes[]; /* as it arrived */
};

struct impair_direction {
    struct impair_direction_config config;
    struct sim_link *link;
    GSequence *held;      /* by rules: crossings, by due_ns */
    GHashTable *transits; /* in the link, by number */
    GPtrArray *over;      /* crossings that may have no copies left */
    struct transit *entering;
    uint64_t serials; /* datagrams that arrived */
    uint64_t newest;  /* serial + 1 of the newest one that left */
    struct impair_counters counters;
};

/* ---- crossings ---- */

static struct transit *new_transit(struct impair_direction *direction, uint64_t now_ns, const uint8_t *bytes,
                                   size_t size_bytes, const struct rules_outcome *outcome, const char *rules,
                                   struct impair_record *record) {
    struct transit *transit = g_malloc0(sizeof *transit + size_bytes);
    transit->serial = direction->serials;
    transit->came_ns = now_ns;
    transit->outcome = *outcome;
    transit->rules = g_strdup(rules);
    transit->record = record;
    impair_record_hold(record);
    transit->size_bytes = size_bytes;
    memcpy(transit->bytes, bytes, size_bytes);
    return transit;
}

static void free_transit(void *data) {
    struct transit *transit = data;
    impair_record_release(transit->record);
    g_free(transit->rules);
    g_free(transit);
}

static void remove_copy(struct impair_direction *direction, struct transit *transit) {
    transit->copies--;
    if (transit->copies == 0 && !transit->is_over) {
        transit->is_over = true;
        g_ptr_array_add(direction->over, transit);
    }
}

/* Frees crossings without copies. Not done while the link runs, because a copy may appear after its original is gone.
 */
static void sweep(struct impair_direction *direction) {
    for (guint i = 0; i < direction->over->len; i++) {
        struct transit *transit = direction->over->pdata[i];
        transit->is_over = false;
        if (transit->copies == 0) {
            g_hash_table_remove(direction->transits, &transit->number);
        }
    }
    g_ptr_array_set_size(direction->over, 0);
}

/* ---- events of the link ---- */

static void report_refused(struct impair_direction *direction, struct transit *transit, enum net_socket_result result) {
    direction->counters.refused++;
    impair_record_add_comment(transit->record,
                              result == NET_SOCKET_UNREACHABLE ? "not sent: no program listens" : "not sent");
    direction->config.refused(direction->config.user, result);
}

static void record_left(struct impair_direction *direction, struct transit *transit,
                        const struct sim_link_report *report, bool is_overtaken) {
    const struct impair_endpoint *out = direction->config.out;
    struct impair_record *record = impair_record_new(direction->config.recording, out->side, &out->local, &out->peer,
                                                     report->bytes, report->size_bytes);
    if (record != NULL || transit->record != NULL) {
        const struct impair_arrival arrived = {transit->came_ns, transit->bytes, transit->size_bytes};
        g_autofree char *comment = impair_comment_of_changes(&arrived, report, is_overtaken);
        impair_record_add_comment(transit->record, comment);
        impair_record_add_comment(record, transit->rules);
        impair_record_add_comment(record, comment);
        impair_record_release(record);
    }
}

static void leave(struct impair_direction *direction, struct transit *transit, const struct sim_link_report *report) {
    const struct impair_endpoint *out = direction->config.out;
    bool is_overtaken = transit->serial + 1 < direction->newest;
    enum net_socket_result result = net_socket_send(out->socket, &out->peer, report->bytes, report->size_bytes);
    if (result != NET_SOCKET_DONE) {
        report_refused(direction, transit, result);
        return;
    }
    direction->counters.delivered++;
    direction->counters.delivered_bytes += report->size_bytes;
    direction->counters.reordered += is_overtaken;
    direction->newest = is_overtaken ? direction->newest : transit->serial + 1;
    record_left(direction, transit, report, is_overtaken);
}

static void begin(struct impair_direction *direction, uint64_t number) {
    struct transit *transit = direction->entering;
    direction->entering = NULL;
    transit->number = number;
    transit->copies = 1;
    g_hash_table_insert(direction->transits, &transit->number, transit);
}

static void on_link_event(void *user, const struct sim_link_report *report) {
    struct impair_direction *direction = user;
    if (report->event == SIM_DATAGRAM_SENT) {
        begin(direction, report->number);
        return;
    }
    struct transit *transit = g_hash_table_lookup(direction->transits, &report->number);
    switch (report->event) {
    case SIM_DATAGRAM_LOST:
        direction->counters.lost++;
        impair_record_add_comment(transit->record, "lost");
        remove_copy(direction, transit);
        break;
    case SIM_DATAGRAM_OVERFLOWED:
        direction->counters.overflowed++;
        impair_record_add_comment(transit->record, "lost: queue full");
        remove_copy(direction, transit);
        break;
    case SIM_DATAGRAM_DUPLICATED:
        direction->counters.duplicated++;
        transit->copies++;
        impair_record_add_comment(transit->record, "duplicated");
        break;
    case SIM_DATAGRAM_CORRUPTED: direction->counters.corrupted++; break;
    case SIM_DATAGRAM_ARRIVED:
        leave(direction, transit, report);
        remove_copy(direction, transit);
        break;
    default: break;
    }
}

/* ---- rules before the link ---- */

static int compare_due(const void *a, const void *b, void *user) {
    const struct transit *one = a;
    const struct transit *other = b;
    (void)user;
    return (one->due_ns > other->due_ns) - (one->due_ns < other->due_ns);
}

/* Sends a datagram into the link as the rules changed it. */
static void send_in(struct impair_direction *direction, uint64_t now_ns, struct transit *transit) {
    uint8_t *corrupted = NULL;
    if (transit->outcome.flip_count > 0) {
        corrupted = g_memdup2(transit->bytes, transit->size_bytes);
        rules_outcome_corrupt(&transit->outcome, corrupted);
    }
    direction->entering = transit;
    sim_link_send(direction->link, now_ns, corrupted != NULL ? corrupted : transit->bytes, transit->size_bytes);
    g_free(corrupted);
    if (direction->entering != NULL) { /* no memory */
        direction->entering = NULL;
        direction->counters.overflowed++;
        free_transit(transit);
    }
    sweep(direction);
}

/* Datagrams that were held follow the one that overtook them. */
static void release(struct impair_direction *direction, uint64_t now_ns, struct transit *transit) {
    uint64_t serial = transit->serial;
    send_in(direction, now_ns, transit);
    GSequenceIter *at = g_sequence_get_begin_iter(direction->held);
    while (!g_sequence_iter_is_end(at)) {
        struct transit *other = g_sequence_get(at);
        GSequenceIter *next = g_sequence_iter_next(at);
        if (other->is_held_back && other->serial != serial && other->due_ns - SIM_LINK_REORDER_TIMEOUT_NS <= now_ns) {
            g_sequence_remove(at);
            send_in(direction, now_ns, other);
        }
        at = next;
    }
}

static void hold(struct impair_direction *direction, struct transit *transit) {
    if (g_sequence_get_length(direction->held) >= HELD_MAX) {
        direction->counters.overflowed++;
        impair_record_add_comment(transit->record, "lost: queue full");
        free_transit(transit);
        return;
    }
    g_sequence_insert_sorted(direction->held, transit, compare_due, NULL);
}

static void enter_copy(struct impair_direction *direction, uint64_t now_ns, struct transit *transit) {
    const struct rules_outcome *outcome = &transit->outcome;
    transit->is_held_back = outcome->is_reordered;
    transit->due_ns = now_ns + (uint64_t)outcome->delay_ns + (transit->is_held_back ? SIM_LINK_REORDER_TIMEOUT_NS : 0);
    if (transit->due_ns > now_ns) {
        hold(direction, transit);
    } else {
        release(direction, now_ns, transit);
    }
}

static struct impair_record *record_entry(struct impair_direction *direction, const uint8_t *bytes, size_t size_bytes,
                                          const char *rules) {
    const struct impair_endpoint *in = direction->config.in;
    struct impair_record *record =
        impair_record_new(direction->config.recording, in->side, &in->peer, &in->local, bytes, size_bytes);
    impair_record_add_comment(record, rules);
    return record;
}

void impair_direction_receive(struct impair_direction *direction, uint64_t now_ns, const uint8_t *bytes,
                              size_t size_bytes, const struct rules_outcome *outcome, const char *rules) {
    impair_direction_run(direction, now_ns);
    struct impair_record *record = record_entry(direction, bytes, size_bytes, rules);
    direction->counters.datagrams++;
    direction->counters.bytes += size_bytes;
    if (outcome->is_dropped) {
        direction->counters.dropped++;
        impair_record_add_comment(record, "dropped");
    } else {
        direction->counters.corrupted += outcome->flip_count != 0;
        direction->counters.duplicated += outcome->copies;
        for (unsigned i = 0; i <= outcome->copies; i++) {
            enter_copy(direction, now_ns, new_transit(direction, now_ns, bytes, size_bytes, outcome, rules, record));
        }
    }
    direction->serials++;
    impair_record_release(record);
}

/* ---- time ---- */

static struct transit *first_held(const struct impair_direction *direction) {
    GSequenceIter *at = g_sequence_get_begin_iter(direction->held);
    return g_sequence_iter_is_end(at) ? NULL : g_sequence_get(at);
}

static void run_link(struct impair_direction *direction, uint64_t now_ns) {
    const uint8_t *bytes;
    size_t size_bytes;
    while (sim_link_pop(direction->link, now_ns, &bytes, &size_bytes)) {
        /* the tap wrote it when it left */
    }
    sweep(direction);
}

uint64_t impair_direction_run(struct impair_direction *direction, uint64_t now_ns) {
    struct transit *first;
    while ((first = first_held(direction)) != NULL && first->due_ns <= now_ns) {
        g_sequence_remove(g_sequence_get_begin_iter(direction->held));
        run_link(direction, first->due_ns);
        release(direction, first->due_ns, first);
    }
    run_link(direction, now_ns);
    uint64_t deadline_ns = sim_link_deadline(direction->link);
    return first != NULL && first->due_ns < deadline_ns ? first->due_ns : deadline_ns;
}

/* Last stage first: a datagram that leaves a stage waits for another tick in the next one. */
void impair_direction_tick(struct impair_direction *direction, uint64_t now_ns) {
    for (size_t stage = IMPAIR_STAGES; stage-- > 0;) {
        sim_link_tick(direction->link, now_ns, stage);
    }
    impair_direction_run(direction, now_ns);
}

/* ---- start and end ---- */

struct impair_direction *impair_direction_new(const struct impair_direction_config *config) {
    struct sim_link *link = sim_link_new(config->stages, IMPAIR_STAGES, config->seed, config->direction);
    if (link == NULL) {
        return NULL;
    }
    struct impair_direction *direction = g_new0(struct impair_direction, 1);
    direction->config = *config;
    direction->link = link;
    direction->held = g_sequence_new(NULL);
    direction->transits = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, free_transit);
    direction->over = g_ptr_array_new();
    sim_link_set_tap(link, on_link_event, direction);
    return direction;
}

static void abandon(void *key, void *value, void *user) {
    struct transit *transit = value;
    (void)key;
    (void)user;
    impair_record_add_comment(transit->record, "under way when the link ended");
}

static void abandon_held(void *data, void *user) {
    abandon(NULL, data, user);
    free_transit(data);
}

void impair_direction_free(struct impair_direction *direction) {
    if (direction == NULL) {
        return;
    }
    g_sequence_foreach(direction->held, abandon_held, NULL);
    g_hash_table_foreach(direction->transits, abandon, NULL);
    g_sequence_free(direction->held);
    g_hash_table_destroy(direction->transits);
    g_ptr_array_unref(direction->over);
    sim_link_free(direction->link);
    g_free(direction);
}

const struct impair_counters *impair_direction_counters(const struct impair_direction *direction) {
    return &direction->counters;
}
