/* SPDX-License-Identifier: MIT */
#include "tools/observe/completed_messages.h"

struct ue_contents {
    struct ue_tracks *tracks;
    const struct ue_seen *seen;
    struct ue_messages *messages; /* of its connection */
    GArray *list;                 /* struct ue_shown_message */
    GPtrArray *copies;            /* what they point to outside of the datagram */
    struct ue_shown_messages shown;
};

struct ue_contents *ue_contents_new(void) {
    struct ue_contents *contents = g_new0(struct ue_contents, 1);
    contents->tracks = ue_tracks_new();
    contents->list = g_array_new(FALSE, FALSE, sizeof(struct ue_shown_message));
    contents->copies = g_ptr_array_new_with_free_func(g_free);
    return contents;
}

void ue_contents_free(struct ue_contents *contents) {
    ue_tracks_free(contents->tracks);
    g_array_unref(contents->list);
    g_ptr_array_unref(contents->copies);
    g_free(contents);
}

static const void *keep(struct ue_contents *contents, const void *bytes, size_t size_bytes) {
    void *copy = g_memdup2(bytes, size_bytes);
    g_ptr_array_add(contents->copies, copy);
    return copy;
}

/* Behind those of the same item: those of late packets are told after others. */
static guint place_of(const GArray *list, uint32_t item) {
    guint place = list->len;
    while (place != 0 && g_array_index(list, struct ue_shown_message, place - 1).item > item) {
        place--;
    }
    return place;
}

/* Copies of bytes keep their bit offsets: what the bits of records count in stays the same. */
static void on_message(void *user, const struct ue_assembly_event *event) {
    struct ue_contents *contents = user;
    if (event->type != UE_ASSEMBLY_WHOLE) {
        return;
    }
    struct ue_shown_message message = {.item = event->item, .content = event->content};
    struct ue_view *data = &message.content.data;
    if (data->base != contents->seen->bytes) {
        data->base = keep(contents, data->base, ue_bits_bytes(data->bit + data->bits));
    }
    if (data->base != contents->seen->bytes && data->bit == 0) {
        message.fragments = keep(contents, event->fragments, event->fragment_count * sizeof *event->fragments);
        message.fragment_count = event->fragment_count;
    }
    g_array_insert_val(contents->list, place_of(contents->list, message.item), message);
}

static void on_event(void *user, const struct ue_track_event *event) {
    struct ue_contents *contents = user;
    const struct ue_assembly_sink sink = {on_message, contents};
    ue_messages_feed(contents->messages, &contents->seen->context, event, &sink);
}

const struct ue_shown_messages *ue_contents_feed(struct ue_contents *contents, const struct ue_seen *seen) {
    const struct ue_track_sink sink = {.event = on_event, .user = contents};
    g_array_set_size(contents->list, 0);
    g_ptr_array_set_size(contents->copies, 0);
    contents->shown = (struct ue_shown_messages){0};
    if (seen->is_foreign || seen->is_cut) {
        return &contents->shown; /* it completes nothing: nothing is kept for its connection */
    }
    contents->seen = seen;
    contents->messages = ue_tracks_messages(contents->tracks, seen);
    ue_tracks_feed(contents->tracks, seen, &sink);
    ue_messages_end(contents->messages, &seen->context, &(const struct ue_assembly_sink){on_message, contents});
    contents->shown = (struct ue_shown_messages){.list = (const struct ue_shown_message *)contents->list->data,
                                                 .count = contents->list->len,
                                                 .names = ue_messages_names(contents->messages, seen->held->frame)};
    return &contents->shown;
}
