/* SPDX-License-Identifier: MIT */
#include "tools/input/completed_messages.h"

struct completed_messages {
    const struct input_datagram *captured;
    GArray *list;      /* struct print_message */
    GPtrArray *copies; /* copies of data outside of the datagram */
    struct print_messages shown;
};

struct completed_messages *completed_messages_new(void) {
    struct completed_messages *contents = g_new0(struct completed_messages, 1);
    contents->list = g_array_new(FALSE, FALSE, sizeof(struct print_message));
    contents->copies = g_ptr_array_new_with_free_func(g_free);
    return contents;
}

void completed_messages_free(struct completed_messages *contents) {
    g_array_unref(contents->list);
    g_ptr_array_unref(contents->copies);
    g_free(contents);
}

static const void *keep(struct completed_messages *contents, const void *bytes, size_t size_bytes) {
    void *copy = g_memdup2(bytes, size_bytes);
    g_ptr_array_add(contents->copies, copy);
    return copy;
}

/* The index after the messages of the same item: messages of late packets are reported after others. */
static guint place_of(const GArray *list, uint32_t item) {
    guint place = list->len;
    while (place != 0 && g_array_index(list, struct print_message, place - 1).item > item) {
        place--;
    }
    return place;
}

/* A copy keeps the bit offset of its bytes, so that offsets in records stay the same. */
static void on_event(void *user, const struct ue_observed_event *event) {
    struct completed_messages *contents = user;
    if (event->type != UE_OBSERVED_MESSAGE) {
        return;
    }
    struct print_message message = {.item = event->message.item, .content = event->message.content};
    struct ue_view *data = &message.content.data;
    if (data->base != contents->captured->bytes) {
        data->base = keep(contents, data->base, ue_bits_bytes(data->bit + data->bits));
    }
    if (data->base != contents->captured->bytes && data->bit == 0) {
        message.fragments =
            keep(contents, event->message.fragments, event->message.fragment_count * sizeof *event->message.fragments);
        message.fragment_count = event->message.fragment_count;
    }
    g_array_insert_val(contents->list, place_of(contents->list, message.item), message);
}

const struct print_messages *completed_messages_on_datagram(struct completed_messages *contents,
                                                            const struct input_datagram *captured) {
    const struct ue_observer_callbacks callbacks = {.event = on_event, .user = contents, .wants_messages = true};
    g_array_set_size(contents->list, 0);
    g_ptr_array_set_size(contents->copies, 0);
    contents->shown = (struct print_messages){0};
    contents->captured = captured;
    if (ue_observer_track(captured->observer, captured->observed, &callbacks)) {
        contents->shown = (struct print_messages){
            .list = (const struct print_message *)contents->list->data,
            .count = contents->list->len,
            .names = ue_observer_names(captured->observer, captured->connection, captured->observed->frame)};
    }
    return &contents->shown;
}
