/* SPDX-License-Identifier: MIT */
#include "tools/edit/editor.h"

#include <uerudp/time_ns.h>
#include "tools/edit/redactor.h"
#include "tools/rules/number_ranges.h"

/* Of parcels that wait until it is known what they are; then no generation is waited for any longer. */
#define WAITING_BYTES_MAX (32u << 20)

struct ue_edit {
    const struct ue_edit_options *options;
    struct ue_reading *reading;
    struct ue_edit_line *line;
    struct ue_capture_tap tap;
    struct ue_tracks *tracks;
    struct ue_facts facts;
    struct ue_addresses *addresses;
    struct ue_redactor *redactor;
    struct ue_rewrite rewrite;
    GQueue waiting; /* struct ue_parcel, in the order of the file */
    size_t waiting_bytes;
    uint64_t frame; /* of the last packet that was read */
    int64_t begun_ns;
    bool has_begun; /* some packet had a time */
    bool has_failed;
    const struct ue_edit_writer *writer;
    struct ue_edit_counts counts;
};

/* ---- what is kept ---- */

static bool is_in_time(const struct ue_edit *edit, const struct ue_parcel *parcel) {
    int64_t since_ns = ue_ns_since(parcel->packet.time_ns, edit->begun_ns);
    return !edit->options->is_cut_by_time || (edit->options->from_ns <= since_ns && since_ns <= edit->options->to_ns);
}

/* connection NULL: of none, or a fragment. */
static bool is_kept(const struct ue_edit *edit, const struct ue_parcel *parcel,
                    const struct ue_connection *connection) {
    const struct ue_edit_options *options = edit->options;
    bool is_on_stream =
        options->streams == NULL || (connection != NULL && ue_ranges_have(options->streams, connection->stream));
    return is_on_stream && ue_ranges_have(options->frames, parcel->frame) && is_in_time(edit, parcel);
}

/* ---- packets of whatever kind ---- */

/* Nothing is known of what is in it: all behind the headers goes. */
static void blank(struct ue_parcel *parcel) {
    const struct ue_frame_place *place = &parcel->place;
    uint8_t *bytes = ue_parcel_edit(parcel);
    size_t begin = place->is_udp ? place->payload : place->family != 0 ? place->transport : place->network;
    memset(bytes + begin, 0, parcel->data->len - begin);
}

/* Headers and checksums, when the payload is done. False: the packet must be left out. */
static bool finish(struct ue_edit *edit, struct ue_parcel *parcel) {
    if (edit->addresses != NULL && !ue_addresses_replace(edit->addresses, parcel)) {
        edit->counts.unsafe++;
        return false;
    }
    if (parcel->data != NULL && parcel->place.family != 0) {
        ue_frame_seal(&parcel->place, parcel->data->data, parcel->data->len);
    }
    return true;
}

static void fail(struct ue_edit *edit, const char *what) {
    if (!edit->has_failed) {
        ue_complain("%s", what);
    }
    edit->has_failed = true;
}

static void put(struct ue_edit *edit, struct ue_parcel *parcel) {
    if (!ue_edit_line_put(edit->line, parcel)) {
        fail(edit, edit->writer->error);
    }
}

/* What is no datagram of a connection. */
static void pass(struct ue_edit *edit, struct ue_parcel *parcel) {
    if (!parcel->is_packet) {
        put(edit, parcel);
        return;
    }
    if (!is_kept(edit, parcel, NULL)) {
        ue_parcel_free(parcel);
        return;
    }
    edit->counts.fragments += parcel->place.is_fragment;
    if (edit->options->is_redacted) {
        blank(parcel);
    }
    if (finish(edit, parcel)) {
        put(edit, parcel);
    } else {
        ue_parcel_free(parcel);
    }
}

/* ---- datagrams of connections ---- */

/* A cut datagram is read with one byte more. What a link layer sends after it is of no known form. */
static void redact(struct ue_edit *edit, const struct ue_seen *seen, struct ue_parcel *parcel) {
    const struct ue_redactable datagram = {
        .context = seen->is_foreign ? NULL : &seen->context,
        .stream = seen->connection->stream,
        .side = seen->role,
        .bytes = seen->held->bytes,
        .size_bytes = seen->size_bytes,
    };
    ue_redact(edit->redactor, &datagram);
    uint8_t *bytes = ue_parcel_edit(parcel);
    size_t end = parcel->place.payload + parcel->place.payload_bytes;
    memcpy(bytes + parcel->place.payload, seen->held->bytes, parcel->place.payload_bytes);
    memset(bytes + end, 0, parcel->data->len - end);
}

