/* SPDX-License-Identifier: MIT */
#include "tools/edit/editor.h"

#include <uerudp/time_ns.h>
#include "tools/edit/redactor.h"
#include "tools/rules/number_ranges.h"

/* Of parcels that wait until it is known what they are; then no generation is waited for any longer. */
#define WAITING_BYTES_MAX (32u << 20)

struct editor {
    const struct editor_options *options;
    struct capture_reader *reading;
    struct edit_output_queue *line;
    struct capture_tap tap;
    struct tracker_table *tracks;
    struct datagram_facts facts;
    struct address_map *addresses;
    struct redactor *redactor;
    struct generation_rewrite rewrite;
    GQueue waiting; /* struct edited_block, in the order of the file */
    size_t waiting_bytes;
    uint64_t frame; /* of the last packet that was read */
    int64_t begun_ns;
    bool has_begun; /* some packet had a time */
    bool has_failed;
    const struct edit_writer *writer;
    struct editor_counts counts;
};

/* ---- what is kept ---- */

static bool is_in_time(const struct editor *edit, const struct edited_block *parcel) {
    int64_t since_ns = ue_time_ns_since(parcel->packet.time_ns, edit->begun_ns);
    return !edit->options->is_cut_by_time || (edit->options->from_ns <= since_ns && since_ns <= edit->options->to_ns);
}

/* connection NULL: of none, or a fragment. */
static bool is_kept(const struct editor *edit, const struct edited_block *parcel,
                    const struct observe_connection *connection) {
    const struct editor_options *options = edit->options;
    bool is_on_stream =
        options->streams == NULL || (connection != NULL && number_ranges_contain(options->streams, connection->stream));
    return is_on_stream && number_ranges_contain(options->frames, parcel->frame) && is_in_time(edit, parcel);
}

/* ---- packets of whatever kind ---- */

/* Nothing is known of what is in it: all behind the headers goes. */
static void blank(struct edited_block *parcel) {
    const struct capture_packet_offsets *place = &parcel->place;
    uint8_t *bytes = edited_block_data(parcel);
    size_t begin = place->is_udp ? place->payload : place->family != 0 ? place->transport : place->network;
    memset(bytes + begin, 0, parcel->data->len - begin);
}

/* Headers and checksums, when the payload is done. False: the packet must be left out. */
static bool finish(struct editor *edit, struct edited_block *parcel) {
    if (edit->addresses != NULL && !address_map_replace_in_packet(edit->addresses, parcel)) {
        edit->counts.unsafe++;
        return false;
    }
    if (parcel->data != NULL && parcel->place.family != 0) {
        capture_packet_update_checksums(&parcel->place, parcel->data->data, parcel->data->len);
    }
    return true;
}

static void fail(struct editor *edit, const char *what) {
    if (!edit->has_failed) {
        cli_error("%s", what);
    }
    edit->has_failed = true;
}

static void put(struct editor *edit, struct edited_block *parcel) {
    if (!edit_output_queue_push(edit->line, parcel)) {
        fail(edit, edit->writer->error);
    }
}

/* What is no datagram of a connection. */
static void pass(struct editor *edit, struct edited_block *parcel) {
    if (!parcel->is_packet) {
        put(edit, parcel);
        return;
    }
    if (!is_kept(edit, parcel, NULL)) {
        edited_block_free(parcel);
        return;
    }
    edit->counts.fragments += parcel->place.is_fragment;
    if (edit->options->is_redacted) {
        blank(parcel);
    }
    if (finish(edit, parcel)) {
        put(edit, parcel);
    } else {
        edited_block_free(parcel);
    }
}

/* ---- datagrams of connections ---- */

/* A cut datagram is read with one byte more. What a link layer sends after it is of no known form. */
static void redact(struct editor *edit, const struct input_datagram *seen, struct edited_block *parcel) {
    const struct redactor_datagram datagram = {
        .context = seen->is_foreign ? NULL : &seen->context,
        .stream = seen->connection->stream,
        .side = seen->role,
        .bytes = seen->held->bytes,
        .size_bytes = seen->size_bytes,
    };
    redactor_mask(edit->redactor, &datagram);
    uint8_t *bytes = edited_block_data(parcel);
    size_t end = parcel->place.payload + parcel->place.payload_bytes;
    memcpy(bytes + parcel->place.payload, seen->held->bytes, parcel->place.payload_bytes);
    memset(bytes + end, 0, parcel->data->len - end);
}

