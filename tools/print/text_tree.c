/* SPDX-License-Identifier: MIT */
#include "tools/print/text_tree.h"

#include <inttypes.h>

#include "tools/print/columns.h"
#include "tools/print/text_escape.h"
#include "tools/print/text_style.h"

/* Longer byte strings are cut; JSON shows them in full. */
#define SHOWN_BYTES 32

static void indent(struct print_tree *tree) {
    size_t count = tree->indent * 2;
    memset(text_buffer_room(&tree->page, count), ' ', count);
    tree->page.length += count;
}

static void heading(struct print_tree *tree, const char *text) {
    indent(tree);
    text_style_add(&tree->page, TEXT_STYLE_HEADING, text);
    text_buffer_add_char(&tree->page, '\n');
    tree->indent++;
}

/* ---- values ---- */

static void put_bytes(struct text_buffer *out, struct ue_view view) {
    text_buffer_add_hex_view(out, view, SHOWN_BYTES);
    if (view.bits > SHOWN_BYTES * 8) {
        text_buffer_add_format(out, "... (%zu bytes)", ue_bits_bytes(view.bits));
    }
}

static void put_text(struct text_buffer *out, struct ue_text text) {
    text_buffer_add_char(out, '"');
    text_escape_add_engine_text(out, text, TEXT_ESCAPE_PLAIN);
    text_buffer_add_char(out, '"');
}

void print_tree_value(struct text_buffer *out, const struct ue_record *record) {
    const struct ue_field_row *row = ue_field_row(record->field);
    if (row->kind == UE_KIND_BOOL) {
        text_buffer_add(out, record->number != 0 ? "yes" : "no");
    } else if (row->kind == UE_KIND_BYTES) {
        put_bytes(out, record->text.units);
    } else if (row->kind == UE_KIND_TEXT || (row->kind == UE_KIND_STRING && record->string == NULL)) {
        put_text(out, record->text);
    } else {
        print_columns_add_value(out, record);
    }
    const char *name = ue_values_name(row->values, record->number);
    if (name != NULL) {
        text_buffer_add_format(out, " (%s)", name);
    }
}

/* ---- the trace ---- */

/* What the heading of a bunch shows and its structure does not hold: the name of an engine's kind of channel, and the
   length also of data that are malformed. */
static void store_bunch(struct print_tree *tree, const struct ue_record *record) {
    if (record->field == UE_F_BUNCH_DATA_BITS) {
        tree->data_bits = record->number;
    } else if (record->field == UE_F_BUNCH_CHANNEL_NAME && record->string != NULL) {
        text_buffer_add_char(&tree->name, ' ');
        text_buffer_add(&tree->name, record->string);
    }
}

static bool is_list(enum ue_field field) {
    return field == UE_F_PACKET_HISTORY || field == UE_F_PACKET_ACKED || field == UE_F_PACKET_NACKED ||
           field == UE_F_TERMINATOR;
}

/* Runs of consecutive packet ids are shown as ranges. */
static bool has_runs(enum ue_field field) {
    return field == UE_F_PACKET_ACKED || field == UE_F_PACKET_NACKED;
}

static void begin_run(struct print_tree *tree, const struct ue_record *record) {
    tree->run_at = tree->page.length;
    tree->run_first = record->number;
    tree->run_last = record->number;
    print_tree_value(&tree->page, record);
}

/* Appends a further value to the open line. */
static void join_list(struct print_tree *tree, const struct ue_record *record) {
    struct text_buffer *out = &tree->page;
    if (has_runs(record->field) && record->number == tree->run_last + 1) {
        tree->run_last++;
        out->length = tree->run_at;
        text_buffer_add_unsigned(out, tree->run_first);
        text_buffer_add_char(out, '-');
        text_buffer_add_unsigned(out, tree->run_last);
    } else {
        text_buffer_add(out, ", ");
        begin_run(tree, record);
    }
}

static enum text_style style_of(const struct ue_record *record) {
    return record->field == UE_F_PACKET_NACKED ? TEXT_STYLE_WARNING
           : record->generated                 ? TEXT_STYLE_DERIVED
                                               : TEXT_STYLE_PLAIN;
}

static void end_line(struct print_tree *tree, const struct ue_record *record) {
    text_buffer_add(&tree->page, record->generated ? "]" : "");
    text_style_end(&tree->page, style_of(record));
    text_buffer_add_char(&tree->page, '\n');
}

