/* SPDX-License-Identifier: MIT */
#include "tools/impair/direction.h"

#include <string.h>

#define NS_PER_MS 1e6

/* Datagrams that rules hold back; as many as the link behind them holds. */
#define HELD_MAX UE_LINK_DATAGRAMS_MAX

/* A datagram on its way. */
struct crossing {
    uint64_t number; /* in the link */
    uint64_t serial; /* of the datagram that came in; copies of rules have the same */
    uint64_t came_ns;
    uint64_t due_ns; /* held by a rule until then */
    bool is_aside;   /* by a rule, for the next one to overtake */
    unsigned copies; /* in the link */
    bool is_over;    /* to be looked at by sweep */
    struct ue_relay_note *note;
    char *rules; /* those that spoke */
    struct ue_outcome outcome;
    size_t size_bytes;
    uint8_t bytes[]; /* as it came in */
};

struct ue_relay_lane {
    struct ue_relay_lane_config config;
    struct ue_link *link;
    GSequence *held;       /* by rules: crossings, by due_ns */
    GHashTable *crossings; /* in the link, by number */
    GPtrArray *over;       /* crossings that may have no copies left */
    struct crossing *entering;
    uint64_t serials; /* datagrams that came in */
    uint64_t newest;  /* serial + 1 of the newest one that left */
    struct ue_relay_counters counters;
};

/* ---- crossings ---- */

static struct crossing *new_crossing(struct ue_relay_lane *lane, uint64_t now_ns, const uint8_t *bytes,
                                     size_t size_bytes, const struct ue_outcome *outcome, const char *rules,
                                     struct ue_relay_note *note) {
    struct crossing *crossing = g_malloc0(sizeof *crossing + size_bytes);
    crossing->serial = lane->serials;
    crossing->came_ns = now_ns;
    crossing->outcome = *outcome;
    crossing->rules = g_strdup(rules);
    crossing->note = note;
    ue_relay_note_open(note);
    crossing->size_bytes = size_bytes;
    memcpy(crossing->bytes, bytes, size_bytes);
    return crossing;
}

static void free_crossing(void *data) {
    struct crossing *crossing = data;
    ue_relay_note_close(crossing->note);
    g_free(crossing->rules);
    g_free(crossing);
}

static void end_copy(struct ue_relay_lane *lane, struct crossing *crossing) {
    crossing->copies--;
    if (crossing->copies == 0 && !crossing->is_over) {
        crossing->is_over = true;
        g_ptr_array_add(lane->over, crossing);
    }
}