/* False: the datagram must be left out. */
static bool rewrite(struct editor *edit, const struct input_datagram *seen, struct edited_block *parcel) {
    struct generation_rewrite *r = &edit->rewrite;
    if (generation_rewrite_datagram(r, seen, seen->held->bytes, seen->held->captured_bytes)) {
        if (edited_block_set_payload(parcel, r->datagram->bytes, r->datagram->size_bytes)) {
            return true;
        }
        g_snprintf(r->datagram->error, INPUT_JSON_ERROR_BYTES, "longer than a packet");
    }
    edit->counts.skipped++;
    if (!edit->options->skips) {
        char text[INPUT_JSON_ERROR_BYTES + 80];
        g_snprintf(text, sizeof text, "frame %" G_GUINT64_FORMAT " as %s: %s; --skip leaves such datagrams out",
                   parcel->frame, r->profile->name, r->datagram->error);
        fail(edit, text);
    }
    return false;
}

static const uint8_t *payload_of(const struct edited_block *parcel) {
    return (parcel->data != NULL ? parcel->data->data : parcel->packet.bytes) + parcel->place.payload;
}

/* What rules ask, about the datagram as it is now. */
static void read_facts(struct editor *edit, const struct input_datagram *seen, const struct edited_block *parcel) {
    bool is_rewritten = edit->options->generation != NULL;
    struct ue_tracker_datagram datagram = {
        .frame = parcel->frame,
        .time_ns = seen->held->time_ns,
        .side = seen->role,
        .context = seen->is_foreign ? NULL
                   : is_rewritten   ? &edit->rewrite.context
                                    : &seen->context,
        .links = &seen->held->link.links,
        .bytes = is_rewritten ? payload_of(parcel) : seen->bytes,
        .size_bytes = is_rewritten ? parcel->place.payload_bytes : seen->size_bytes,
    };
    edit->facts.begun_ns = edit->begun_ns;
    datagram_facts_read(&edit->facts, seen->connection->stream, &datagram);
}

/* Bits that a snap length cut off cannot be turned. */
static void corrupt(const struct rules_outcome *outcome, struct edited_block *parcel) {
    struct rules_outcome there = {0};
    for (unsigned i = 0; i < outcome->flip_count; i++) {
        if (outcome->flips[i] < parcel->place.payload_bytes * 8) {
            there.flips[there.flip_count++] = outcome->flips[i];
        }
    }
    if (there.flip_count != 0) {
        rules_outcome_corrupt(&there, edited_block_data(parcel) + parcel->place.payload);
    }
}

/* The tracker sees what is cut away, too, so that it knows copies behind it; nobody asks the facts about that. */
static void track(struct editor *edit, const struct input_datagram *seen) {
    struct ue_tracker_callbacks sink = {.event = datagram_facts_on_event, .user = &edit->facts};
    tracker_table_on_datagram(edit->tracks, seen, &sink);
}

/* Contents, other form, and rules; false: the datagram must be left out. */
static bool change(struct editor *edit, const struct input_datagram *seen, struct edited_block *parcel,
                   struct rules_outcome *outcome) {
    *outcome = (struct rules_outcome){0};
    if (edit->options->is_redacted) {
        redact(edit, seen, parcel);
    }
    if (edit->options->generation != NULL && !rewrite(edit, seen, parcel)) {
        return false;
    }
    if (rules_count(edit->options->rules) != 0) {
        read_facts(edit, seen, parcel);
        track(edit, seen);
        rules_apply(edit->options->rules, &edit->facts, outcome);
        corrupt(outcome, parcel);
    }
    return finish(edit, parcel);
}

static void take(struct editor *edit, const struct input_datagram *seen, struct edited_block *parcel) {
    struct rules_outcome outcome;
    if (parcel->place.is_fragment) {
        pass(edit, parcel);
    } else if (!is_kept(edit, parcel, seen->connection)) {
        if (rules_count(edit->options->rules) != 0) {
            track(edit, seen);
        }
        edited_block_free(parcel);
    } else if (!change(edit, seen, parcel, &outcome)) {
        edited_block_free(parcel);
    } else if (!edit_output_queue_push_outcome(edit->line, parcel, &outcome, seen->connection->stream, edit->facts.direction)) {
        fail(edit, edit->writer->error);
    }
}