static void on_field(void *user, const struct ue_record *record) {
    struct print_tree *tree = user;
    struct text_buffer *out = &tree->page;
    store_bunch(tree, record);
    if (record->field == tree->last && is_list(record->field)) {
        out->length = tree->values_end;
        join_list(tree, record);
    } else {
        tree->last = record->field;
        indent(tree);
        text_style_begin(out, style_of(record));
        text_buffer_add(out, record->generated ? "[" : "");
        text_buffer_add(out, ue_field_row(record->field)->label);
        text_buffer_add(out, ": ");
        begin_run(tree, record);
    }
    tree->values_end = out->length;
    end_line(tree, record);
}

static void begin_bunch(struct print_tree *tree) {
    tree->name.length = 0;
    tree->data_bits = 0;
    tree->heading_at = tree->page.length;
    tree->indent++;
}

/* Inserts the heading before the fields that it summarises. */
static void end_bunch(struct print_tree *tree, const struct ue_bunch *b) {
    struct text_buffer *h = &tree->heading;
    h->length = 0;
    h->is_colored = tree->page.is_colored;
    text_style_begin(h, TEXT_STYLE_HEADING);
    text_buffer_add_format(h, "%*sBunch %zu: channel %" PRIu32, (int)(tree->indent - 1) * 2, "", tree->bunches++,
                           b->channel);
    text_buffer_add_bytes(h, tree->name.text, tree->name.length);
    if (tree->name.length == 0 && b->has_name && !b->name.hardcoded) {
        text_buffer_add_char(h, ' ');
        text_escape_add_engine_name(h, &b->name, TEXT_ESCAPE_PLAIN);
    }
    text_buffer_add(h, b->open ? ", open" : "");
    text_buffer_add(h, b->close ? ", close" : "");
    text_buffer_add(h, b->partial ? ", partial" : "");
    if (b->reliable) {
        text_buffer_add_format(h, ", reliable #%" PRIu32, b->ch_seq);
    }
    text_buffer_add_format(h, ", %" PRIu64 " bits", tree->data_bits);
    text_style_end(h, TEXT_STYLE_HEADING);
    text_buffer_add_char(h, '\n');
    struct text_buffer *page = &tree->page;
    text_buffer_room(page, h->length);
    char *at = page->text + tree->heading_at;
    memmove(at + h->length, at, page->length - tree->heading_at);
    memcpy(at, h->text, h->length);
    page->length += h->length;
    tree->indent--;
}

static void on_begin(void *user, enum ue_group group, size_t bit) {
    struct print_tree *tree = user;
    (void)bit;
    switch (group) {
    case UE_GROUP_HANDSHAKE: heading(tree, "Handshake"); break;
    case UE_GROUP_PACKET: heading(tree, "Packet"); break;
    case UE_GROUP_ACK: heading(tree, "Acknowledgement"); break;
    case UE_GROUP_BUNCH: begin_bunch(tree); break;
    case UE_GROUP_MESSAGE:
        tree->indent++;
        heading(tree, "Control message");
        break;
    case UE_GROUP_UNIQUE_ID: heading(tree, "Unique id"); break;
    case UE_GROUP_OPENED: heading(tree, "Decrypted content"); break;
    case UE_GROUP_EXPORTS: heading(tree, "Exports"); break;
    case UE_GROUP_EXPORT: heading(tree, "Object"); break;
    case UE_GROUP_FIELD_EXPORT: heading(tree, "Field export"); break;
    case UE_GROUP_MAPPED: heading(tree, "Must be mapped"); break;
    case UE_GROUP_ACTOR: heading(tree, "Actor"); break;
    case UE_GROUP_BLOCK: heading(tree, "Content block"); break;
    case UE_GROUP_PROPERTY: heading(tree, "Property"); break;
    case UE_GROUP_FIELD: heading(tree, "Field"); break;
    case UE_GROUP_VOICE: heading(tree, "Voice packet"); break;
    }
}

static void on_end(void *user, enum ue_group group, size_t bit, const void *structure) {
    struct print_tree *tree = user;
    (void)bit;
    if (group == UE_GROUP_BUNCH) {
        end_bunch(tree, structure);
    } else {
        tree->indent -= group == UE_GROUP_MESSAGE ? 2 : 1;
    }
}

