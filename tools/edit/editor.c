/* SPDX-License-Identifier: MIT */
#include "tools/edit/editor.h"

#include <uerudp/time_ns.h>
#include "tools/edit/redactor.h"
#include "tools/rules/number_ranges.h"

/* Limit for blocks that wait until their connection is identified; above it the generation is no longer waited for. */
#define WAITING_BYTES_MAX (32u << 20)

struct editor {
    const struct editor_options *options;
    struct capture_reader *reader;
    struct edit_output_queue *queue;
    struct capture_tap tap;
    struct datagram_facts facts;
    struct address_map *addresses;
    struct redactor *redactor;
    struct generation_rewrite rewrite;
    GQueue waiting; /* struct edited_block in file order */
    size_t waiting_bytes;
    uint64_t frame; /* number of the last packet read */
    int64_t begun_ns;
    bool has_begun; /* a packet with a time was read */
    bool has_failed;
    const struct edit_writer *writer;
    struct editor_counts counts;
};

/* ---- what is kept ---- */

static bool is_in_time(const struct editor *editor, const struct edited_block *edited) {
    return time_range_contains(&editor->options->range, editor->begun_ns, edited->frame, edited->packet.time_ns);
}

/* connection NULL: the packet belongs to none, or is a fragment. */
static bool choose(struct editor *editor, const struct edited_block *edited,
                   const struct ue_observed_connection *connection) {
    const struct editor_options *options = editor->options;
    bool is_on_stream =
        options->streams == NULL || (connection != NULL && number_ranges_contain(options->streams, connection->stream));
    bool is_kept = is_on_stream && number_ranges_contain(options->frames, edited->frame) && is_in_time(editor, edited);
    editor->counts.kept += is_kept;
    return is_kept;
}

/* ---- all packets ---- */

/* Zeroes everything after the headers, since its content is unknown. */
static void blank(struct edited_block *edited) {
    const struct capture_packet_offsets *place = &edited->place;
    uint8_t *bytes = edited_block_data(edited);
    size_t begin = place->is_udp ? place->payload : place->family != 0 ? place->transport : place->network;
    memset(bytes + begin, 0, edited->data->len - begin);
}

/* Updates headers and checksums after the payload. Returns false if the packet must be left out. */
static bool finish(struct editor *editor, struct edited_block *edited) {
    if (editor->addresses != NULL && !address_map_replace_in_packet(editor->addresses, edited)) {
        editor->counts.unsafe++;
        return false;
    }
    if (edited->data != NULL && edited->place.family != 0) {
        capture_packet_update_checksums(&edited->place, edited->data->data, edited->data->len);
    }
    return true;
}

static void fail(struct editor *editor, const char *what) {
    if (!editor->has_failed) {
        cli_error("%s", what);
    }
    editor->has_failed = true;
}

static void put(struct editor *editor, struct edited_block *edited) {
    if (!edit_output_queue_push(editor->queue, edited)) {
        fail(editor, editor->writer->error);
    }
}

/* Writes a packet that is not a datagram of a connection. */
static void write_other(struct editor *editor, struct edited_block *edited) {
    if (!edited->is_packet) {
        put(editor, edited);
        return;
    }
    if (!choose(editor, edited, NULL)) {
        edited_block_free(edited);
        return;
    }
    editor->counts.fragments += edited->place.is_fragment;
    if (editor->options->is_redacted) {
        blank(edited);
    }
    if (finish(editor, edited)) {
        put(editor, edited);
    } else {
        edited_block_free(edited);
    }
}

/* ---- datagrams of connections ---- */

/* A cut datagram is decoded with one byte more. Bytes that the link layer appends are an unknown format. */
static void redact(struct editor *editor, const struct input_datagram *captured, struct edited_block *edited) {
    const struct redactor_datagram datagram = {
        .context = captured->is_foreign ? NULL : &captured->context,
        .stream = captured->connection->stream,
        .side = captured->role,
        .bytes = captured->writable,
        .size_bytes = captured->size_bytes,
    };
    redactor_mask(editor->redactor, &datagram);
    uint8_t *bytes = edited_block_data(edited);
    size_t end = edited->place.payload + edited->place.payload_bytes;
    memcpy(bytes + edited->place.payload, captured->writable, edited->place.payload_bytes);
    memset(bytes + end, 0, edited->data->len - end);
}