/* ---- the queue ---- */

static struct edited_block *take_first(struct editor *edit) {
    struct edited_block *parcel = g_queue_pop_head(&edit->waiting);
    edit->waiting_bytes -= edited_block_memory_bytes(parcel);
    return parcel;
}

static const struct edited_block *first(const struct editor *edit) {
    return edit->waiting.head != NULL ? edit->waiting.head->data : NULL;
}

/* What comes before a frame is no datagram of a connection. */
static void pass_before(struct editor *edit, uint64_t frame) {
    while (first(edit) != NULL && first(edit)->frame < frame) {
        pass(edit, take_first(edit));
    }
}

static void begin(struct editor *edit, const struct capture_block *block, const struct capture_packet *packet) {
    edit->frame = packet->frame;
    if (!edit->has_begun && block->form != CAPTURE_BLOCK_SIMPLE) {
        edit->has_begun = true;
        edit->begun_ns = packet->time_ns;
    }
}

/* Nobody waits for the frames before the oldest datagram that waits, nor for the last one if none does. */
static void on_block(void *user, const struct capture_block *block, const struct capture_packet *packet) {
    struct editor *edit = user;
    pass_before(edit, connection_table_oldest_frame(edit->reading->flows));
    if (packet != NULL) {
        begin(edit, block, packet);
    }
    struct edited_block *parcel = edited_block_new(edit->frame, block, packet);
    edit->waiting_bytes += edited_block_memory_bytes(parcel);
    g_queue_push_tail(&edit->waiting, parcel);
    if (packet == NULL && edit->waiting_bytes > 2 * WAITING_BYTES_MAX) {
        fail(edit, "a block that is no packet is too large to wait for the datagrams before it; give --generation");
        pass_before(edit, UINT64_MAX);
    } else if (edit->waiting_bytes > WAITING_BYTES_MAX) {
        connection_table_flush(edit->reading->flows);
    }
}

static void run(struct editor *edit) {
    struct input_datagram seen;
    while (!edit->has_failed && capture_reader_next(edit->reading, &seen)) {
        pass_before(edit, seen.held->frame);
        if (first(edit) != NULL && first(edit)->frame == seen.held->frame) {
            take(edit, &seen, take_first(edit));
        }
    }
    pass_before(edit, UINT64_MAX);
    if (!edit_output_queue_finish(edit->line)) {
        fail(edit, edit->writer->error);
    }
}

bool editor_run(struct editor *edit, char **path) {
    edit->reading->input.tap = &edit->tap;
    capture_reader_start(edit->reading, 1, path);
    run(edit);
    return !edit->has_failed;
}

/* ---- life ---- */

struct editor *editor_new(const struct editor_options *options, struct capture_reader *reading,
                            struct edit_writer *writer) {
    struct address_map *addresses = options->has_new_addresses ? address_map_new(options->seed) : NULL;
    if (options->has_new_addresses && addresses == NULL) {
        cli_error("the cipher that new addresses are made with is not to be had");
        return NULL;
    }
    struct editor *edit = g_new0(struct editor, 1);
    edit->options = options;
    edit->reading = reading;
    edit->writer = writer;
    edit->addresses = addresses;
    edit->redactor = redactor_new(reading->wire.cipher);
    edit->rewrite.profile = options->generation;
    edit->line = edit_output_queue_new(writer);
    edit->tracks = tracker_table_new();
    edit->tap = (struct capture_tap){on_block, edit};
    datagram_facts_init(&edit->facts);
    g_queue_init(&edit->waiting);
    return edit;
}

static void free_parcel(void *parcel) {
    edited_block_free(parcel);
}

void editor_free(struct editor *edit) {
    g_queue_clear_full(&edit->waiting, free_parcel);
    edit_output_queue_free(edit->line);
    tracker_table_free(edit->tracks);
    datagram_facts_clear(&edit->facts);
    address_map_free(edit->addresses);
    redactor_free(edit->redactor);
    generation_rewrite_clear(&edit->rewrite);
    g_free(edit);
}

const struct editor_counts *editor_counts(struct editor *edit) {
    edit->counts.redacted = *redactor_counts(edit->redactor);
    return &edit->counts;
}
