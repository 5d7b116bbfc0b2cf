/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/print/json.h"
#include "tools/print/phrase.h"
#include "tools/replay/connection_check.h"
#include "tools/replay/replay.h"

#define KEPT_RESERVE_BYTES ((size_t)512 << 10) /* of a side; what is not used costs nothing; */
#define KEPT_MAX_BYTES ((size_t)8 << 20)       /* ... the most of one; */
#define KEPT_SHARED_BYTES ((size_t)256 << 20)  /* ... and what all sides together keep above the reserve */
#define CONVERSATIONS_MAX 1024                 /* at a time; further ones are only counted */

struct check {
    struct ue_replay *replay;
    struct ue_conversations all;
    GHashTable *conversations; /* by stream */
    GArray *order;             /* their streams */
    struct ue_out out;
    uint64_t unchecked;
    bool differs;
};

/* ---- results ---- */

static void print_side(struct ue_out *out, const struct ue_conversation *v, unsigned role) {
    const struct ue_party *side = &v->sides[role];
    const char *trouble = ue_conversation_trouble(v, role);
    ue_out_format(out, "  %s: ", ue_side_name(role));
    if (trouble != NULL) {
        ue_out_format(out, "not compared: %s\n", trouble);
        return;
    }
    struct ue_shadow_notes notes = ue_party_notes(side);
    ue_out_format(out, "%llu packets compared, %llu bunches delivered to it", (unsigned long long)side->packets,
                  (unsigned long long)side->delivered);
    if (notes.early + notes.late != 0) {
        ue_out_format(out, "; resends: %llu before their verdict, %llu later than at once",
                      (unsigned long long)notes.early, (unsigned long long)notes.late);
    }
    ue_out_char(out, '\n');
}

static void print_ignored(struct ue_out *out, const struct ue_conversation *v, uint32_t ignored) {
    for (int type = 0; type < UE_DEPARTURE_COUNT; type++) {
        for (unsigned role = 0; role < 2; role++) {
            uint64_t count = v->sides[role].departures[type];
            if ((ignored >> type & 1) != 0 && count != 0) {
                ue_out_format(out, "  ignored: the %s %s [%s], %llu times\n", ue_side_name(role),
                              ue_departure_text(type), ue_departure_name(type), (unsigned long long)count);
            }
        }
    }
}

static const char *outcome(const struct ue_conversation *v) {
    bool is_compared = ue_conversation_trouble(v, 0) == NULL || ue_conversation_trouble(v, 1) == NULL;
    return ue_conversation_difference(v) != NULL ? "differs" : is_compared ? "no difference" : "not compared";
}

static void print_text(struct check *check, const struct ue_conversation *v) {
    const struct ue_difference *difference = ue_conversation_difference(v);
    struct ue_out *out = &check->out;
    ue_out_format(out, "stream %u: %s to server %s, generation %s: %s\n", v->stream, v->texts[0], v->texts[1],
                  v->generation, outcome(v));
    print_side(out, v, 0);
    print_side(out, v, 1);
    print_ignored(out, v, check->all.ignored);
    if (difference != NULL) {
        ue_difference_print(difference, out);
    }
}

static void print_json_side(struct ue_out *out, const struct ue_conversation *v, unsigned role) {
    const struct ue_party *side = &v->sides[role];
    const char *trouble = ue_conversation_trouble(v, role);
    ue_out_format(out, ",\"%s\":{\"address\":\"%s\",\"compared\":%llu,\"delivered\":%llu", ue_side_name(role),
                  v->texts[role], (unsigned long long)side->packets, (unsigned long long)side->delivered);
    if (side->has_begun) {
        struct ue_shadow_notes notes = ue_party_notes(side);
        ue_out_format(out, ",\"resent_early\":%llu,\"resent_late\":%llu", (unsigned long long)notes.early,
                      (unsigned long long)notes.late);
    }
    if (trouble != NULL) {
        ue_out_format(out, ",\"not_compared\":\"%s\"", trouble);
    }
    ue_out_char(out, '}');
}

