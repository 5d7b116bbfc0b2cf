/* SPDX-License-Identifier: MIT */
#include "tools/impair/direction.h"

#include <string.h>

#define NS_PER_MS 1e6

/* Datagrams that rules hold back; as many as the link behind them holds. */
#define HELD_MAX SIM_LINK_DATAGRAMS_MAX

/* A datagram on its way. */
struct crossing {
    uint64_t number; /* in the link */
    uint64_t serial; /* of the datagram that came in; copies of rules have the same */
    uint64_t came_ns;
    uint64_t due_ns; /* held by a rule until then */
    bool is_aside;   /* by a rule, for the next one to overtake */
    unsigned copies; /* in the link */
    bool is_over;    /* to be looked at by sweep */
    struct impair_record *note;
    char *rules; /* those that spoke */
    struct rules_outcome outcome;
    size_t size_bytes;
    uint8_t bytes[]; /* as it came in */
};

struct impair_direction {
    struct impair_direction_config config;
    struct sim_link *link;
    GSequence *held;       /* by rules: crossings, by due_ns */
    GHashTable *crossings; /* in the link, by number */
    GPtrArray *over;       /* crossings that may have no copies left */
    struct crossing *entering;
    uint64_t serials; /* datagrams that came in */
    uint64_t newest;  /* serial + 1 of the newest one that left */
    struct impair_counters counters;
};

/* ---- crossings ---- */

static struct crossing *new_crossing(struct impair_direction *lane, uint64_t now_ns, const uint8_t *bytes,
                                     size_t size_bytes, const struct rules_outcome *outcome, const char *rules,
                                     struct impair_record *note) {
    struct crossing *crossing = g_malloc0(sizeof *crossing + size_bytes);
    crossing->serial = lane->serials;
    crossing->came_ns = now_ns;
    crossing->outcome = *outcome;
    crossing->rules = g_strdup(rules);
    crossing->note = note;
    impair_record_hold(note);
    crossing->size_bytes = size_bytes;
    memcpy(crossing->bytes, bytes, size_bytes);
    return crossing;
}

static void free_crossing(void *data) {
    struct crossing *crossing = data;
    impair_record_release(crossing->note);
    g_free(crossing->rules);
    g_free(crossing);
}

static void end_copy(struct impair_direction *lane, struct crossing *crossing) {
    crossing->copies--;
    if (crossing->copies == 0 && !crossing->is_over) {
        crossing->is_over = true;
        g_ptr_array_add(lane->over, crossing);
    }
}

/* A copy may appear after the datagram itself is gone: nothing is forgotten while the link works. */
static void sweep(struct impair_direction *lane) {
    for (guint i = 0; i < lane->over->len; i++) {
        struct crossing *crossing = lane->over->pdata[i];
        crossing->is_over = false;
        if (crossing->copies == 0) {
            g_hash_table_remove(lane->crossings, &crossing->number);
        }
    }
    g_ptr_array_set_size(lane->over, 0);
}

/* ---- words ---- */

static void add_words(GString *words, const char *text) {
    g_string_append_printf(words, "%s%s", words->len != 0 ? ", " : "", text);
}

/* "corrupted bit 3, 77" */
static void add_flips(GString *words, const struct crossing *crossing, const struct sim_link_report *report) {
    if (crossing->size_bytes == 0 || memcmp(report->bytes, crossing->bytes, crossing->size_bytes) == 0) {
        return;
    }
    add_words(words, "corrupted bit");
    const char *separator = " ";
    for (size_t bit = 0; bit < 8 * crossing->size_bytes; bit++) {
        if (((report->bytes[bit / 8] ^ crossing->bytes[bit / 8]) >> bit % 8 & 1) != 0) {
            g_string_append_printf(words, "%s%zu", separator, bit);
            separator = ", ";
        }
    }
}

/* What a datagram that leaves has been through. */
static char *describe(const struct crossing *crossing, const struct sim_link_report *report, bool is_overtaken) {
    GString *words = g_string_new(NULL);
    char delay[64];
    if (report->copy != 0) {
        add_words(words, "duplicate");
    }
    if (report->now_ns > crossing->came_ns) {
        g_snprintf(delay, sizeof delay, "delayed by %.1f ms", (double)(report->now_ns - crossing->came_ns) / NS_PER_MS);
        add_words(words, delay);
    }
    if (is_overtaken) {
        add_words(words, "reordered");
    }
    add_flips(words, crossing, report);
    return g_string_free(words, FALSE);
}

/* ---- what happens in the link ---- */

static void tell_refused(struct impair_direction *lane, struct crossing *crossing, enum net_socket_result result) {
    lane->counters.refused++;
    impair_record_add_comment(crossing->note, result == NET_SOCKET_UNREACHABLE ? "not sent: nobody listens" : "not sent");
    lane->config.refused(lane->config.user, result);
}

