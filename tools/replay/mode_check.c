/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/print/json.h"
#include "tools/print/phrase.h"
#include "tools/replay/connection_check.h"
#include "tools/replay/replay.h"

#define PACKETS_RESERVE_BYTES ((size_t)512 << 10) /* packet memory of a side; unused memory costs nothing; */
#define PACKETS_MAX_BYTES ((size_t)8 << 20)       /* ... the most of one side; */
#define PACKETS_SHARED_BYTES ((size_t)256 << 20)  /* ... and all that sides use above their reserves */
#define CONNECTIONS_MAX 1024                      /* compared at a time; further ones are only counted */

struct capture_check {
    struct replay_command *replay;
    struct replay_check_context all;
    GHashTable *connections; /* by stream number */
    GArray *order;           /* their stream numbers */
    struct text_buffer out;
    uint64_t unchecked;
    bool differs;
};

/* ---- results ---- */

static void print_side(struct text_buffer *out, const struct replay_connection *v, unsigned role) {
    const struct replay_side *side = &v->sides[role];
    const char *obstacle = replay_connection_obstacle(v, role);
    text_buffer_add_format(out, "  %s: ", phrase_side(role));
    if (obstacle != NULL) {
        text_buffer_add_format(out, "not compared: %s\n", obstacle);
        return;
    }
    struct ue_model_retransmissions retransmissions = replay_side_retransmissions(side);
    text_buffer_add_format(out, "%llu packets compared, %llu bunches delivered to it",
                           (unsigned long long)side->packets, (unsigned long long)side->delivered);
    if (retransmissions.early + retransmissions.late != 0) {
        text_buffer_add_format(out, "; resends: %llu before the report, %llu later than at once",
                               (unsigned long long)retransmissions.early, (unsigned long long)retransmissions.late);
    }
    text_buffer_add_char(out, '\n');
}

static void print_ignored(struct text_buffer *out, const struct replay_connection *v, uint32_t ignored) {
    for (int type = 0; type < UE_MODEL_DIFFERENCE_COUNT; type++) {
        for (unsigned role = 0; role < 2; role++) {
            uint64_t count = v->sides[role].differences[type];
            if ((ignored >> type & 1) != 0 && count != 0) {
                text_buffer_add_format(out, "  ignored: the %s %s [%s], %llu times\n", phrase_side(role),
                                       ue_model_difference_text(type), ue_model_difference_name(type),
                                       (unsigned long long)count);
            }
        }
    }
}

static const char *outcome(const struct replay_connection *v) {
    bool is_compared = replay_connection_obstacle(v, 0) == NULL || replay_connection_obstacle(v, 1) == NULL;
    return replay_connection_difference(v) != NULL ? "differs" : is_compared ? "no difference" : "not compared";
}

static void print_text(struct capture_check *check, const struct replay_connection *v) {
    const struct replay_difference *difference = replay_connection_difference(v);
    struct text_buffer *out = &check->out;
    text_buffer_add_format(out, "stream %u: %s to server %s, generation %s: %s\n", v->stream, v->texts[0], v->texts[1],
                           v->generation, outcome(v));
    print_side(out, v, 0);
    print_side(out, v, 1);
    print_ignored(out, v, check->all.ignored);
    if (difference != NULL) {
        replay_difference_print(difference, out);
    }
}

static void print_json_side(struct text_buffer *out, const struct replay_connection *v, unsigned role) {
    const struct replay_side *side = &v->sides[role];
    const char *obstacle = replay_connection_obstacle(v, role);
    text_buffer_add_format(out, ",\"%s\":{\"address\":\"%s\",\"compared\":%llu,\"delivered\":%llu", phrase_side(role),
                           v->texts[role], (unsigned long long)side->packets, (unsigned long long)side->delivered);
    if (side->has_begun) {
        struct ue_model_retransmissions retransmissions = replay_side_retransmissions(side);
        text_buffer_add_format(out, ",\"resent_early\":%llu,\"resent_late\":%llu",
                               (unsigned long long)retransmissions.early, (unsigned long long)retransmissions.late);
    }
    if (obstacle != NULL) {
        text_buffer_add_format(out, ",\"not_compared\":\"%s\"", obstacle);
    }
    text_buffer_add_char(out, '}');
}