static void print_json(struct check *check, const struct ue_conversation *v) {
    const struct ue_difference *difference = ue_conversation_difference(v);
    struct ue_out *out = &check->out;
    ue_out_format(out, "{\"schema\":%d,\"stream\":%u,\"generation\":\"%s\",\"differs\":%s", UE_JSON_SCHEMA, v->stream,
                  v->generation, difference != NULL ? "true" : "false");
    print_json_side(out, v, 0);
    print_json_side(out, v, 1);
    if (difference != NULL) {
        ue_out_text(out, ",\"difference\":{");
        ue_difference_print_json(difference, out);
        ue_out_char(out, '}');
    }
    ue_out_text(out, "}\n");
}

/* ---- run ---- */

static struct ue_conversation *conversation_of(struct check *check, const struct ue_seen *seen) {
    gpointer key = GUINT_TO_POINTER(seen->connection->stream);
    struct ue_conversation *v = g_hash_table_lookup(check->conversations, key);
    if (v == NULL && g_hash_table_size(check->conversations) < CONVERSATIONS_MAX) {
        v = ue_conversation_new(&check->all, seen);
        g_hash_table_insert(check->conversations, key, v);
        g_array_append_val(check->order, seen->connection->stream);
    }
    return v;
}

static void take(struct check *check, const struct ue_seen *seen) {
    const struct ue_selection *selection = &check->replay->selection;
    if (seen->is_foreign || !ue_selection_takes_stream(selection, seen->connection->stream)) {
        return;
    }
    struct ue_conversation *v = conversation_of(check, seen);
    if (v != NULL) {
        ue_conversation_feed(v, seen);
    } else {
        check->unchecked++;
    }
}

static void finish(struct check *check) {
    for (guint i = 0; i < check->order->len; i++) {
        gpointer key = GUINT_TO_POINTER(g_array_index(check->order, uint32_t, i));
        struct ue_conversation *v = g_hash_table_lookup(check->conversations, key);
        ue_conversation_end(v);
        check->differs |= ue_conversation_difference(v) != NULL;
        if (check->replay->json) {
            print_json(check, v);
        } else {
            print_text(check, v);
        }
    }
    if (check->unchecked != 0) {
        ue_complain("%llu datagrams of connections beyond the first %d were not compared",
                    (unsigned long long)check->unchecked, CONVERSATIONS_MAX);
    }
}

static void clear(struct check *check) {
    g_hash_table_destroy(check->conversations);
    g_array_free(check->order, TRUE);
    ue_out_free(&check->out);
    ue_seal_free(check->all.seal);
}

static void free_conversation(gpointer conversation) {
    ue_conversation_free(conversation);
}

enum ue_exit ue_replay_check(struct ue_replay *replay) {
    struct ue_seen seen;
    struct check check = {
        .replay = replay,
        .conversations = g_hash_table_new_full(NULL, NULL, NULL, free_conversation),
        .order = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
    };
    check.all =
        (struct ue_conversations){.budget = {.shared_max_bytes = KEPT_SHARED_BYTES,
                                             .reserve_bytes = KEPT_RESERVE_BYTES,
                                             .max_bytes = KEPT_MAX_BYTES},
                                  .is_checked = {replay->checking.is_checked[0], replay->checking.is_checked[1]},
                                  .ignored = replay->checking.ignored,
                                  .cipher = replay->reading.wire.cipher};
    ue_reading_start(&replay->reading, replay->path_count, replay->paths);
    while (ue_reading_next(&replay->reading, &seen)) {
        take(&check, &seen);
    }
    finish(&check);
    bool is_written = ue_out_flush(&check.out, stdout);
    if (!is_written) {
        ue_complain("cannot write: %s", g_strerror(errno));
    }
    ue_reading_print_summary(&replay->reading);
    enum ue_exit status = is_written ? ue_reading_status(&replay->reading) : UE_EXIT_UNUSABLE;
    status = status == UE_EXIT_OK && check.differs ? UE_EXIT_MALFORMED : status;
    clear(&check);
    return status;
}
