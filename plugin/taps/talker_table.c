/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of talkers: for each connection, a row for each sender of voice packets, with what `uerudp info` counts. */
#include "plugin/compat.h"

#include <uerudp/time_ns.h>
#include "plugin/taps/connection_tables.h"
#include "plugin/taps/listeners.h"
#include "plugin/taps/tap.h"
#include "plugin/tree/label_text.h"

/* Of a connection; further senders of a direction are one more row, which counts them as one talker. */
#define ROWS_MAX 256u
#define OTHERS "(others as one)"

enum talker_column {
    COLUMN_SENDER,
    COLUMN_DIRECTION,
    COLUMN_PACKETS,
    COLUMN_BYTES,
    COLUMN_SPURTS,
    COLUMN_TALKED,
    COLUMN_COUNT
};
_Static_assert(COLUMN_COUNT <= UERUDP_CONNECTION_TABLES_COLUMNS_MAX, "a row has all columns");

static stat_tap_table_item columns[COLUMN_COUNT] = {
    [COLUMN_SENDER] = {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Talker", "%-20s"},
    [COLUMN_DIRECTION] = {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Direction", "%-16s"},
    [COLUMN_PACKETS] = {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Packets", "%9u"},
    [COLUMN_BYTES] = {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Bytes", "%11u"},
    [COLUMN_SPURTS] = {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Spurts", "%6u"},
    [COLUMN_TALKED] = {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Talked (s)", "%10.3f"},
};

/* A row, found by stream, direction and sender. */
struct talker_row {
    uint32_t stream;
    uint8_t direction;
    struct ue_talker counts;
    stat_tap_table *table;
    unsigned number; /* in the table */
};

static unsigned hash_row(const void *key) {
    const struct talker_row *row = key;
    return row->stream * 31 + row->direction + g_str_hash(row->counts.sender);
}

static int equal_rows(const void *one, const void *other) {
    const struct talker_row *a = one;
    const struct talker_row *b = other;
    return a->stream == b->stream && a->direction == b->direction && strcmp(a->counts.sender, b->counts.sender) == 0;
}

static struct uerudp_connection_tables tables = {.hash = hash_row, .equal = equal_rows};

/* ---- rows ---- */

static void set_uint(const struct talker_row *row, enum talker_column column, uint64_t value) {
    stat_tap_get_field_data(row->table, row->number, column)->value.uint_value = (unsigned)MIN(value, UINT32_MAX);
}

static void set_string(const struct talker_row *row, enum talker_column column, const char *value) {
    stat_tap_get_field_data(row->table, row->number, column)->value.string_value = g_intern_string(value);
}

/* The text of a sender is from the wire. */
static void set_sender(const struct talker_row *row) {
    char shown[UE_TALKER_NAME_BYTES];
    g_strlcpy(shown, row->counts.sender, sizeof shown);
    set_string(row, COLUMN_SENDER, uerudp_label_text_mask_controls(shown));
}

static struct talker_row *add_row(stat_tap_table_ui *ui, stat_tap_table *table, const struct talker_row *key) {
    struct talker_row *row = g_new(struct talker_row, 1);
    *row = *key;
    row->table = table;
    row->number = uerudp_connection_tables_add_row(ui, table);
    set_sender(row);
    set_string(row, COLUMN_DIRECTION, ue_values_name(UE_VALUES_DIRECTION, row->direction));
    g_hash_table_add(tables.rows, row);
    return row;
}

static struct talker_row *require_row(stat_tap_table_ui *ui, const struct uerudp_tap_message *message,
                                      const struct ue_voice *voice) {
    struct talker_row key = {.stream = message->stream, .direction = message->direction};
    ue_talker_name(voice, key.counts.sender);
    struct talker_row *row = g_hash_table_lookup(tables.rows, &key);
    if (row != NULL) {
        return row;
    }
    stat_tap_table *table = uerudp_connection_tables_require(ui, message->stream);
    if (table->num_elements < ROWS_MAX) {
        return add_row(ui, table, &key);
    }
    g_strlcpy(key.counts.sender, OTHERS, sizeof key.counts.sender);
    row = g_hash_table_lookup(tables.rows, &key);
    return row != NULL ? row : add_row(ui, table, &key);
}

/* ---- counting ---- */

/* One message. */
struct talker_counting {
    stat_tap_table_ui *ui;
    const struct uerudp_tap_message *message;
    int64_t time_ns;
    bool has_voice;
};

static void count_voice(void *user, const struct ue_voice *voice) {
    struct talker_counting *counting = user;
    struct talker_row *row = require_row(counting->ui, counting->message, voice);
    ue_talker_add(&row->counts, voice, counting->time_ns);
    set_uint(row, COLUMN_PACKETS, row->counts.packets);
    set_uint(row, COLUMN_BYTES, row->counts.bytes);
    set_uint(row, COLUMN_SPURTS, row->counts.spurts);
    stat_tap_get_field_data(row->table, row->number, COLUMN_TALKED)->value.float_value =
        (double)row->counts.talked_ns / (double)UE_NS_PER_S;
    counting->has_voice = true;
}

static tap_packet_status count_talkers(void *user, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
                                       tap_flags_t flags _U_) {
    const struct uerudp_tap_message *message = data;
    struct talker_counting counting = {.ui = ((stat_data_t *)user)->stat_tap_data,
                                       .message = message,
                                       .time_ns = ue_time_ns_from(pinfo->abs_ts.secs, pinfo->abs_ts.nsecs)};
    message->voice(message, count_voice, &counting);
    return counting.has_voice ? TAP_PACKET_REDRAW : TAP_PACKET_DONT_REDRAW;
}

static void init(stat_tap_table_ui *ui) {
    uerudp_connection_tables_init(&tables, ui);
}

static void reset(stat_tap_table *table) {
    uerudp_connection_tables_reset(&tables, table);
}

void uerudp_talker_table_register(void) {
    static stat_tap_table_ui ui = {
        .title = "Unreal Engine Talkers",
        .tap_name = UERUDP_TAP_MESSAGE_NAME,
        .cli_string = "uerudp,talkers",
        .stat_tap_init_cb = init,
        .packet_func = count_talkers,
        .stat_tap_reset_table_cb = reset,
        .nfields = COLUMN_COUNT,
        .fields = columns,
    };
    uerudp_connection_tables_register(&ui);
}