/* Returns false if the datagram must be left out. */
static bool rewrite(struct editor *editor, const struct input_datagram *captured, struct edited_block *edited) {
    struct generation_rewrite *r = &editor->rewrite;
    if (generation_rewrite_datagram(r, captured, captured->writable, captured->observed->captured_bytes)) {
        if (edited_block_set_payload(edited, r->datagram->bytes, r->datagram->size_bytes)) {
            return true;
        }
        g_snprintf(r->datagram->error, INPUT_JSON_ERROR_BYTES, "longer than a packet");
    }
    if (editor->counts.skipped++ == 0) {
        editor->counts.skipped_frame = edited->frame;
        g_strlcpy(editor->counts.skipped_why, r->datagram->error, INPUT_JSON_ERROR_BYTES);
    }
    if (!editor->options->skips) {
        char text[INPUT_JSON_ERROR_BYTES + 80];
        g_snprintf(text, sizeof text, "frame %" G_GUINT64_FORMAT " as %s: %s; --skip leaves such datagrams out",
                   edited->frame, r->profile->name, r->datagram->error);
        fail(editor, text);
    }
    return false;
}

static const uint8_t *payload_of(const struct edited_block *edited) {
    return (edited->data != NULL ? edited->data->data : edited->packet.bytes) + edited->place.payload;
}

/* Reads the facts that rules test from the datagram with its changes. */
static void read_facts(struct editor *editor, const struct input_datagram *captured,
                       const struct edited_block *edited) {
    bool is_rewritten = editor->options->generation != NULL;
    struct ue_tracker_datagram datagram = {
        .frame = edited->frame,
        .time_ns = captured->observed->time_ns,
        .side = captured->role,
        .context = captured->is_foreign ? NULL
                   : is_rewritten       ? &editor->rewrite.context
                                        : &captured->context,
        .packet_ids = &captured->observed->record.decode.packet_ids,
        .bytes = is_rewritten ? payload_of(edited) : captured->bytes,
        .size_bytes = is_rewritten ? edited->place.payload_bytes : captured->size_bytes,
    };
    editor->facts.begun_ns = editor->begun_ns;
    datagram_facts_read(&editor->facts, captured->connection->stream, &datagram);
}

/* Bits that a snap length cut off cannot be inverted. */
static void corrupt(const struct rules_outcome *outcome, struct edited_block *edited) {
    struct rules_outcome there = {0};
    for (unsigned i = 0; i < outcome->flip_count; i++) {
        if (outcome->flips[i] < edited->place.payload_bytes * 8) {
            there.flips[there.flip_count++] = outcome->flips[i];
        }
    }
    if (there.flip_count != 0) {
        rules_outcome_corrupt(&there, edited_block_data(edited) + edited->place.payload);
    }
}

/* The tracker also gets datagrams that are left out, so that it recognises later retransmissions. */
static void track(struct editor *editor, const struct input_datagram *captured) {
    const struct ue_observer_callbacks callbacks = {.event = datagram_facts_on_event, .user = &editor->facts};
    ue_observer_track(captured->observer, captured->observed, &callbacks);
}

/* Redacts, rewrites and applies rules; false: the datagram must be left out. */
static bool change(struct editor *editor, const struct input_datagram *captured, struct edited_block *edited,
                   struct rules_outcome *outcome) {
    *outcome = (struct rules_outcome){0};
    if (editor->options->is_redacted) {
        redact(editor, captured, edited);
    }
    if (editor->options->generation != NULL && !rewrite(editor, captured, edited)) {
        return false;
    }
    if (rules_count(editor->options->rules) != 0) {
        read_facts(editor, captured, edited);
        track(editor, captured);
        rules_apply(editor->options->rules, &editor->facts, outcome, NULL);
        corrupt(outcome, edited);
    }
    return finish(editor, edited);
}

static void edit_datagram(struct editor *editor, const struct input_datagram *captured, struct edited_block *edited) {
    struct rules_outcome outcome;
    if (edited->place.is_fragment) {
        write_other(editor, edited);
    } else if (!choose(editor, edited, captured->connection)) {
        if (rules_count(editor->options->rules) != 0) {
            track(editor, captured);
        }
        edited_block_free(edited);
    } else if (!change(editor, captured, edited, &outcome)) {
        edited_block_free(edited);
    } else if (!edit_output_queue_push_outcome(editor->queue, edited, &outcome, captured->connection->stream,
                                               editor->facts.direction)) {
        fail(editor, editor->writer->error);
    }
}