static void print_json(struct capture_check *check, const struct replay_connection *v) {
    const struct replay_difference *difference = replay_connection_difference(v);
    struct text_buffer *out = &check->out;
    text_buffer_add_format(out, "{\"schema\":%d,\"stream\":%u,\"generation\":\"%s\",\"differs\":%s", PRINT_JSON_SCHEMA,
                           v->stream, v->generation, difference != NULL ? "true" : "false");
    print_json_side(out, v, 0);
    print_json_side(out, v, 1);
    if (difference != NULL) {
        text_buffer_add(out, ",\"difference\":{");
        replay_difference_print_json(difference, out);
        text_buffer_add_char(out, '}');
    }
    text_buffer_add(out, "}\n");
}

/* ---- run ---- */

static struct replay_connection *connection_of(struct capture_check *check, const struct input_datagram *seen) {
    gpointer key = GUINT_TO_POINTER(seen->connection->stream);
    struct replay_connection *v = g_hash_table_lookup(check->connections, key);
    if (v == NULL && g_hash_table_size(check->connections) < CONNECTIONS_MAX) {
        v = replay_connection_new(&check->all, seen);
        g_hash_table_insert(check->connections, key, v);
        g_array_append_val(check->order, seen->connection->stream);
    }
    return v;
}

static void handle_datagram(struct capture_check *check, const struct input_datagram *seen) {
    const struct selection *selection = &check->replay->selection;
    if (seen->is_foreign || !selection_matches_stream(selection, seen->connection->stream)) {
        return;
    }
    struct replay_connection *v = connection_of(check, seen);
    if (v != NULL) {
        replay_connection_receive(v, seen);
    } else {
        check->unchecked++;
    }
}

static void finish(struct capture_check *check) {
    for (guint i = 0; i < check->order->len; i++) {
        gpointer key = GUINT_TO_POINTER(g_array_index(check->order, uint32_t, i));
        struct replay_connection *v = g_hash_table_lookup(check->connections, key);
        replay_connection_end(v);
        check->differs |= replay_connection_difference(v) != NULL;
        if (check->replay->json) {
            print_json(check, v);
        } else {
            print_text(check, v);
        }
    }
    if (check->unchecked != 0) {
        cli_error("%llu datagrams of connections beyond the first %d were not compared",
                  (unsigned long long)check->unchecked, CONNECTIONS_MAX);
    }
}

static void clear(struct capture_check *check) {
    g_hash_table_destroy(check->connections);
    g_array_free(check->order, TRUE);
    text_buffer_free(&check->out);
    ue_encryption_free(check->all.encryption);
}

static void free_conversation(gpointer connection) {
    replay_connection_free(connection);
}

enum cli_exit replay_check(struct replay_command *replay) {
    struct input_datagram seen;
    struct capture_check check = {
        .replay = replay,
        .connections = g_hash_table_new_full(NULL, NULL, NULL, free_conversation),
        .order = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
    };
    check.all = (struct replay_check_context){
        .budget = {.shared_max_bytes = PACKETS_SHARED_BYTES,
                   .reserve_bytes = PACKETS_RESERVE_BYTES,
                   .max_bytes = PACKETS_MAX_BYTES},
        .is_checked = {replay->check_options.is_checked[0], replay->check_options.is_checked[1]},
        .ignored = replay->check_options.ignored,
        .cipher = replay->reading.wire.cipher};
    capture_reader_start(&replay->reading, replay->path_count, replay->paths);
    while (capture_reader_next(&replay->reading, &seen)) {
        handle_datagram(&check, &seen);
    }
    finish(&check);
    bool is_written = text_buffer_flush(&check.out, stdout);
    if (!is_written) {
        cli_error("cannot write: %s", g_strerror(errno));
    }
    capture_reader_print_summary(&replay->reading);
    enum cli_exit status = is_written ? capture_reader_exit_status(&replay->reading) : CLI_EXIT_UNUSABLE;
    status = status == CLI_EXIT_OK && check.differs ? CLI_EXIT_MALFORMED : status;
    clear(&check);
    return status;
}