/* False: the datagram must be left out. */
static bool rewrite(struct ue_edit *edit, const struct ue_seen *seen, struct ue_parcel *parcel) {
    struct ue_rewrite *r = &edit->rewrite;
    if (ue_rewrite_datagram(r, seen, seen->held->bytes, seen->held->captured_bytes)) {
        if (ue_parcel_set_payload(parcel, r->datagram->bytes, r->datagram->size_bytes)) {
            return true;
        }
        g_snprintf(r->datagram->error, UE_JSON_ERROR_BYTES, "longer than a packet");
    }
    edit->counts.skipped++;
    if (!edit->options->skips) {
        char text[UE_JSON_ERROR_BYTES + 80];
        g_snprintf(text, sizeof text, "frame %" G_GUINT64_FORMAT " as %s: %s; --skip leaves such datagrams out",
                   parcel->frame, r->profile->name, r->datagram->error);
        fail(edit, text);
    }
    return false;
}

static const uint8_t *payload_of(const struct ue_parcel *parcel) {
    return (parcel->data != NULL ? parcel->data->data : parcel->packet.bytes) + parcel->place.payload;
}

/* What rules ask, about the datagram as it is now. */
static void read_facts(struct ue_edit *edit, const struct ue_seen *seen, const struct ue_parcel *parcel) {
    bool is_rewritten = edit->options->generation != NULL;
    struct ue_track_datagram datagram = {
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
    ue_facts_read(&edit->facts, seen->connection->stream, &datagram);
}

/* Bits that a snap length cut off cannot be turned. */
static void corrupt(const struct ue_outcome *outcome, struct ue_parcel *parcel) {
    struct ue_outcome there = {0};
    for (unsigned i = 0; i < outcome->flip_count; i++) {
        if (outcome->flips[i] < parcel->place.payload_bytes * 8) {
            there.flips[there.flip_count++] = outcome->flips[i];
        }
    }
    if (there.flip_count != 0) {
        ue_outcome_corrupt(&there, ue_parcel_edit(parcel) + parcel->place.payload);
    }
}

/* The tracker sees what is cut away, too, so that it knows copies behind it; nobody asks the facts about that. */
static void track(struct ue_edit *edit, const struct ue_seen *seen) {
    struct ue_track_sink sink = {.event = ue_facts_track, .user = &edit->facts};
    ue_tracks_feed(edit->tracks, seen, &sink);
}

/* Contents, other form, and rules; false: the datagram must be left out. */
static bool change(struct ue_edit *edit, const struct ue_seen *seen, struct ue_parcel *parcel,
                   struct ue_outcome *outcome) {
    *outcome = (struct ue_outcome){0};
    if (edit->options->is_redacted) {
        redact(edit, seen, parcel);
    }
    if (edit->options->generation != NULL && !rewrite(edit, seen, parcel)) {
        return false;
    }
    if (ue_rules_count(edit->options->rules) != 0) {
        read_facts(edit, seen, parcel);
        track(edit, seen);
        ue_rules_judge(edit->options->rules, &edit->facts, outcome);
        corrupt(outcome, parcel);
    }
    return finish(edit, parcel);
}

static void take(struct ue_edit *edit, const struct ue_seen *seen, struct ue_parcel *parcel) {
    struct ue_outcome outcome;
    if (parcel->place.is_fragment) {
        pass(edit, parcel);
    } else if (!is_kept(edit, parcel, seen->connection)) {
        if (ue_rules_count(edit->options->rules) != 0) {
            track(edit, seen);
        }
        ue_parcel_free(parcel);
    } else if (!change(edit, seen, parcel, &outcome)) {
        ue_parcel_free(parcel);
    } else if (!ue_edit_line_judged(edit->line, parcel, &outcome, seen->connection->stream, edit->facts.direction)) {
        fail(edit, edit->writer->error);
    }
}

/* ---- the queue ---- */

static struct ue_parcel *take_first(struct ue_edit *edit) {
    struct ue_parcel *parcel = g_queue_pop_head(&edit->waiting);
    edit->waiting_bytes -= ue_parcel_bytes(parcel);
    return parcel;
}

static const struct ue_parcel *first(const struct ue_edit *edit) {
    return edit->waiting.head != NULL ? edit->waiting.head->data : NULL;
}

/* What comes before a frame is no datagram of a connection. */
static void pass_before(struct ue_edit *edit, uint64_t frame) {
    while (first(edit) != NULL && first(edit)->frame < frame) {
        pass(edit, take_first(edit));
    }
}

static void begin(struct ue_edit *edit, const struct ue_block *block, const struct ue_capture_packet *packet) {
    edit->frame = packet->frame;
    if (!edit->has_begun && block->form != UE_BLOCK_SIMPLE) {
        edit->has_begun = true;
        edit->begun_ns = packet->time_ns;
    }
}

/* Nobody waits for the frames before the oldest datagram that waits, nor for the last one if none does. */
static void on_block(void *user, const struct ue_block *block, const struct ue_capture_packet *packet) {
    struct ue_edit *edit = user;
    pass_before(edit, ue_flows_waiting(edit->reading->flows));
    if (packet != NULL) {
        begin(edit, block, packet);
    }
    struct ue_parcel *parcel = ue_parcel_new(edit->frame, block, packet);
    edit->waiting_bytes += ue_parcel_bytes(parcel);
    g_queue_push_tail(&edit->waiting, parcel);
    if (packet == NULL && edit->waiting_bytes > 2 * WAITING_BYTES_MAX) {
        fail(edit, "a block that is no packet is too large to wait for the datagrams before it; give --generation");
        pass_before(edit, UINT64_MAX);
    } else if (edit->waiting_bytes > WAITING_BYTES_MAX) {
        ue_flows_end(edit->reading->flows);
    }
}

static void run(struct ue_edit *edit) {
    struct ue_seen seen;
    while (!edit->has_failed && ue_reading_next(edit->reading, &seen)) {
        pass_before(edit, seen.held->frame);
        if (first(edit) != NULL && first(edit)->frame == seen.held->frame) {
            take(edit, &seen, take_first(edit));
        }
    }
    pass_before(edit, UINT64_MAX);
    if (!ue_edit_line_end(edit->line)) {
        fail(edit, edit->writer->error);
    }
}

bool ue_edit_run(struct ue_edit *edit, char **path) {
    edit->reading->input.tap = &edit->tap;
    ue_reading_start(edit->reading, 1, path);
    run(edit);
    return !edit->has_failed;
}

/* ---- life ---- */

struct ue_edit *ue_edit_new(const struct ue_edit_options *options, struct ue_reading *reading,
                            struct ue_edit_writer *writer) {
    struct ue_addresses *addresses = options->has_new_addresses ? ue_addresses_new(options->seed) : NULL;
    if (options->has_new_addresses && addresses == NULL) {
        ue_complain("the cipher that new addresses are made with is not to be had");
        return NULL;
    }
    struct ue_edit *edit = g_new0(struct ue_edit, 1);
    edit->options = options;
    edit->reading = reading;
    edit->writer = writer;
    edit->addresses = addresses;
    edit->redactor = ue_redactor_new(reading->wire.cipher);
    edit->rewrite.profile = options->generation;
    edit->line = ue_edit_line_new(writer);
    edit->tracks = ue_tracks_new();
    edit->tap = (struct ue_capture_tap){on_block, edit};
    ue_facts_init(&edit->facts);
    g_queue_init(&edit->waiting);
    return edit;
}

static void free_parcel(void *parcel) {
    ue_parcel_free(parcel);
}

void ue_edit_free(struct ue_edit *edit) {
    g_queue_clear_full(&edit->waiting, free_parcel);
    ue_edit_line_free(edit->line);
    ue_tracks_free(edit->tracks);
    ue_facts_clear(&edit->facts);
    ue_addresses_free(edit->addresses);
    ue_redactor_free(edit->redactor);
    ue_rewrite_clear(&edit->rewrite);
    g_free(edit);
}

const struct ue_edit_counts *ue_edit_counts(struct ue_edit *edit) {
    edit->counts.redacted = *ue_redactor_counts(edit->redactor);
    return &edit->counts;
}