/* ---- the queue ---- */

static struct edited_block *pop_first(struct editor *editor) {
    struct edited_block *edited = g_queue_pop_head(&editor->waiting);
    editor->waiting_bytes -= edited_block_memory_bytes(edited);
    return edited;
}

static const struct edited_block *first(const struct editor *editor) {
    return editor->waiting.head != NULL ? editor->waiting.head->data : NULL;
}

/* Writes what precedes a frame and is not a datagram of a connection. */
static void write_others_before(struct editor *editor, uint64_t frame) {
    while (first(editor) != NULL && first(editor)->frame < frame) {
        write_other(editor, pop_first(editor));
    }
}

static void begin(struct editor *editor, const struct capture_block *block, const struct capture_packet *packet) {
    editor->frame = packet->frame;
    if (!editor->has_begun && block->form != CAPTURE_BLOCK_SIMPLE) {
        editor->has_begun = true;
        editor->begun_ns = packet->time_ns;
    }
}

/* Frames before the oldest waiting datagram are decided; if none waits, all but the last one. */
static void on_block(void *user, const struct capture_block *block, const struct capture_packet *packet) {
    struct editor *editor = user;
    write_others_before(editor, ue_observer_oldest_frame(editor->reader->observer));
    if (packet != NULL) {
        begin(editor, block, packet);
    }
    struct edited_block *edited = edited_block_new(editor->frame, block, packet);
    editor->waiting_bytes += edited_block_memory_bytes(edited);
    g_queue_push_tail(&editor->waiting, edited);
    if (packet == NULL && editor->waiting_bytes > 2 * WAITING_BYTES_MAX) {
        fail(editor,
             "a block that is not a packet is too large to be held until the generation is detected; use --generation");
        write_others_before(editor, UINT64_MAX);
    } else if (editor->waiting_bytes > WAITING_BYTES_MAX) {
        ue_observer_flush(editor->reader->observer);
    }
}

static void run(struct editor *editor) {
    struct input_datagram captured;
    while (!editor->has_failed && capture_reader_next(editor->reader, &captured)) {
        write_others_before(editor, captured.observed->frame);
        if (first(editor) != NULL && first(editor)->frame == captured.observed->frame) {
            edit_datagram(editor, &captured, pop_first(editor));
        }
    }
    write_others_before(editor, UINT64_MAX);
    if (!edit_output_queue_finish(editor->queue)) {
        fail(editor, editor->writer->error);
    }
}

bool editor_run(struct editor *editor, char **path) {
    editor->reader->input.tap = &editor->tap;
    capture_reader_start(editor->reader, 1, path);
    run(editor);
    return !editor->has_failed;
}

/* ---- start and end ---- */

struct editor *editor_new(const struct editor_options *options, struct capture_reader *reader,
                          struct edit_writer *writer) {
    struct address_map *addresses = options->has_new_addresses ? address_map_new(options->seed) : NULL;
    if (options->has_new_addresses && addresses == NULL) {
        cli_error("the cipher for new addresses is not available");
        return NULL;
    }
    struct editor *editor = g_new0(struct editor, 1);
    editor->options = options;
    editor->reader = reader;
    reader->is_writable = true;
    editor->writer = writer;
    editor->addresses = addresses;
    editor->redactor = redactor_new(reader->wire.cipher);
    editor->rewrite.profile = options->generation;
    editor->queue = edit_output_queue_new(writer);
    editor->tap = (struct capture_tap){on_block, editor};
    datagram_facts_init(&editor->facts);
    g_queue_init(&editor->waiting);
    return editor;
}

void editor_free(struct editor *editor) {
    g_queue_clear_full(&editor->waiting, (GDestroyNotify)edited_block_free);
    edit_output_queue_free(editor->queue);
    datagram_facts_clear(&editor->facts);
    address_map_free(editor->addresses);
    redactor_free(editor->redactor);
    generation_rewrite_clear(&editor->rewrite);
    g_free(editor);
}

const struct editor_counts *editor_counts(struct editor *editor) {
    editor->counts.redacted = *redactor_counts(editor->redactor);
    return &editor->counts;
}