/* Inside the bunch that completes it. */
static void on_message(void *user, const struct print_message *message) {
    struct print_tree *tree = user;
    struct text_buffer *out = &tree->page;
    uint64_t last = 0;
    tree->indent++;
    indent(tree);
    text_style_begin(out, TEXT_STYLE_HEADING);
    text_buffer_add(out, "Content");
    for (uint32_t i = 0; i < message->fragment_count; i++) {
        if (message->fragments[i].frame != last) {
            last = message->fragments[i].frame;
            text_buffer_add(out, i == 0 ? ", reassembled from frames " : ", ");
            text_buffer_add_unsigned(out, last);
        }
    }
    text_style_end(out, TEXT_STYLE_HEADING);
    text_buffer_add_char(out, '\n');
    tree->indent++;
    tree->last = UE_F_NONE;
}

static void on_message_end(void *user, const struct ue_fault *fault) {
    struct print_tree *tree = user;
    if (fault->status != UE_OK) {
        indent(tree);
        text_style_add(&tree->page, TEXT_STYLE_WARNING, "Not decoded further");
        text_buffer_add_format(&tree->page, ": %s at bit %zu: %s\n", ue_field_row(fault->field)->name, fault->bit,
                               ue_status_text(fault->status));
    }
    tree->indent -= 2;
    tree->last = UE_F_NONE;
}

/* ---- the block ---- */

static void put_headline(struct print_tree *tree, const struct print_datagram *datagram) {
    if (!tree->started) {
        tree->started = true;
        tree->first_time_ns = datagram->time_ns;
    }
    struct text_buffer *out = &tree->page;
    double seconds = (double)(datagram->time_ns - tree->first_time_ns) / 1e9;
    text_style_begin(out, TEXT_STYLE_TITLE);
    text_buffer_add_format(out, "Frame %llu, %.6f s, %s > %s, %zu byte%s, stream %lu",
                           (unsigned long long)datagram->frame, seconds, datagram->source, datagram->destination,
                           datagram->length_bytes, datagram->length_bytes == 1 ? "" : "s",
                           (unsigned long)datagram->stream);
    if (datagram->context != NULL) {
        char releases[UE_RANGE_CHARS];
        text_buffer_add_format(out, ", %s, generation %s",
                               ue_values_name(UE_VALUES_DIRECTION, datagram->context->direction),
                               datagram->profiles != 0 ? ue_profile_range(datagram->profiles, releases)
                                                       : ue_profile_releases(&datagram->context->profile, releases));
    }
    text_style_end(out, TEXT_STYLE_TITLE);
    text_buffer_add_char(out, '\n');
}

static void put_fault(struct print_tree *tree, const struct print_datagram *datagram) {
    if (print_datagram_is_cut(datagram)) {
        text_style_add(&tree->page, TEXT_STYLE_WARNING, "  Size limited");
        text_buffer_add_format(&tree->page, ": only %zu of %zu bytes were captured\n", datagram->captured_bytes,
                               datagram->length_bytes);
    } else if (datagram->fault.status != UE_OK) {
        text_style_add(&tree->page, TEXT_STYLE_ERROR, "  Malformed");
        text_buffer_add_format(&tree->page, ": %s at bit %zu: %s\n", ue_field_row(datagram->fault.field)->name,
                               datagram->fault.bit, ue_status_text(datagram->fault.status));
    } else if (!datagram->canonical) {
        text_style_add(&tree->page, TEXT_STYLE_WARNING, "  Not canonical");
        text_buffer_add(&tree->page, ": no engine encodes these fields in this form\n");
    }
}

void print_tree_datagram(struct print_tree *tree, const struct print_datagram *datagram) {
    const struct print_sink sink = {{on_begin, on_field, on_end, tree}, on_message, on_message_end};
    struct ue_decode_result result;
    put_headline(tree, datagram);
    tree->indent = 1;
    tree->bunches = 0;
    tree->last = UE_F_NONE;
    if (datagram->context == NULL) {
        text_buffer_add(&tree->page, "  Data: ");
        put_bytes(&tree->page, (struct ue_view){datagram->bytes, 0, datagram->captured_bytes * 8});
        text_buffer_add_char(&tree->page, '\n');
    } else {
        print_datagram_trace(datagram, &sink, &result);
        put_fault(tree, datagram);
    }
    text_buffer_add_char(&tree->page, '\n');
}

void print_tree_free(struct print_tree *tree) {
    text_buffer_free(&tree->page);
    text_buffer_free(&tree->heading);
    text_buffer_free(&tree->name);
}
