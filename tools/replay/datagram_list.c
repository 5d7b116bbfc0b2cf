/* SPDX-License-Identifier: MIT */
#include "tools/replay/datagram_list.h"

struct loading {
    struct datagram_list *datagrams;
    GHashTable *senders; /* stream number to sender + 1 */
    int64_t first_ns;
};

static uint32_t sender_of(struct loading *l, uint32_t stream) {
    gpointer key = GUINT_TO_POINTER(stream);
    uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(l->senders, key));
    if (known == 0) {
        known = ++l->datagrams->senders;
        g_hash_table_insert(l->senders, key, GUINT_TO_POINTER(known));
    }
    return known - 1;
}

static bool is_wanted(struct replay_command *replay, const struct input_datagram *seen) {
    unsigned role = replay->selection.direction == UE_SERVER_TO_CLIENT ? 1 : 0;
    return seen->role == role && capture_reader_selects(&replay->reading, &replay->selection, seen);
}

static void add(struct loading *l, const struct input_datagram *seen) {
    struct datagram_list *datagrams = l->datagrams;
    int64_t time_ns = seen->observed->time_ns;
    if (seen->is_cut || seen->is_foreign) {
        datagrams->skipped++;
        return;
    }
    l->first_ns = datagrams->list->len == 0 ? time_ns : l->first_ns;
    const struct datagram_list_item datagram = {
        .time_ns = time_ns > l->first_ns ? (uint64_t)time_ns - (uint64_t)l->first_ns : 0,
        .offset = datagrams->bytes->len,
        .size_bytes = (uint32_t)seen->size_bytes,
        .sender = sender_of(l, seen->connection->stream),
    };
    g_array_append_val(datagrams->list, datagram);
    g_byte_array_append(datagrams->bytes, seen->bytes, datagram.size_bytes);
}

bool datagram_list_read(struct datagram_list *datagrams, struct replay_command *replay) {
    struct input_datagram seen;
    *datagrams = (struct datagram_list){.list = g_array_new(FALSE, FALSE, sizeof(struct datagram_list_item)),
                                        .bytes = g_byte_array_new()};
    struct loading l = {.datagrams = datagrams, .senders = g_hash_table_new(NULL, NULL)};
    capture_reader_start(&replay->reading, replay->path_count, replay->paths);
    while (datagrams->bytes->len <= DATAGRAM_LIST_BYTES_MAX && capture_reader_next(&replay->reading, &seen)) {
        if (is_wanted(replay, &seen)) {
            add(&l, &seen);
        }
    }
    g_hash_table_unref(l.senders);
    if (datagrams->bytes->len > DATAGRAM_LIST_BYTES_MAX) {
        return cli_error("more than 1 GiB to send; select fewer datagrams, for example with --stream");
    }
    if (datagrams->list->len == 0) {
        return cli_error("nothing to send; see --stream and --direction (default c2s)");
    }
    return true;
}

void datagram_list_clear(struct datagram_list *datagrams) {
    g_array_unref(datagrams->list);
    g_byte_array_unref(datagrams->bytes);
}