static void record_left(struct impair_direction *lane, struct crossing *crossing, const struct sim_link_report *report,
                        bool is_overtaken) {
    const struct impair_endpoint *out = lane->config.out;
    struct impair_record *note =
        impair_record_new(lane->config.record, out->side, &out->local, &out->peer, report->bytes, report->size_bytes);
    if (note != NULL || crossing->note != NULL) {
        char *words = describe(crossing, report, is_overtaken);
        impair_record_add_comment(crossing->note, words);
        impair_record_add_comment(note, crossing->rules);
        impair_record_add_comment(note, words);
        impair_record_release(note);
        g_free(words);
    }
}

static void leave(struct impair_direction *lane, struct crossing *crossing, const struct sim_link_report *report) {
    const struct impair_endpoint *out = lane->config.out;
    bool is_overtaken = crossing->serial + 1 < lane->newest;
    enum net_socket_result result = net_socket_send(out->socket, &out->peer, report->bytes, report->size_bytes);
    if (result != NET_SOCKET_DONE) {
        tell_refused(lane, crossing, result);
        return;
    }
    lane->counters.delivered++;
    lane->counters.delivered_bytes += report->size_bytes;
    lane->counters.reordered += is_overtaken;
    lane->newest = is_overtaken ? lane->newest : crossing->serial + 1;
    record_left(lane, crossing, report, is_overtaken);
}

static void begin(struct impair_direction *lane, uint64_t number) {
    struct crossing *crossing = lane->entering;
    lane->entering = NULL;
    crossing->number = number;
    crossing->copies = 1;
    g_hash_table_insert(lane->crossings, &crossing->number, crossing);
}

static void on_fate(void *user, const struct sim_link_report *report) {
    struct impair_direction *lane = user;
    if (report->fate == SIM_DATAGRAM_SENT) {
        begin(lane, report->number);
        return;
    }
    struct crossing *crossing = g_hash_table_lookup(lane->crossings, &report->number);
    switch (report->fate) {
    case SIM_DATAGRAM_LOST:
        lane->counters.lost++;
        impair_record_add_comment(crossing->note, "lost");
        end_copy(lane, crossing);
        break;
    case SIM_DATAGRAM_OVERFLOWED:
        lane->counters.overflowed++;
        impair_record_add_comment(crossing->note, "lost: queue full");
        end_copy(lane, crossing);
        break;
    case SIM_DATAGRAM_DUPLICATED:
        lane->counters.duplicated++;
        crossing->copies++;
        impair_record_add_comment(crossing->note, "duplicated");
        break;
    case SIM_DATAGRAM_CORRUPTED: lane->counters.corrupted++; break;
    case SIM_DATAGRAM_ARRIVED:
        leave(lane, crossing, report);
        end_copy(lane, crossing);
        break;
    default: break;
    }
}

/* ---- rules in front of the link ---- */

static int compare_due(const void *a, const void *b, void *user) {
    const struct crossing *one = a;
    const struct crossing *other = b;
    (void)user;
    return (one->due_ns > other->due_ns) - (one->due_ns < other->due_ns);
}

/* The link gets a datagram as the rules left it. */
static void send_in(struct impair_direction *lane, uint64_t now_ns, struct crossing *crossing) {
    uint8_t *corrupted = NULL;
    if (crossing->outcome.flip_count > 0) {
        corrupted = g_memdup2(crossing->bytes, crossing->size_bytes);
        rules_outcome_corrupt(&crossing->outcome, corrupted);
    }
    lane->entering = crossing;
    sim_link_send(lane->link, now_ns, corrupted != NULL ? corrupted : crossing->bytes, crossing->size_bytes);
    g_free(corrupted);
    if (lane->entering != NULL) { /* there was no memory */
        lane->entering = NULL;
        lane->counters.overflowed++;
        free_crossing(crossing);
    }
    sweep(lane);
}

/* The ones that were put aside follow the one that overtook them. */
static void pass(struct impair_direction *lane, uint64_t now_ns, struct crossing *crossing) {
    uint64_t serial = crossing->serial;
    send_in(lane, now_ns, crossing);
    GSequenceIter *at = g_sequence_get_begin_iter(lane->held);
    while (!g_sequence_iter_is_end(at)) {
        struct crossing *other = g_sequence_get(at);
        GSequenceIter *next = g_sequence_iter_next(at);
        if (other->is_aside && other->serial != serial && other->due_ns - SIM_LINK_REORDER_TIMEOUT_NS <= now_ns) {
            g_sequence_remove(at);
            send_in(lane, now_ns, other);
        }
        at = next;
    }
}

static void hold(struct impair_direction *lane, struct crossing *crossing) {
    if (g_sequence_get_length(lane->held) >= HELD_MAX) {
        lane->counters.overflowed++;
        impair_record_add_comment(crossing->note, "lost: queue full");
        free_crossing(crossing);
        return;
    }
    g_sequence_insert_sorted(lane->held, crossing, compare_due, NULL);
}

