/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/replay/check_report.h"
#include "tools/replay/connection_comparison.h"
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
    bool differs, is_compared; /* any of the connections */
};

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
    struct replay_command *replay = check->replay;
    if (seen->is_foreign || !capture_reader_selects(&replay->reading, &replay->selection, seen)) {
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
        check->is_compared |= replay_connection_is_compared(v);
        if (check->replay->json) {
            check_report_print_json(v, &check->out);
        } else {
            check_report_print_text(v, &check->out);
        }
    }
    if (check->unchecked != 0) {
        cli_error("not compared: %llu of the datagrams, of connections beyond the first %d",
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
        .out = {.is_colored = replay->is_colored},
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
    bool is_explained = status == CLI_EXIT_UNUSABLE || replay->reading.summary.malformed != 0 || check.differs;
    if (!is_explained && !check.is_compared && check.order->len != 0) {
        cli_error("no side of any connection was compared, for the reasons that are printed");
        status = CLI_EXIT_UNUSABLE;
    }
    clear(&check);
    return status;
}