/* A copy may appear after the datagram itself is gone: nothing is forgotten while the link works. */
static void sweep(struct ue_relay_lane *lane) {
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
static void add_flips(GString *words, const struct crossing *crossing, const struct ue_link_report *report) {
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
static char *describe(const struct crossing *crossing, const struct ue_link_report *report, bool is_overtaken) {
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

static void tell_refused(struct ue_relay_lane *lane, struct crossing *crossing, enum ue_socket_result result) {
    lane->counters.refused++;
    ue_relay_note_say(crossing->note, result == UE_SOCKET_UNREACHABLE ? "not sent: nobody listens" : "not sent");
    lane->config.refused(lane->config.user, result);
}

static void record_left(struct ue_relay_lane *lane, struct crossing *crossing, const struct ue_link_report *report,
                        bool is_overtaken) {
    const struct ue_relay_end *out = lane->config.out;
    struct ue_relay_note *note =
        ue_relay_note_new(lane->config.record, out->side, &out->local, &out->peer, report->bytes, report->size_bytes);
    if (note != NULL || crossing->note != NULL) {
        char *words = describe(crossing, report, is_overtaken);
        ue_relay_note_say(crossing->note, words);
        ue_relay_note_say(note, crossing->rules);
        ue_relay_note_say(note, words);
        ue_relay_note_close(note);
        g_free(words);
    }
}

static void leave(struct ue_relay_lane *lane, struct crossing *crossing, const struct ue_link_report *report) {
    const struct ue_relay_end *out = lane->config.out;
    bool is_overtaken = crossing->serial + 1 < lane->newest;
    enum ue_socket_result result = ue_socket_send(out->socket, &out->peer, report->bytes, report->size_bytes);
    if (result != UE_SOCKET_DONE) {
        tell_refused(lane, crossing, result);
        return;
    }
    lane->counters.delivered++;
    lane->counters.delivered_bytes += report->size_bytes;
    lane->counters.reordered += is_overtaken;
    lane->newest = is_overtaken ? lane->newest : crossing->serial + 1;
    record_left(lane, crossing, report, is_overtaken);
}

static void begin(struct ue_relay_lane *lane, uint64_t number) {
    struct crossing *crossing = lane->entering;
    lane->entering = NULL;
    crossing->number = number;
    crossing->copies = 1;
    g_hash_table_insert(lane->crossings, &crossing->number, crossing);
}

static void on_fate(void *user, const struct ue_link_report *report) {
    struct ue_relay_lane *lane = user;
    if (report->fate == UE_FATE_SENT) {
        begin(lane, report->number);
        return;
    }
    struct crossing *crossing = g_hash_table_lookup(lane->crossings, &report->number);
    switch (report->fate) {
    case UE_FATE_LOST:
        lane->counters.lost++;
        ue_relay_note_say(crossing->note, "lost");
        end_copy(lane, crossing);
        break;
    case UE_FATE_OVERFLOWED:
        lane->counters.overflowed++;
        ue_relay_note_say(crossing->note, "lost: queue full");
        end_copy(lane, crossing);
        break;
    case UE_FATE_DUPLICATED:
        lane->counters.duplicated++;
        crossing->copies++;
        ue_relay_note_say(crossing->note, "duplicated");
        break;
    case UE_FATE_CORRUPTED: lane->counters.corrupted++; break;
    case UE_FATE_ARRIVED:
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
static void send_in(struct ue_relay_lane *lane, uint64_t now_ns, struct crossing *crossing) {
    uint8_t *corrupted = NULL;
    if (crossing->outcome.flip_count > 0) {
        corrupted = g_memdup2(crossing->bytes, crossing->size_bytes);
        ue_outcome_corrupt(&crossing->outcome, corrupted);
    }
    lane->entering = crossing;
    ue_link_send(lane->link, now_ns, corrupted != NULL ? corrupted : crossing->bytes, crossing->size_bytes);
    g_free(corrupted);
    if (lane->entering != NULL) { /* there was no memory */
        lane->entering = NULL;
        lane->counters.overflowed++;
        free_crossing(crossing);
    }
    sweep(lane);
}

/* The ones that were put aside follow the one that overtook them. */
static void pass(struct ue_relay_lane *lane, uint64_t now_ns, struct crossing *crossing) {
    uint64_t serial = crossing->serial;
    send_in(lane, now_ns, crossing);
    GSequenceIter *at = g_sequence_get_begin_iter(lane->held);
    while (!g_sequence_iter_is_end(at)) {
        struct crossing *other = g_sequence_get(at);
        GSequenceIter *next = g_sequence_iter_next(at);
        if (other->is_aside && other->serial != serial && other->due_ns - UE_LINK_ASIDE_NS <= now_ns) {
            g_sequence_remove(at);
            send_in(lane, now_ns, other);
        }
        at = next;
    }
}

static void hold(struct ue_relay_lane *lane, struct crossing *crossing) {
    if (g_sequence_get_length(lane->held) >= HELD_MAX) {
        lane->counters.overflowed++;
        ue_relay_note_say(crossing->note, "lost: queue full");
        free_crossing(crossing);
        return;
    }
    g_sequence_insert_sorted(lane->held, crossing, compare_due, NULL);
}

static void enter_copy(struct ue_relay_lane *lane, uint64_t now_ns, struct crossing *crossing) {
    const struct ue_outcome *outcome = &crossing->outcome;
    crossing->is_aside = outcome->is_reordered;
    crossing->due_ns = now_ns + (uint64_t)outcome->delay_ns + (crossing->is_aside ? UE_LINK_ASIDE_NS : 0);
    if (crossing->due_ns > now_ns) {
        hold(lane, crossing);
    } else {
        pass(lane, now_ns, crossing);
    }
}

static struct ue_relay_note *note_entry(struct ue_relay_lane *lane, const uint8_t *bytes, size_t size_bytes,
                                        const char *rules) {
    const struct ue_relay_end *in = lane->config.in;
    struct ue_relay_note *note =
        ue_relay_note_new(lane->config.record, in->side, &in->peer, &in->local, bytes, size_bytes);
    ue_relay_note_say(note, rules);
    return note;
}

void ue_relay_lane_enter(struct ue_relay_lane *lane, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes,
                         const struct ue_outcome *outcome, const char *rules) {
    ue_relay_lane_run(lane, now_ns);
    struct ue_relay_note *note = note_entry(lane, bytes, size_bytes, rules);
    lane->counters.datagrams++;
    lane->counters.bytes += size_bytes;
    if (outcome->is_dropped) {
        lane->counters.dropped++;
        ue_relay_note_say(note, "dropped");
    } else {
        lane->counters.corrupted += outcome->flip_count != 0;
        lane->counters.duplicated += outcome->copies;
        for (unsigned i = 0; i <= outcome->copies; i++) {
            enter_copy(lane, now_ns, new_crossing(lane, now_ns, bytes, size_bytes, outcome, rules, note));
        }
    }
    lane->serials++;
    ue_relay_note_close(note);
}

/* ---- time ---- */

static struct crossing *first_held(const struct ue_relay_lane *lane) {
    GSequenceIter *at = g_sequence_get_begin_iter(lane->held);
    return g_sequence_iter_is_end(at) ? NULL : g_sequence_get(at);
}

static void run_link(struct ue_relay_lane *lane, uint64_t now_ns) {
    const uint8_t *bytes;
    size_t size_bytes;
    while (ue_link_take(lane->link, now_ns, &bytes, &size_bytes)) {
        /* it left when the tap said so */
    }
    sweep(lane);
}

uint64_t ue_relay_lane_run(struct ue_relay_lane *lane, uint64_t now_ns) {
    struct crossing *first;
    while ((first = first_held(lane)) != NULL && first->due_ns <= now_ns) {
        g_sequence_remove(g_sequence_get_begin_iter(lane->held));
        run_link(lane, first->due_ns);
        pass(lane, first->due_ns, first);
    }
    run_link(lane, now_ns);
    uint64_t deadline_ns = ue_link_deadline(lane->link);
    return first != NULL && first->due_ns < deadline_ns ? first->due_ns : deadline_ns;
}

/* From the end: what one stage lets go waits in the next one for another tick. */
void ue_relay_lane_tick(struct ue_relay_lane *lane, uint64_t now_ns) {
    for (size_t stage = UE_RELAY_STAGES; stage-- > 0;) {
        ue_link_tick(lane->link, now_ns, stage);
    }
    ue_relay_lane_run(lane, now_ns);
}

/* ---- life ---- */

struct ue_relay_lane *ue_relay_lane_new(const struct ue_relay_lane_config *config) {
    struct ue_link *link = ue_link_new(config->stages, UE_RELAY_STAGES, config->seed, config->direction);
    if (link == NULL) {
        return NULL;
    }
    struct ue_relay_lane *lane = g_new0(struct ue_relay_lane, 1);
    lane->config = *config;
    lane->link = link;
    lane->held = g_sequence_new(NULL);
    lane->crossings = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, free_crossing);
    lane->over = g_ptr_array_new();
    ue_link_set_tap(link, on_fate, lane);
    return lane;
}

static void abandon(void *key, void *value, void *user) {
    struct crossing *crossing = value;
    (void)key;
    (void)user;
    ue_relay_note_say(crossing->note, "under way when the link ended");
}

static void abandon_held(void *data, void *user) {
    abandon(NULL, data, user);
    free_crossing(data);
}

void ue_relay_lane_free(struct ue_relay_lane *lane) {
    if (lane == NULL) {
        return;
    }
    g_sequence_foreach(lane->held, abandon_held, NULL);
    g_hash_table_foreach(lane->crossings, abandon, NULL);
    g_sequence_free(lane->held);
    g_hash_table_destroy(lane->crossings);
    g_ptr_array_unref(lane->over);
    ue_link_free(lane->link);
    g_free(lane);
}

const struct ue_relay_counters *ue_relay_lane_counters(const struct ue_relay_lane *lane) {
    return &lane->counters;
}