static void enter_copy(struct impair_direction *lane, uint64_t now_ns, struct crossing *crossing) {
    const struct rules_outcome *outcome = &crossing->outcome;
    crossing->is_aside = outcome->is_reordered;
    crossing->due_ns = now_ns + (uint64_t)outcome->delay_ns + (crossing->is_aside ? SIM_LINK_REORDER_TIMEOUT_NS : 0);
    if (crossing->due_ns > now_ns) {
        hold(lane, crossing);
    } else {
        pass(lane, now_ns, crossing);
    }
}

static struct impair_record *note_entry(struct impair_direction *lane, const uint8_t *bytes, size_t size_bytes,
                                        const char *rules) {
    const struct impair_endpoint *in = lane->config.in;
    struct impair_record *note =
        impair_record_new(lane->config.record, in->side, &in->peer, &in->local, bytes, size_bytes);
    impair_record_add_comment(note, rules);
    return note;
}

void impair_direction_receive(struct impair_direction *lane, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes,
                         const struct rules_outcome *outcome, const char *rules) {
    impair_direction_run(lane, now_ns);
    struct impair_record *note = note_entry(lane, bytes, size_bytes, rules);
    lane->counters.datagrams++;
    lane->counters.bytes += size_bytes;
    if (outcome->is_dropped) {
        lane->counters.dropped++;
        impair_record_add_comment(note, "dropped");
    } else {
        lane->counters.corrupted += outcome->flip_count != 0;
        lane->counters.duplicated += outcome->copies;
        for (unsigned i = 0; i <= outcome->copies; i++) {
            enter_copy(lane, now_ns, new_crossing(lane, now_ns, bytes, size_bytes, outcome, rules, note));
        }
    }
    lane->serials++;
    impair_record_release(note);
}

/* ---- time ---- */

static struct crossing *first_held(const struct impair_direction *lane) {
    GSequenceIter *at = g_sequence_get_begin_iter(lane->held);
    return g_sequence_iter_is_end(at) ? NULL : g_sequence_get(at);
}

static void run_link(struct impair_direction *lane, uint64_t now_ns) {
    const uint8_t *bytes;
    size_t size_bytes;
    while (sim_link_pop(lane->link, now_ns, &bytes, &size_bytes)) {
        /* it left when the tap said so */
    }
    sweep(lane);
}

uint64_t impair_direction_run(struct impair_direction *lane, uint64_t now_ns) {
    struct crossing *first;
    while ((first = first_held(lane)) != NULL && first->due_ns <= now_ns) {
        g_sequence_remove(g_sequence_get_begin_iter(lane->held));
        run_link(lane, first->due_ns);
        pass(lane, first->due_ns, first);
    }
    run_link(lane, now_ns);
    uint64_t deadline_ns = sim_link_deadline(lane->link);
    return first != NULL && first->due_ns < deadline_ns ? first->due_ns : deadline_ns;
}

/* From the end: what one stage lets go waits in the next one for another tick. */
void impair_direction_tick(struct impair_direction *lane, uint64_t now_ns) {
    for (size_t stage = IMPAIR_STAGES; stage-- > 0;) {
        sim_link_tick(lane->link, now_ns, stage);
    }
    impair_direction_run(lane, now_ns);
}

/* ---- life ---- */

struct impair_direction *impair_direction_new(const struct impair_direction_config *config) {
    struct sim_link *link = sim_link_new(config->stages, IMPAIR_STAGES, config->seed, config->direction);
    if (link == NULL) {
        return NULL;
    }
    struct impair_direction *lane = g_new0(struct impair_direction, 1);
    lane->config = *config;
    lane->link = link;
    lane->held = g_sequence_new(NULL);
    lane->crossings = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, free_crossing);
    lane->over = g_ptr_array_new();
    sim_link_set_tap(link, on_fate, lane);
    return lane;
}

static void abandon(void *key, void *value, void *user) {
    struct crossing *crossing = value;
    (void)key;
    (void)user;
    impair_record_add_comment(crossing->note, "under way when the link ended");
}

static void abandon_held(void *data, void *user) {
    abandon(NULL, data, user);
    free_crossing(data);
}

void impair_direction_free(struct impair_direction *lane) {
    if (lane == NULL) {
        return;
    }
    g_sequence_foreach(lane->held, abandon_held, NULL);
    g_hash_table_foreach(lane->crossings, abandon, NULL);
    g_sequence_free(lane->held);
    g_hash_table_destroy(lane->crossings);
    g_ptr_array_unref(lane->over);
    sim_link_free(lane->link);
    g_free(lane);
}

const struct impair_counters *impair_direction_counters(const struct impair_direction *lane) {
    return &lane->counters;
}
