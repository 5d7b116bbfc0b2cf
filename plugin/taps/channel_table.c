/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of channels: for each connection, a row for each actor of a channel with its bunches, payload and
   retransmissions. */
#include "plugin/compat.h"

#include <wsutil/utf8_entities.h>

#include "plugin/taps/connection_tables.h"
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
_Static_assert(COLUMN_COUNT <= UERUDP_CONNECTION_TABLES_COLUMNS_MAX, "a row has all columns");

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
    unsigned number;             /* in the table */
    uint64_t bits[COLUMN_COUNT]; /* of the columns in bytes */
};

static unsigned hash_row(const void *key) {
    const struct channel_row *row = key;
    return row->stream * 31 + row->channel * 7 + GPOINTER_TO_UINT(row->subject);
}

static int equal_rows(const void *one, const void *other) {
    const struct channel_row *a = one;
    const struct channel_row *b = other;
    return a->stream == b->stream && a->channel == b->channel && a->subject == b->subject;
}

static struct uerudp_connection_tables tables = {.hash = hash_row, .equal = equal_rows};

static struct channel_row *require_row(stat_tap_table_ui *ui, uint32_t stream, uint32_t channel, const char *subject) {
    const struct channel_row key = {.stream = stream, .channel = channel, .subject = g_intern_string(subject)};
    struct channel_row *row = g_hash_table_lookup(tables.rows, &key);
    if (row == NULL) {
        row = g_new(struct channel_row, 1);
        *row = key;
        row->table = uerudp_connection_tables_require(ui, stream);
        row->number = uerudp_connection_tables_add_row(ui, row->table);
        stat_tap_get_field_data(row->table, row->number, COLUMN_CHANNEL)->value.uint_value = channel;
        stat_tap_get_field_data(row->table, row->number, COLUMN_SUBJECT)->value.string_value = row->subject;
        g_hash_table_add(tables.rows, row);
    }
    return row;
}

static void add_count(const struct channel_row *row, enum channel_column column) {
    stat_tap_get_field_data(row->table, row->number, column)->value.uint_value++;
}

static void add_bits(struct channel_row *row, enum channel_column column, uint32_t bits) {
    row->bits[column] += bits;
    uint64_t bytes = (row->bits[column] + BITS_PER_BYTE - 1) / BITS_PER_BYTE;
    stat_tap_get_field_data(row->table, row->number, column)->value.uint_value = (unsigned)MIN(bytes, UINT32_MAX);
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

static void init(stat_tap_table_ui *ui) {
    uerudp_connection_tables_init(&tables, ui);
}

static void reset(stat_tap_table *table) {
    uerudp_connection_tables_reset(&tables, table);
}

void uerudp_channel_table_register(void) {
    static stat_tap_table_ui ui = {
        .title = "Unreal Engine Channels",
        .tap_name = UERUDP_TAP_NAME,
        .cli_string = "uerudp,channels",
        .stat_tap_init_cb = init,
        .packet_func = count_channels,
        .stat_tap_reset_table_cb = reset,
        .nfields = COLUMN_COUNT,
        .fields = columns,
    };
    uerudp_connection_tables_register(&ui);
}
