/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of channels: for each connection, a row for each actor of a channel with its bunches, payload and
   retransmissions. */
#include "plugin/compat.h"

#include <epan/stat_tap_ui.h>
#include <wsutil/utf8_entities.h>

#include "plugin/taps/listeners.h"
#include "plugin/taps/tap.h"

#define BITS_PER_BYTE 8

enum channel_column {
    COLUMN_CHANNEL,
    COLUMN_SUBJECT,
    COLUMN_BUNCHES_OF_CLIENT,
    COLUMN_BYTES_OF_CLIENT,
    COLUMN_BUNCHES_OF_SERVER,
    COLUMN_BYTES_OF_SERVER,
    COLUMN_RETRANSMITTED,
    COLUMN_RETRANSMITTED_BYTES,
    COLUMN_COUNT
};

static stat_tap_table_item columns[COLUMN_COUNT] = {
    [COLUMN_CHANNEL] = {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Channel", "%7u"},
    [COLUMN_SUBJECT] = {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Class or kind", "%-13s"},
    [COLUMN_BUNCHES_OF_CLIENT] = {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Bunches C" UTF8_RIGHTWARDS_ARROW "S", "%11u"},
    [COLUMN_BYTES_OF_CLIENT] = {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Bytes C" UTF8_RIGHTWARDS_ARROW "S", "%11u"},
    [COLUMN_BUNCHES_OF_SERVER] = {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Bunches S" UTF8_RIGHTWARDS_ARROW "C", "%11u"},
    [COLUMN_BYTES_OF_SERVER] = {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Bytes S" UTF8_RIGHTWARDS_ARROW "C", "%11u"},
    [COLUMN_RETRANSMITTED] = {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Retransmitted", "%13u"},
    [COLUMN_RETRANSMITTED_BYTES] = {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Retransmitted bytes", "%19u"},
};

/* A row, found by stream, channel and subject. Both copies of a name have one address, see g_intern_string. */
struct channel_row {
    uint32_t stream, channel;
    const char *subject;
    stat_tap_table *table;
    unsigned index;
    uint64_t bits[COLUMN_COUNT]; /* of the columns in bytes */
};

static GHashTable *rows;
static GPtrArray *retired; /* values of rows before a reset: a window that is open may still draw them */

static unsigned hash_row(const void *key) {
    const struct channel_row *row = key;
    return row->stream * 31 + row->channel * 7 + GPOINTER_TO_UINT(row->subject);
}

static int equal_rows(const void *one, const void *other) {
    const struct channel_row *a = one;
    const struct channel_row *b = other;
    return a->stream == b->stream && a->channel == b->channel && a->subject == b->subject;
}

/* Called when a window opens. Wireshark resets and draws the tables before the first packet. */
static void init(stat_tap_table_ui *ui) {
    if (ui->tables == NULL) {
        ui->tables = g_array_new(false, true, sizeof(stat_tap_table *));
        rows = g_hash_table_new_full(hash_row, equal_rows, NULL, g_free);
        retired = g_ptr_array_new_with_free_func(g_free);
    }
    if (ui->tables->len == 0) { /* no other window is open */
        g_hash_table_remove_all(rows);
        g_ptr_array_set_size(retired, 0);
    }
}

/* A table for each connection. */
static stat_tap_table *require_table(stat_tap_table_ui *ui, uint32_t stream) {
    char title[32];
    snprintf(title, sizeof title, "Connection %u", stream);
    stat_tap_table *table = stat_tap_find_table(ui, title);
    if (table == NULL) {
        table = stat_tap_init_table(g_intern_string(title), COLUMN_COUNT, 0, NULL);
        stat_tap_add_table(ui, table);
    }
    return table;
}

static void init_row(const struct channel_row *row) {
    stat_tap_table_item_type items[COLUMN_COUNT] = {{.type = TABLE_ITEM_NONE}};
    for (unsigned i = 0; i < COLUMN_COUNT; i++) {
        items[i].type = columns[i].type;
    }
    items[COLUMN_CHANNEL].value.uint_value = row->channel;
    items[COLUMN_SUBJECT].value.string_value = row->subject;
    stat_tap_init_table_row(row->table, row->index, COLUMN_COUNT, items);
}

static struct channel_row *require_row(stat_tap_table_ui *ui, uint32_t stream, uint32_t channel, const char *subject) {
    const struct channel_row key = {.stream = stream, .channel = channel, .subject = g_intern_string(subject)};
    struct channel_row *row = g_hash_table_lookup(rows, &key);
    if (row == NULL) {
        row = g_new(struct channel_row, 1);
        *row = key;
        row->table = require_table(ui, stream);
        row->index = row->table->num_elements;
        init_row(row);
        g_hash_table_add(rows, row);
    }
    return row;
}

static void add_count(const struct channel_row *row, enum channel_column column) {
    stat_tap_get_field_data(row->table, row->index, column)->value.uint_value++;
}

static void add_bits(struct channel_row *row, enum channel_column column, uint32_t bits) {
    row->bits[column] += bits;
    uint64_t bytes = (row->bits[column] + BITS_PER_BYTE - 1) / BITS_PER_BYTE;
    stat_tap_get_field_data(row->table, row->index, column)->value.uint_value = (unsigned)MIN(bytes, UINT32_MAX);
}

static void count_bunch(struct channel_row *row, const struct uerudp_tap_bunch *bunch, bool is_client) {
    add_count(row, is_client ? COLUMN_BUNCHES_OF_CLIENT : COLUMN_BUNCHES_OF_SERVER);
    add_bits(row, is_client ? COLUMN_BYTES_OF_CLIENT : COLUMN_BYTES_OF_SERVER, bunch->data_bits);
    if ((bunch->flags & UERUDP_ANALYSIS_RETRANSMISSION) != 0) {
        add_count(row, COLUMN_RETRANSMITTED);
        add_bits(row, COLUMN_RETRANSMITTED_BYTES, bunch->data_bits);
    }
}

static const char *subject_of(const struct uerudp_tap *tap, const struct uerudp_tap_bunch *bunch) {
    const char *name = tap->actor(tap, bunch).name;
    return name != NULL ? name : bunch->channel_name != NULL ? bunch->channel_name : "unknown";
}

/* Bunches of an unknown direction, before the detection is certain, are left out. */
static tap_packet_status count_channels(void *user, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *data,
                                        tap_flags_t flags _U_) {
    stat_tap_table_ui *ui = ((stat_data_t *)user)->stat_tap_data;
    const struct uerudp_tap *tap = data;
    if (tap->direction == UE_DIRECTION_UNKNOWN) {
        return TAP_PACKET_DONT_REDRAW;
    }
    uint32_t count;
    const struct uerudp_tap_bunch *bunches = tap->bunches(tap, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct channel_row *row = require_row(ui, tap->stream, bunches[i].channel, subject_of(tap, &bunches[i]));
        count_bunch(row, &bunches[i], tap->direction == UE_CLIENT_TO_SERVER);
    }
    return count != 0 ? TAP_PACKET_REDRAW : TAP_PACKET_DONT_REDRAW;
}

static void reset(stat_tap_table *table) {
    for (unsigned i = 0; i < table->num_elements; i++) {
        g_ptr_array_add(retired, table->elements[i]);
    }
    table->num_elements = 0;
    g_hash_table_remove_all(rows);
}

void uerudp_channel_table_register(void) {
    static tap_param params[] = {{PARAM_FILTER, "filter", "Filter", NULL, true}};
    static stat_tap_table_ui ui = {
        .group = REGISTER_PACKET_STAT_GROUP_UNSORTED,
        .title = "Unreal Engine Channels",
        .tap_name = UERUDP_TAP_NAME,
        .cli_string = "uerudp,channels",
        .stat_tap_init_cb = init,
        .packet_func = count_channels,
        .stat_tap_reset_table_cb = reset,
        .nfields = COLUMN_COUNT,
        .fields = columns,
        .nparams = G_N_ELEMENTS(params),
        .params = params,
    };
    register_stat_tap_table_ui(&ui);
}
