/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/taps/connection_tables.h"

void uerudp_connection_tables_register(stat_tap_table_ui *ui) {
    static tap_param params[] = {{PARAM_FILTER, "filter", "Filter", NULL, true}};
    ui->group = REGISTER_PACKET_STAT_GROUP_UNSORTED;
    ui->nparams = G_N_ELEMENTS(params);
    ui->params = params;
    register_stat_tap_table_ui(ui);
}

void uerudp_connection_tables_init(struct uerudp_connection_tables *tables, stat_tap_table_ui *ui) {
    if (ui->tables == NULL) {
        ui->tables = g_array_new(false, true, sizeof(stat_tap_table *));
        tables->rows = g_hash_table_new_full(tables->hash, tables->equal, NULL, g_free);
        tables->retired = g_ptr_array_new_with_free_func(g_free);
    }
    if (ui->tables->len == 0) { /* no other window is open */
        g_hash_table_remove_all(tables->rows);
        g_ptr_array_set_size(tables->retired, 0);
    }
}

stat_tap_table *uerudp_connection_tables_require(stat_tap_table_ui *ui, uint32_t stream) {
    char title[32];
    snprintf(title, sizeof title, "Connection %u", stream);
    stat_tap_table *table = stat_tap_find_table(ui, title);
    if (table == NULL) {
        table = stat_tap_init_table(g_intern_string(title), (int)ui->nfields, 0, NULL);
        stat_tap_add_table(ui, table);
    }
    return table;
}

unsigned uerudp_connection_tables_add_row(const stat_tap_table_ui *ui, stat_tap_table *table) {
    stat_tap_table_item_type items[UERUDP_CONNECTION_TABLES_COLUMNS_MAX] = {{.type = TABLE_ITEM_NONE}};
    unsigned number = table->num_elements;
    for (unsigned i = 0; i < ui->nfields; i++) {
        items[i].type = ui->fields[i].type;
    }
    stat_tap_init_table_row(table, number, (unsigned)ui->nfields, items);
    return number;
}

void uerudp_connection_tables_reset(struct uerudp_connection_tables *tables, stat_tap_table *table) {
    for (unsigned i = 0; i < table->num_elements; i++) {
        g_ptr_array_add(tables->retired, table->elements[i]);
    }
    table->num_elements = 0;
    g_hash_table_remove_all(tables->rows);
}
